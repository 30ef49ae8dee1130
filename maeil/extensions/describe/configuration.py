"""What a topology chooses of offers and needs, and the component that builds the extension."""

from __future__ import annotations

from typing import Literal

from maeil.component import Component
from maeil.extension import ExtensionConfig, ExtensionContext
from maeil.extensions.describe.describing import Describing
from maeil.extensions.describe.matchers import MATCHERS

MatcherName = Literal["typed", "lexical", "embedding"]


class DescribeConfig(ExtensionConfig):
    """Values that a topology gives to `describe`."""

    matcher: MatcherName
    """What needs are compared with offers by."""


def build(config: DescribeConfig, _context: ExtensionContext) -> Describing:
    """Make the extension."""
    return Describing(MATCHERS[config.matcher]())


component = Component(DescribeConfig, build)

"""The calls of language models, as far as the loop knows of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Call:
    """One call of a language model, as the cognitive clock and the metrics need it.

    Attributes:
        completion_tokens: tokens written by the model: the cost of a thought in the clock's default unit.
        record: everything else that is known of the call, JSON-ready.
    """

    completion_tokens: int
    record: Mapping[str, Any]

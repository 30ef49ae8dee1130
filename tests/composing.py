"""Composes a configuration that is not yet checked, as a cell does."""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from typing import Any

from quorum.configuration.compose import Composer
from quorum.configuration.option_folders import ConfigDir
from quorum.configuration.overrides import parse


def compose(arguments: Sequence[str], config_dir: ConfigDir = ()) -> dict[str, Any]:
    """Compose and resolve the configuration of one cell, as a copy that may be changed."""
    return deepcopy(Composer(config_dir).compose(parse(arguments, single=True)))

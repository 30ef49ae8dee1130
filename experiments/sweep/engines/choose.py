"""The engine that a command names: `engine=local engine.workers=2`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from maeil.user_errors import UserError
from quorum.experiments.configuration.checked_values import component_values
from quorum.experiments.configuration.compose import Composer
from quorum.experiments.configuration.overrides import parse
from quorum.experiments.configuration.registry import engines
from quorum.experiments.sweep.engines.protocol import Engine

GROUP = engines.group
USUAL = "engine=local"


def split_words(words: Sequence[str]) -> tuple[list[str], list[str]]:
    """Part the words about the engine from the others."""
    about = [word for word in words if word.lstrip("+~").partition("=")[0].split(".")[0] == GROUP]
    return about, [word for word in words if word not in about]


def choose_engine(words: Sequence[str], config_dir: Path | None = None) -> Engine:
    """Build the engine of `engine=... engine.KEY=VALUE`; the local one where none is named.

    Raises:
        UserError: there is no such engine or key, a value is wrong, or a package is missing.
    """
    overrides = parse(words)
    for override in overrides:
        if override.is_sweep_override():
            raise UserError(f"{override.input_line}: a sweep is run by one engine, so it is no part of the grid")
    if not any(override.key_or_group == GROUP for override in overrides):
        overrides = [*parse([USUAL]), *overrides]
    values = Composer(config_dir).of_group(GROUP, overrides)
    config = component_values(engines, {GROUP: values})
    engine: Engine = engines.get(config.name).build(config, None)
    return engine

"""The minds of a configuration that names none: `naive` as soon as it names a model, prompts, or a topology that talks.

Without one of these, the default of `config.yaml` stays: rules that neither talk nor ask a model.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from quorum.configuration.overrides import parse
from quorum.configuration.registry import minds

if TYPE_CHECKING:
    from hydra.core.override_parser.types import Override

TALKING = f"{minds.group}=naive"
_OF_MODELS = ("llm", "prompts")
_SILENT = "individual"
"""The topology in which nobody talks."""


def names_agents(overrides: Iterable[Override]) -> bool:
    """Whether an override names the minds of the team, of a participant, or their values."""
    return any(_group(override) == minds.group for override in overrides)


def needing_talkers(overrides: Iterable[Override]) -> str:
    """Return the first override that has an effect only on minds that talk or ask a model; empty if there is none."""
    return next((override.input_line or "" for override in overrides if _needs(override)), "")


def notice_of(needing: str) -> str:
    """Return the line that says why these minds were chosen; empty for an empty argument."""
    return f"{TALKING}, because of {needing}; for other minds, add agents=NAME" if needing else ""


def implied_agents(arguments: Sequence[str]) -> str:
    """Return the notice for arguments without an experiment; empty if they name minds, or imply none.

    Raises:
        UserError: an argument cannot be parsed.
    """
    overrides = parse(arguments)
    return "" if names_agents(overrides) else notice_of(needing_talkers(overrides))


def completed(arguments: Sequence[str]) -> list[str]:
    """Return arguments without an experiment, with the minds that they imply.

    Raises:
        UserError: an argument cannot be parsed.
    """
    return [*arguments, TALKING] if implied_agents(arguments) else [*arguments]


def _needs(override: Override) -> bool:
    return _group(override) in _OF_MODELS or (override.key_or_group == "topology" and override.value() != _SILENT)


def _group(override: Override) -> str:
    return override.key_or_group.partition(".")[0]

"""Edits a recorded configuration: its minds, models and prompts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from quorum.configuration.catalogue import option_names
from quorum.configuration.hints import no_option, provider_hint
from quorum.configuration.leaves import leaves
from quorum.configuration.member_values import expand
from quorum.configuration.members import MEMBERS
from quorum.configuration.option_files import option_values
from quorum.configuration.option_folders import ConfigDir, option_folders
from quorum.configuration.overrides import parse
from quorum.configuration.secrets import refuse_environment
from quorum.configuration.templates import is_open, resolved
from quorum_base.user_errors import UserError, choices_hint

if TYPE_CHECKING:
    from hydra.core.override_parser.types import Override

EDITABLE = ("agents", "llm", "prompts", "topology", "budget", "limits")
"""Groups whose values may change in the middle of an episode."""
EDITABLE_KEYS = ("max_steps", "memory.messages", "clock.delivery", "clock.max_thoughts_per_step")
"""Further keys that may change, too."""
_REASONS = {
    "env": "the world stays the same",
    "n": "the team stays the same",
    "seed": "it selects the board and the random streams, which are already in use",
    "episode": "it selects the random streams, which are already in use",
    "draw": "it selects the random streams, which are already in use; --draws samples different continuations",
    "clock": "the cost of thoughts would be counted in two ways",
    "memory": "a team's memory is set when an episode begins",
    "max_repairs": "minds are built with it; for a mind, change agents.repairs",
    "extension": "extensions keep state from the start of the episode",
}
"""Reasons why other keys cannot change."""


def edited(plain: Mapping[str, Any], arguments: Sequence[str], config_dir: ConfigDir = ()) -> dict[str, Any]:
    """Return a recorded configuration with changed values, without validating it.

    Args:
        plain: resolved configuration of a run.
        arguments: `KEY=VALUE`; a group name chooses one of its options.
        config_dir: folders with more group options.

    Raises:
        UserError: an argument cannot be parsed, names an option or key that does not exist, or cannot change; or the
            configuration is not resolved.
    """
    overrides = parse(arguments, single=True)
    if any("${" in key or (isinstance(leaf, str) and "${" in leaf) for key, leaf in leaves(plain)):  # untrusted file
        raise UserError("its configuration contains '${', which a resolved configuration cannot contain")
    template = OmegaConf.create(dict(plain))
    folders = option_folders(config_dir)
    for override in sorted(overrides, key=lambda found: found.key_or_group.count(".")):  # names before their values
        _apply(template, override, folders)
    expand(template, folders)
    refuse_environment(OmegaConf.to_container(template, resolve=False))
    try:
        return resolved(template)
    except OmegaConfBaseException as error:
        reason = str(error).splitlines()[0]
        raise UserError(f"{error.full_key or 'configuration'}: {reason[0].lower()}{reason[1:]}") from error


def named_members(arguments: Sequence[str]) -> frozenset[str]:
    """Return the participants whose mind is chosen by name: `agents.members.agent_0=heuristic`.

    Raises:
        UserError: an argument cannot be parsed.
    """
    above = f"agents.{MEMBERS}."
    keys = (_key(argument) for argument in arguments)
    return frozenset(name for key in keys if key.startswith(above) and "." not in (name := key.removeprefix(above)))


@lru_cache(maxsize=1024)
def _key(argument: str) -> str:
    """Return the key of an argument; cached, as thousands of branches of a run name the same keys."""
    return parse([argument])[0].key_or_group


def _apply(template: DictConfig, override: Override, folders: tuple[Path, ...]) -> None:
    key, value = override.key_or_group, override.value()
    group = key.partition(".")[0]
    if group not in EDITABLE and key not in EDITABLE_KEYS:
        why = f": {_REASONS[group]}" if group in _REASONS else ""
        can = f"It can change: {', '.join((*EDITABLE, *EDITABLE_KEYS))}."
        raise UserError(
            f"{key}: a branch cannot change this in the middle of an episode{why}",
            "Set only max_steps; env takes its value." if key == "env.max_steps" else can,
        )
    if override.is_delete() or override.is_add() or override.is_force_add():
        raise UserError(f"{override.input_line}: a branch can only change values; write KEY=VALUE")
    if key == "max_steps":
        _set_limit(template, value)
    elif key == group and group in ("budget", "limits"):
        keys = ", ".join(f"{group}.{name}" for name in template[group])
        raise UserError(f"{key}: this is a group of values and has no options", f"Set one of its keys: {keys}.")
    elif key == group:
        if value not in option_names(group, folders):
            raise no_option(group, str(value), folders)
        template[group] = dict(option_values(group, str(value), folders))
    else:
        _check_key(template, key, value)
        above = key.rpartition(".")[0]
        if group == "agents" and isinstance(mind := OmegaConf.select(template, above), str):  # this adds a value to it
            OmegaConf.update(template, above, {"name": mind})
        OmegaConf.update(template, key, value, force_add=True)
    if group == "prompts" and "prompts" in template.agents:
        template.agents.prompts = "${prompts}"  # the minds' values repeat these


def _set_limit(template: DictConfig, value: Any) -> None:
    """Set the step limit and the values derived from it."""
    before = template.max_steps
    for part in (template, *(part for part in template.values() if isinstance(part, DictConfig))):
        if "max_steps" in part and part.max_steps == before:
            part.max_steps = value


def _check_key(template: DictConfig, key: str, value: Any) -> None:
    above, _, name = key.rpartition(".")
    siblings = OmegaConf.select(template, above)
    known = [str(found) for found in siblings] if isinstance(siblings, DictConfig) else []
    if name not in known and not is_open(key):
        hint = provider_hint(key, value) or choices_hint(name, f"Keys of {above}", known)
        raise UserError(f"{key}: there is no such key", hint)

"""From `KEY=VALUE` arguments to one plain configuration, by Hydra's Compose API.

Hydra keeps a global state, so composing happens under a lock, in the parent process only; workers get the plain result.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import hydra
import yaml
from hydra import initialize_config_dir
from hydra.core.global_hydra import GlobalHydra
from hydra.errors import HydraException, MissingConfigException
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import InterpolationResolutionError, MissingMandatoryValue, OmegaConfBaseException

from maeil.user_errors import UserError, choices_hint, nearest
from quorum.experiments.configuration.broken_yaml import broken_yaml, check_option
from quorum.experiments.configuration.catalogue import BUILTIN_GROUPS, CONFIGS, EXTENSION, SWEEP_GROUPS, options
from quorum.experiments.configuration.member_values import expand_members
from quorum.experiments.configuration.overrides import parse, single_values
from quorum.experiments.configuration.presets import expand_presets
from quorum.experiments.configuration.secrets import refuse_environment, refuse_secrets
from quorum.experiments.configuration.validation_errors import shown_value

if TYPE_CHECKING:
    from hydra.core.override_parser.types import Override

_LOCK = threading.Lock()
_OPEN_MAPS = (
    "agents.members", "agents.leader",
    "llm.agents", "llm.roles", "llm.deadlines", "llm.extra_body", "llm.extra_headers",
)  # fmt: skip
"""Maps whose keys the user names: there, an argument may add a key without Hydra's `+`."""
_REFUSALS = (HydraException, OmegaConfBaseException, OSError, ValueError, yaml.YAMLError)


def compose(arguments: Sequence[str], config_dir: Path | None = None) -> dict[str, Any]:
    """Compose and resolve the configuration of one cell. It is not validated yet.

    Args:
        arguments: `KEY=VALUE` in Hydra's override grammar, one value a key.
        config_dir: folder with more options of the groups, beside the project's own.

    Raises:
        UserError: an argument cannot be read, or names a group, an option or a key that does not exist.
    """
    overrides = parse(arguments)
    single_values(overrides)
    with session(config_dir) as composing:
        return composing.plain(overrides)


@contextmanager
def session(config_dir: Path | None = None) -> Iterator[Session]:
    """Set Hydra up for composing, once for as many configurations as are wanted.

    Raises:
        UserError: there is no such folder.
    """
    search_path = _search_path(config_dir)
    with _LOCK, _hydra():
        yield Session(config_dir, search_path)


class Session:
    """Composes configurations, one after the other. See `session`."""

    def __init__(self, config_dir: Path | None, search_path: list[str]) -> None:
        self._config_dir = config_dir
        self._search_path = search_path
        self.groups = frozenset(_groups())
        """The groups that can be chosen from."""

    def options(self, group: str) -> list[str]:
        """Return the options of a group, those of the user's folder among them."""
        return sorted({option.name for option in options(self._config_dir) if option.group == group})

    @staticmethod
    def is_open(key: str) -> bool:
        """Whether a key is a map whose keys the user names, or stands in one."""
        return f"{key}.".startswith(tuple(f"{name}." for name in _OPEN_MAPS))

    def template(self, overrides: Sequence[Override]) -> DictConfig:
        """Compose a configuration whose interpolations are still open.

        Raises:
            UserError: an override names a group, an option or a key that does not exist.
        """
        with self._explained(overrides):
            _check_groups(overrides)
            self._check_files(overrides)
            template = _composed("config", [*self._search_path, *map(_opened, overrides)])
        folders = (*([self._config_dir] if self._config_dir is not None else []), CONFIGS)
        expand_presets(template, folders)
        expand_members(template, folders)
        return template

    def plain(self, overrides: Sequence[Override]) -> dict[str, Any]:
        """Compose and resolve a configuration.

        Raises:
            UserError: an override names a group, an option or a key that does not exist, or a value is missing.
        """
        template = self.template(overrides)
        with self._explained(overrides):
            return resolved(template)

    def of_group(self, group: str, overrides: Sequence[Override]) -> dict[str, Any]:
        """Compose and resolve the values of one group that stands for itself, such as `engine`.

        Raises:
            UserError: there is no such option or key.
        """
        choices = [f"+{override.input_line}" for override in overrides if override.key_or_group == group]
        rest = [override for override in overrides if override.key_or_group != group]
        with self._explained(overrides):
            keys = list(_dotted(self._alone(choices)))
            for override in rest:
                if override.key_or_group not in keys:
                    raise UserError(
                        f"{override.key_or_group}: there is no such key", _key_hint(override.key_or_group, keys)
                    )
            values: dict[str, Any] = self._alone([*choices, *(override.input_line or "" for override in rest)])[group]
            return values

    def _check_files(self, overrides: Sequence[Override]) -> None:
        """Make sure that the files can be read which the user's folder has for the options that are chosen."""
        if self._config_dir is None:
            return
        for override in overrides:
            value = override.value()
            chosen = value if isinstance(value, list) else [value]
            for name in chosen if override.key_or_group in self.groups else ():
                file = self._config_dir / override.key_or_group / f"{name}.yaml"
                if file.is_file():
                    check_option(file)

    def _alone(self, arguments: Sequence[str]) -> dict[str, Any]:
        return resolved(_composed(None, [*self._search_path, *arguments]))

    @contextmanager
    def _explained(self, overrides: Sequence[Override]) -> Iterator[None]:
        try:
            yield
        except _REFUSALS as error:
            if (broken := broken_yaml(error)) is not None:
                raise broken from error
            raise _explain(error, overrides, self._search_path) from error


def _composed(name: str | None, arguments: list[str]) -> DictConfig:
    template = hydra.compose(name, overrides=arguments)
    refuse_environment(OmegaConf.to_container(template, resolve=False))
    return template


def resolved(template: DictConfig, *, partial: bool = False) -> dict[str, Any]:
    """Resolve a composed configuration into plain data.

    Args:
        template: the configuration.
        partial: whether values may be missing; they are then `???`.

    Raises:
        UserError: a value is a key.
    """
    plain = OmegaConf.to_container(template, resolve=True, throw_on_missing=not partial)
    refuse_secrets(plain)
    return {str(key): value for key, value in plain.items()} if isinstance(plain, dict) else {}


@contextmanager
def _hydra() -> Iterator[None]:
    # Hydra 1.4 has one set of defaults and deprecates the argument that 1.3 warns for when it is left out.
    legacy = hydra.__version__.startswith("1.3.")
    arguments: dict[str, Any] = {"version_base": None} if legacy else {}
    with initialize_config_dir(str(CONFIGS), **arguments):
        yield


def _opened(override: Override) -> str:
    argument = override.input_line or ""
    plain = not (override.is_add() or override.is_force_add() or override.is_delete())
    return f"++{argument}" if plain and Session.is_open(override.key_or_group) else argument


def _search_path(config_dir: Path | None) -> list[str]:
    if config_dir is None:
        return []
    if not config_dir.is_dir():
        raise UserError(f"--config-dir {config_dir}: no such folder")
    # Hydra's grammar: a backslash counts only before a quote, also the closing one.
    location = re.sub(r"(\\*)('|$)", lambda m: m[1] * 2 + ("\\'" if m[2] else ""), str(config_dir.resolve()))
    return [f"hydra.searchpath=['file://{location}']"]


def _explain(error: Exception, overrides: Sequence[Override], search_path: list[str]) -> UserError:
    """Say in our words what Hydra refused."""
    if isinstance(error, MissingConfigException) and error.missing_cfg_file:
        group, _, option = error.missing_cfg_file.partition("/")
        hint = choices_hint(option, f"Options of {group}", error.options or ())
        return UserError(f"{group}: there is no option {option!r}", hint)
    if isinstance(error, InterpolationResolutionError | MissingMandatoryValue):
        reason = str(error).splitlines()[0]
        hint = _meaning(error.full_key) if isinstance(error, MissingMandatoryValue) else ""
        return UserError(f"{error.full_key or 'configuration'}: {reason[0].lower()}{reason[1:]}", hint)
    for override in overrides:
        if override.is_delete() and str(error).startswith("Could not delete"):
            return UserError(f"~{override.key_or_group}: there is no such key with a value that could be left out")
    return _unknown_key(overrides, search_path) or UserError(_raw(error))


def _meaning(key: str | None) -> str:
    """Return what a key that has no value of its own stands for, and how it is given."""
    wanted = (knob for option in options() for knob in option.typed if knob.key == key and knob.value == "???")
    return next((f"Give {key}=VALUE: {knob.description}." for knob in wanted), "")


def _groups() -> list[str]:
    loader = GlobalHydra.instance().config_loader()
    return [group for group in loader.list_groups("") if group != "hydra"]


def _check_groups(overrides: Sequence[Override]) -> None:
    """Refuse what Hydra would take for a group and misread: a map, a list, null, a second choice."""
    groups = _groups()
    for override in overrides:
        group = override.key_or_group
        if group not in groups or override.is_delete():
            continue
        if group in SWEEP_GROUPS:
            raise UserError(f"{group}: this is said of a sweep, not of one cell", f"quorum sweep {group}=... takes it.")
        if group in BUILTIN_GROUPS and (override.is_add() or override.is_force_add()):
            raise UserError(f"+{group}: every experiment has this group already; write {group}=OPTION")
        values = override.value() if group == EXTENSION else None
        if isinstance(values, list) and all(isinstance(value, str) for value in values):
            continue
        if not isinstance(override.value(), str) or "/" in str(override.value()):
            options = GlobalHydra.instance().config_loader().get_group_options(group)
            hint = choices_hint("", f"Options of {group}", options)
            raise UserError(f"{group}: {shown_value(override.value())} is not the name of an option", hint)


def _unknown_key(overrides: Sequence[Override], search_path: list[str]) -> UserError | None:
    """Find the first key that the configuration does not have, by composing it without the values."""
    groups = _groups()
    choices = [o.input_line for o in overrides if o.key_or_group in groups and o.input_line]
    try:
        # A key without a value, such as the name of a model, hides no other key.
        template = hydra.compose("config", overrides=[*search_path, *choices])
        keys = list(_dotted(resolved(template, partial=True)))
    except _REFUSALS:
        return None
    for override in overrides:
        key = override.key_or_group
        if key not in keys and key not in groups and not override.is_add() and not override.is_force_add():
            return UserError(f"{key}: there is no such key", _key_hint(key, keys))
    return None


def _key_hint(key: str, keys: Sequence[str]) -> str:
    """Return the nearest keys, and those that stand beside the wrong one."""
    parent = key.rpartition(".")[0]
    while parent and parent not in keys:
        parent = parent.rpartition(".")[0]
    prefix = f"{parent}." if parent else ""
    siblings = [k for k in keys if k.startswith(prefix) and "." not in k[len(prefix) :]]
    if not siblings:
        return f"{parent} is a single value."
    label = f"Keys of {parent}" if parent else "Keys"
    names = [k[len(prefix) :] for k in siblings]
    near = nearest(key.removeprefix(prefix), names) if parent else nearest(key, keys)
    return f"{near} {label}: {', '.join(names)}.".lstrip()


def _dotted(configuration: dict[str, Any], prefix: str = "") -> Iterator[str]:
    for key, value in configuration.items():
        yield f"{prefix}{key}"
        if isinstance(value, dict):
            yield from _dotted(value, f"{prefix}{key}.")


def _raw(error: Exception) -> str:
    """Return Hydra's own first line, and the reason that it keeps in the cause."""
    parts = [str(error).splitlines()[0]]
    if error.__cause__ is not None:
        parts.append(str(error.__cause__).splitlines()[0])
    return "configuration: " + ": ".join(parts)

"""Composes `KEY=VALUE` arguments into one plain configuration, with Hydra's Compose API."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import hydra
import yaml
from hydra import initialize_config_dir
from hydra.errors import HydraException, MissingConfigException
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import InterpolationResolutionError, MissingMandatoryValue, OmegaConfBaseException

from quorum.configuration.catalogue import (
    BUILTIN_GROUPS,
    EXTENSION,
    SWEEP_GROUPS,
    contents,
    group_names,
    option_names,
    options,
)
from quorum.configuration.checked_values import shown_value
from quorum.configuration.hints import no_option, provider_hint, usual_words
from quorum.configuration.leaves import dotted
from quorum.configuration.member_values import expand, is_mind
from quorum.configuration.option_files import broken_yaml, check_option
from quorum.configuration.option_folders import CONFIGS, SHIPPED, ConfigDir, option_folders
from quorum.configuration.overrides import HYDRA, parse
from quorum.configuration.registry import worlds
from quorum.configuration.secrets import refuse_environment
from quorum.configuration.templates import Template, is_open, lines, resolved, split, typed_values, with_value
from quorum_base.user_errors import UserError, choices_hint, nearest

if TYPE_CHECKING:
    from hydra.core.override_parser.types import Override

T = TypeVar("T")

_TEMPLATES: dict[tuple[object, ...], Template] = {}
"""Templates composed by this process, by the contents of the option files and what Hydra composed."""
_MOST_TEMPLATES = 256
_REFUSALS = (HydraException, OmegaConfBaseException, OSError, ValueError, yaml.YAMLError)


class Composer:
    """Composes configurations from the option files as they were when it was created.

    Hydra composes once for each distinct set of group choices, in 0.1 to 0.2 s. The process caches that template, keyed
    by the contents of all option files, and fills in values in milliseconds. A test checks that both ways agree:
    `tests/configuration/test_templates.py`.

    Args:
        config_dir: folders with more group options.

    Raises:
        UserError: there is no such folder.
    """

    def __init__(self, config_dir: ConfigDir = ()) -> None:
        self._folders = option_folders(config_dir)
        self._search_path = _search_path(self._folders)
        self._contents = contents(self._folders)
        self._refused: dict[object, UserError] = {}
        self.groups = group_names(self._folders)
        """The available groups."""

    def options(self, group: str) -> list[str]:
        """Return the options of a group, including those of other folders."""
        return option_names(group, self._folders)

    def compose(self, overrides: Sequence[Override]) -> dict[str, Any]:
        """Compose and resolve a configuration; the world sets shared keys that its values imply and the user does not.

        Results may share parts: do not modify them.

        Raises:
            UserError: an override names a group, an option or a key that does not exist, or a value is missing.
        """
        plain = self._filled(overrides)
        typed = {override.key_or_group for override in overrides}
        implied = {key: value for key, value in _implied(plain).items() if key not in typed and plain[key] != value}
        return self._filled([*overrides, *parse([f"{key}={n}" for key, n in implied.items()])]) if implied else plain

    def _filled(self, overrides: Sequence[Override]) -> dict[str, Any]:
        composed, assigned = split(overrides, self.groups)
        with HYDRA:
            template = self._kept(composed)
            filled_in = [o for o in assigned if o.key_or_group not in template.independent]
            try:
                plain = template.resolve(filled_in)
            except OmegaConfBaseException:
                return self._once((lines(composed), typed_values(filled_in)), lambda: self.by_hydra(overrides))
        for override in assigned:
            if override.key_or_group in template.independent:
                plain = with_value(plain, override.key_or_group.split("."), override.value())
        return plain

    def _kept(self, composed: Sequence[Override]) -> Template:
        """Return the template of what Hydra composes, from the cache if possible."""
        key = (self._contents, *self._search_path, lines(composed))
        if key not in _TEMPLATES:
            found = Template(self._once(key, lambda: self._template(composed)))
            if self._contents is None:
                return found
            if len(_TEMPLATES) >= _MOST_TEMPLATES:
                del _TEMPLATES[next(iter(_TEMPLATES))]
            _TEMPLATES[key] = found
        return _TEMPLATES[key]

    def by_hydra(self, overrides: Sequence[Override]) -> dict[str, Any]:
        """Do what `compose` does without a template; it also explains errors.

        Raises:
            UserError: see `compose`.
        """
        template = self._template(overrides)
        with self._explained(overrides):
            return resolved(template)

    def _template(self, overrides: Sequence[Override]) -> DictConfig:
        """Compose a configuration with unresolved interpolations."""
        with self._explained(overrides):
            self._check_groups(overrides)
            self._check_files(overrides)
            template = _composed("config", [*self._search_path, *_for_hydra(overrides)])
        expand(template, self._folders)
        return template

    def _once(self, reason: object, compose: Callable[[], T]) -> T:
        """Compose; cache the explanation of an error, which takes long, for other points with the same error."""
        if reason not in self._refused:
            try:
                return compose()
            except UserError as error:
                self._refused[reason] = error
        raise self._refused[reason].with_traceback(None)

    def of_group(self, group: str, overrides: Sequence[Override]) -> dict[str, Any]:
        """Compose and resolve the values of one standalone group, such as `engine`.

        Raises:
            UserError: there is no such option or key.
        """
        named = [override for override in overrides if override.key_or_group == group]
        for override in named:
            _refuse_sign(override, "sweep")
            self._check_option(override)
        choices = [*self._search_path, *(f"+{override.input_line}" for override in named)]
        rest = [override for override in overrides if override.key_or_group != group]
        with self._explained(overrides):
            plain = resolved(_composed(None, choices))
            keys = list(dotted(plain))
            for key in (override.key_or_group for override in rest):
                if key not in keys:
                    raise UserError(f"{key}: there is no such key", _key_hint(key, keys))
            found: dict[str, Any] = (resolved(_composed(None, [*choices, *lines(rest)])) if rest else plain)[group]
            return found

    def _check_files(self, overrides: Sequence[Override]) -> None:
        """Check that the files of chosen options in the user's folders can be read."""
        for override in overrides:
            value = override.value()
            chosen = value if isinstance(value, list) else [value]
            for name in chosen if override.key_or_group in self.groups else ():
                for folder in self._folders:
                    file = folder / override.key_or_group / f"{name}.yaml"
                    if folder not in SHIPPED and file.is_file():
                        check_option(file)

    @contextmanager
    def _explained(self, overrides: Sequence[Override]) -> Iterator[None]:
        try:
            yield
        except _REFUSALS as error:
            if (broken := broken_yaml(error)) is not None:
                raise broken from error
            raise self._explain(error, overrides) from error

    def _check_groups(self, overrides: Sequence[Override]) -> None:
        """Reject values that Hydra would misread as a group choice: a map, a list, null, a second choice."""
        for override in overrides:
            group = override.key_or_group
            if group not in self.groups or override.is_delete():
                continue
            if group in SWEEP_GROUPS:
                hint = f"Use it in a sweep: quorum sweep {group}=..."
                raise UserError(f"{group}: this belongs to a sweep, not to a single cell", hint)
            if group in BUILTIN_GROUPS:
                _refuse_sign(override, "experiment")
            values = override.value() if group == EXTENSION else None
            if not (isinstance(values, list) and all(isinstance(value, str) for value in values)):
                self._check_option(override)

    def _check_option(self, override: Override) -> None:
        """Reject values that are not option names."""
        group, value = override.key_or_group, override.value()
        if not isinstance(value, str) or "/" in value:
            hint = choices_hint("", f"Options of {group}", self.options(group))
            if isinstance(value, str | int) and (words := usual_words(group, str(value))):
                hint = f"Write {words}. {hint}"
            raise UserError(f"{group}: {shown_value(value)} is not the name of an option", hint)

    def _explain(self, error: Exception, overrides: Sequence[Override]) -> UserError:
        """Convert a Hydra error into a user error."""
        if isinstance(error, MissingConfigException) and error.missing_cfg_file:
            group, _, option = error.missing_cfg_file.partition("/")
            return no_option(group, option, self._folders)
        if isinstance(error, InterpolationResolutionError | MissingMandatoryValue):
            reason = str(error).splitlines()[0]
            for key in (override.key_or_group for override in overrides if override.is_delete()):
                if f"'{key}'" in reason:
                    return UserError(f"~{key}: {error.full_key} needs it", f"Set it instead: {key}=VALUE.")
            hint = _meaning(error.full_key) if isinstance(error, MissingMandatoryValue) else ""
            return UserError(f"{error.full_key or 'configuration'}: {reason[0].lower()}{reason[1:]}", hint)
        for override in overrides:
            if override.is_add() and str(error).startswith("Could not append"):
                key = override.key_or_group
                return UserError(f"+{key}: this key already exists", f"Leave out the +: {key}=VALUE.")
            if override.is_delete() and str(error).startswith("Could not delete"):
                return UserError(f"~{override.key_or_group}: there is no such key, or it has another value")
        return self._unknown_key(overrides) or UserError(_raw(error))

    def _unknown_key(self, overrides: Sequence[Override]) -> UserError | None:
        """Find the first key that the configuration lacks, by composing it without the values."""
        choices = [o.input_line for o in overrides if o.key_or_group in self.groups and o.input_line]
        try:
            # A key that needs a value, such as a model's name, hides no other key.
            keys = list(dotted(resolved(_composed("config", [*self._search_path, *choices]), partial=True)))
        except _REFUSALS:
            return None
        for override in overrides:
            key = override.key_or_group
            if key not in keys and key not in self.groups and not _adds(override):
                words = usual_words(key, (override.input_line or "").partition("=")[2])
                known = not words.startswith("llm.") or words.partition("=")[0] in keys
                provider = provider_hint(key if known else words.partition("=")[0], override.value())
                hints = (f"Write {words}." if words else "", provider)
                return UserError(f"{key}: there is no such key", " ".join(filter(None, hints)) or _key_hint(key, keys))
        return None


def _implied(plain: Mapping[str, Any]) -> Mapping[str, int]:
    """Return the shared keys that the values of the world imply; none if they name no world."""
    values = plain.get(worlds.group)
    if not isinstance(values, Mapping) or values.get("name") not in worlds.names():
        return {}
    found: Mapping[str, int] = worlds.get(values["name"]).config.implied(values)
    return found


def _refuse_sign(override: Override, what: str) -> None:
    """Refuse to add or delete a fixed group."""
    group = override.key_or_group
    sign = "~" if override.is_delete() else "+"
    if override.is_delete() or override.is_add() or override.is_force_add():
        raise UserError(f"{sign}{group}: every {what} has this group already; write {group}=OPTION")


def _composed(name: str | None, arguments: list[str]) -> DictConfig:
    with HYDRA, _hydra():
        template = hydra.compose(name, overrides=arguments)
    refuse_environment(OmegaConf.to_container(template, resolve=False))
    return template


@contextmanager
def _hydra() -> Iterator[None]:
    # Hydra 1.4 has one set of defaults and deprecates this argument; 1.3 warns if it is missing.
    legacy = hydra.__version__.startswith("1.3.")
    arguments: dict[str, Any] = {"version_base": None} if legacy else {}
    with initialize_config_dir(str(CONFIGS), **arguments):
        yield


def _for_hydra(overrides: Sequence[Override]) -> Iterator[str]:
    """Yield arguments for Hydra: a key to add needs a sign, and a mind's name becomes `name` if the mind has values."""
    keys = [override.key_or_group for override in overrides]
    for override in overrides:
        argument, key = override.input_line or "", override.key_or_group
        if is_mind(key) and isinstance(override.value(), str) and any(other.startswith(f"{key}.") for other in keys):
            argument = argument.replace(key, f"{key}.name", 1)
        yield f"++{argument}" if _adds(override) and not argument.startswith("+") else argument


def _adds(override: Override) -> bool:
    """Whether an override may add a key: by its sign, or in a map with user-defined keys."""
    signed = override.is_add() or override.is_force_add()
    return signed or (is_open(override.key_or_group) and not override.is_delete())


def _search_path(folders: Sequence[Path]) -> list[str]:
    places = [f"'file://{_quoted(str(folder.resolve()))}'" for folder in folders if folder != CONFIGS]
    return [f"hydra.searchpath=[{','.join(places)}]"] if places else []


def _quoted(text: str) -> str:
    """Quote a text for Hydra's grammar: a backslash escapes only before a single quote, including the closing one."""
    return re.sub(r"(\\*)('|$)", lambda m: m[1] * 2 + ("\\'" if m[2] else ""), text)


def _meaning(key: str | None) -> str:
    """Return what a key without a value means, and how to set it."""
    wanted = (knob for option in options() for knob in option.typed if knob.key == key and knob.value == "???")
    return next((f"Give {key}=VALUE: {knob.description}." for knob in wanted), "")


def _key_hint(key: str, keys: Sequence[str]) -> str:
    """Return the nearest keys, and the siblings of the wrong one."""
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


def _raw(error: Exception) -> str:
    """Return the first line of Hydra's message, and the reason in its cause."""
    parts = [str(error).splitlines()[0]]
    if error.__cause__ is not None:
        parts.append(str(error.__cause__).splitlines()[0])
    return "configuration: " + ": ".join(parts)

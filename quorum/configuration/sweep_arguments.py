"""Sweep-level arguments of a command: the engine of a sweep, and the tracker that logs its runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from quorum.configuration.checked_values import component_values
from quorum.configuration.compose import Composer
from quorum.configuration.option_folders import ConfigDir
from quorum.configuration.overrides import parse
from quorum_base.registry import Registry
from quorum_base.user_errors import UserError


def split_arguments(words: Sequence[str], *kinds: Registry[Any]) -> tuple[list[str], list[str]]:
    """Split sweep-level arguments, such as `engine.workers=2`, from those of cells.

    Args:
        words: arguments of a command.
        kinds: registries of sweep-level components: `engines`, `trackers`.
    """
    groups = {kind.group for kind in kinds}
    about = [word for word in words if word.lstrip("+~").partition("=")[0].split(".")[0] in groups]
    return about, [word for word in words if word not in about]


def build_sweep_component(
    kind: Registry[Any], words: Sequence[str], config_dir: ConfigDir = (), *, usual: str = ""
) -> Any:
    """Build the component that the arguments choose; None if they choose none and there is no default.

    Args:
        kind: `engines` or `trackers`.
        words: arguments of a command; those of other groups are ignored.
        config_dir: folders with more group options.
        usual: the default option; empty for none.

    Raises:
        UserError: there is no such option or key, a value is wrong, or a package is missing.
    """
    overrides = parse(split_arguments(words, kind)[0])
    for override in overrides:
        if override.is_sweep_override():
            raise UserError(f"{override.input_line}: a sweep has one {kind.kind}, so the grid cannot vary it")
    if usual and not any(override.key_or_group == kind.group for override in overrides):
        overrides = [*parse([f"{kind.group}={usual}"]), *overrides]
    if not overrides:
        return None
    config = component_values(kind, {kind.group: Composer(config_dir).of_group(kind.group, overrides)})
    return kind.get(config.name).build(config, None)

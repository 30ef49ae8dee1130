"""The output of `quorum list`. Nothing heavy is imported here: no Hydra, no component."""

from __future__ import annotations

import textwrap
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from itertools import groupby
from typing import Any

from quorum.configuration.catalogue import EXPERIMENT, Option, knobs, options
from quorum.configuration.option_folders import SHIPPED, ConfigDir, option_folders
from quorum.configuration.registry import ALL_REGISTRIES
from quorum_base.user_errors import UserError, choices_hint


def listing(group: str | None, config_dir: ConfigDir) -> dict[str, Any]:
    """Return the groups with their options, the top-level keys, and the components without a file, as JSON-ready data.

    Args:
        group: list only this group.
        config_dir: folders with more options.

    Raises:
        UserError: there is no such group.
    """
    found = _options(config_dir)
    groups = list(dict.fromkeys(option.group for option in found))
    if group is not None and group not in groups:
        raise UserError(f"list: there is no group {group!r}", choices_hint(group, "Groups", groups))
    return {
        "groups": {
            name: [_plain(option) for option in members]
            for name, members in groupby(found, key=lambda option: option.group)
            if group in (None, name)
        },
        "knobs": [asdict(knob) for knob in knobs()] if group is None else [],
        "components": {
            registry.group: list(registry.names()) for registry in ALL_REGISTRIES if group in (None, registry.group)
        },
    }


def _options(config_dir: ConfigDir) -> Sequence[Option]:
    for folder in option_folders(config_dir):
        if folder not in SHIPPED:
            from quorum.configuration.option_files import check_folder  # noqa: PLC0415 PyYAML: our own files are read without it

            check_folder(folder)
    return options(config_dir)


def _plain(option: Option) -> dict[str, Any]:
    return {
        "name": option.name,
        "description": option.description,
        "source": option.source,
        "component": option.component,
        "knobs": [asdict(knob) for knob in (option.knobs if option.group == EXPERIMENT else option.typed)],
    }


def as_text(data: dict[str, Any], width: int) -> str:
    """Format the listing: options in short, or with their keys if there is only one group.

    Keys that most options of the group have are described once, at the end; an option repeats one for its own value.

    Args:
        data: result of `listing`.
        width: width of the terminal, in characters.
    """
    single = len(data["groups"]) == 1 and not data["knobs"]
    lines = []
    for group, members in data["groups"].items():
        lines.append(f"{group}=")
        shared = _shared(members) if single and group != EXPERIMENT else {}
        for option in members:
            source = f" ({option['source']})" if option["source"] else ""
            lines += _row(f"  {option['name']}", f"{option['description']}{source}", 16, width)
            if single:
                lines += _lines_of(option, group, shared, width)
        lines += _unlisted(data["components"].get(group, ()), members, width)
        if shared:
            lines += ["", *textwrap.wrap(_sharing(members, shared), width), *_keys([*shared.values()], "    ", width)]
    if data["knobs"]:
        lines += ["knobs", *_keys(data["knobs"], "  ", width), "", "quorum list GROUP shows the keys of its options."]
    return "\n".join(lines)


def _shared(members: Sequence[dict[str, Any]]) -> dict[str, dict[str, str]]:
    """Return the keys that most options of a group have with the same description, with the most frequent value."""
    found: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    for option in members:
        for knob in option["knobs"]:
            found[knob["key"], knob["description"]].append(knob["value"])
    return {
        key: {"key": key, "value": Counter(values).most_common(1)[0][0], "description": description}
        for (key, description), values in found.items()
        if len(values) > max(2, len(members) / 2)
    }


def _sharing(members: Sequence[dict[str, Any]], shared: Mapping[str, dict[str, str]]) -> str:
    """Say which options have all shared keys, and which keys those have that have only some."""
    found: defaultdict[tuple[str, ...], list[str]] = defaultdict(list)
    for option in members:
        keys = {knob["key"] for knob in option["knobs"]}
        found[tuple(key for key in shared if key in keys)].append(option["name"])
    text = f"Keys of {', '.join(found.pop((*shared,), ['most options']))}, with their usual values"
    for has, names in found.items():
        lacks = [key for key in shared if key not in has]
        some = f"all but {', '.join(lacks)}" if len(lacks) < len(has) else f"only {', '.join(has)}"
        text += f"; of {', '.join(names)}, {some}" if has else ""
    return f"{text}:"


def _own(knobs: Iterable[dict[str, str]], shared: Mapping[str, dict[str, str]]) -> Iterator[dict[str, str]]:
    """Yield the keys that are not shared; of those that are, the ones with another value, without their description."""
    for knob in knobs:
        usual = shared.get(knob["key"], {})
        if knob["description"] != usual.get("description"):
            yield knob
        elif knob["value"] != usual["value"]:
            yield {**knob, "description": ""}


def _lines_of(option: dict[str, Any], group: str, shared: Mapping[str, dict[str, str]], width: int) -> Iterator[str]:
    """Format the own keys of an option as set on the command line; those of an experiment as written in its file."""
    if group != EXPERIMENT:
        yield from _keys([*_own(option["knobs"], shared)], "    ", width)
    for knob in option["knobs"] if group == EXPERIMENT else ():
        yield f"    {knob['key']}: {knob['value']}"


def _unlisted(components: Iterable[str], members: Iterable[dict[str, Any]], width: int) -> Iterator[str]:
    """List the components of packages and plugins that no option file chooses."""
    chosen = {option["component"] for option in members}
    for name in components:
        if name not in chosen:
            yield from _row(f"  {name}", "registered, but without an option file: add --config-dir DIR", 16, width)


def _keys(entries: Sequence[dict[str, str]], prefix: str, width: int) -> Iterator[str]:
    shown = [(f"{prefix}{knob['key']}={knob['value']}", knob["description"]) for knob in entries]
    column = max((len(left) for left, _ in shown), default=0) + 2
    for left, right in shown:
        yield from _row(left, right, column, width)


def _row(left: str, right: str, column: int, width: int) -> list[str]:
    indent = " " * column
    first = f"{left} ".ljust(column)
    return textwrap.wrap(right, max(width, column + 40), initial_indent=first, subsequent_indent=indent) or [left]

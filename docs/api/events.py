"""Writes the tables of docs/events.md from the classes of the events: `python docs/api/events.py`."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, get_args, get_origin, get_type_hints

from maeil.acting import Primitive
from maeil.trace import EVENTS, Event, Stamped
from quorum_base.registry import own

PAGE = Path(__file__).resolve().parents[1] / "events.md"
MARK = "<!-- From here on, docs/api/events.py writes this page. -->\n"
_WORDS = {"int | float": "number", "int": "integer", "float": "number", "str": "string", "bool": "boolean"}
_HEAD = "| field | type | unit | meaning |\n|---|---|---|---|"
_ENTRY = re.compile(r"(\w+)(?: \((.+?)\))?: (.+)")
_OWN = "Attributes"


def page(text: str) -> str:
    """Return the page with its tables written again."""
    modules = {point.load().__name__ for point in own("quorum.events").values()}
    every = sorted(EVENTS.values(), key=lambda event: event.__module__)
    loop = [event for event in every if event.__module__ == Event.__module__]
    others = [event for event in every if event.__module__ in modules]
    stamps = list(_fields(Stamped))
    stamps[-1] = "| `event` | string |  | name of the event |"
    parts = [(text.partition(MARK)[0] + MARK).rstrip(), "## Fields of every event", "\n".join([_HEAD, *stamps])]
    parts += ["## Events of the loop", *map(_section, loop), "## Events of extensions", *map(_section, others)]
    return "\n\n".join(parts) + "\n"


def _section(event: type[Event]) -> str:
    """Return the words and the tables of an event."""
    words, entries = _docstring(event)
    parts = [f"### `{event.kind}`", words, "\n".join([_HEAD, *_fields(event)])]
    for title in [title for title in entries if title != _OWN]:
        rows = []
        for name, given, meaning in entries[title]:
            kind, _, unit = given.partition("; ")
            optional = ", optional" if unit.startswith("optional") else ""
            rows.append(_row(name, kind + optional, re.sub("^optional(, )?", "", unit), meaning))
        parts += [f"{title}:", "\n".join([_HEAD, *rows])]
    return "\n\n".join(parts)


def _fields(event: type[Any]) -> Iterator[str]:
    """Yield a row for each field of a class, in the order of the file."""
    meanings = {name: meaning for name, _, meaning in _docstring(event)[1][_OWN]}
    hints = get_type_hints(event, include_extras=True)
    for name in inspect.signature(event).parameters:
        kind, unit = _type(hints[name]) if name != "event" else ("", "")
        left_out = getattr(event, "left_out", b"")
        if (own := f',"{name}":null'.encode()) in left_out:
            kind = f"{kind.removesuffix(' or null') if own == left_out else kind}, optional"
        yield _row(name, kind, unit, meanings[name])


def _row(*cells: str) -> str:
    name, *others = (cell.replace("|", "\\|") for cell in cells)
    return f"| `{name}` | {' | '.join(others)} |"


def _type(hint: Any) -> tuple[str, str]:
    """Return the JSON type of a field in words, and its unit."""
    if hint == Primitive:
        return "any", ""
    if get_origin(hint) is Annotated:
        inner, unit = get_args(hint)
        return _type(inner)[0], unit
    if isinstance(hint, UnionType) and set(get_args(hint)) != {int, float}:
        parts = [_type(part) for part in get_args(hint) if part is not NoneType]
        return f"{parts[0][0]} or null", parts[0][1]
    if get_args(hint) and (origin := get_origin(hint)) is not None and not isinstance(hint, UnionType):
        kind, unit = _type(get_args(hint)[0])
        return ("object", "") if origin.__name__ == "Mapping" else (f"list of {kind}", unit)
    text = "int | float" if isinstance(hint, UnionType) else "str" if issubclass(hint, str) else hint.__name__
    return _WORDS[text], ""


def _docstring(event: type[Any]) -> tuple[str, dict[str, list[tuple[str, str, str]]]]:
    """Return the words of a docstring, and its sections with the name, the type and the meaning of each entry."""
    words: list[str] = []
    sections: dict[str, list[tuple[str, str, str]]] = {}
    for block in inspect.cleandoc(event.__doc__ or "").split("\n\n"):
        title, _, body = block.partition(":\n")
        if not body.startswith("    "):
            words.append(block)
            continue
        lines = re.sub(r"\n {8}", " ", body).splitlines()
        sections[title] = [found.groups("") for line in lines if (found := _ENTRY.fullmatch(line.strip()))]  # type: ignore[misc]
        assert len(sections[title]) == len(lines), (event, title)
    return "\n\n".join(words), sections


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")

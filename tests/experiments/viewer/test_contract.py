"""The server and the scripts of the viewer mean the same by every field.

`python -m tests.experiments.viewer.test_contract` writes `contract.js` anew after a change of `contract.py`.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator, Mapping
from enum import StrEnum
from types import NoneType, UnionType
from typing import Annotated, Any, NotRequired, Union, get_args, get_origin, get_type_hints, is_typeddict

from maeil.drawing import Canvas, MarkKind
from quorum.experiments.viewer import contract
from tests.conftest import ROOT

STATIC = ROOT / "experiments" / "viewer" / "static"
FILE = STATIC / "contract.js"
TUPLES = {value: name for name, value in vars(contract).items() if get_origin(value) is tuple}
OBJECTS = [value for value in vars(contract).values() if is_typeddict(value)] + [Canvas, MarkKind]
NAMES = {int: "number", float: "number", bool: "boolean", str: "string", NoneType: "null", Any: "any"}
SHOWN_WHOLE = {contract.End}
"""Shown as JSON, whatever it holds."""


def js(kind: Any) -> str:
    """Write a type as JSDoc does."""
    origin, arguments = get_origin(kind), get_args(kind)
    if kind in NAMES:
        return NAMES[kind]
    if kind in TUPLES:
        return TUPLES[kind]
    if origin in (Annotated, NotRequired):
        return js(arguments[0])
    if origin in (Union, UnionType):
        return "|".join(dict.fromkeys(map(js, arguments)))
    if origin is Mapping:
        return f"Object<string, {js(arguments[1])}>"
    if isinstance(kind, type) and issubclass(kind, StrEnum):
        return "string"
    if origin is not None:  # a list, a sequence, a tuple of any length
        item = js(arguments[0])
        return f"({item})[]" if "|" in item else f"{item}[]"
    return str(kind.__name__)


def typedefs() -> Iterator[str]:
    """Write the types of the contract."""
    for kind, name in TUPLES.items():
        places = ", ".join(f"{place.__metadata__[0]}: {js(place)}" for place in get_args(kind))
        yield f"/** @typedef {{[{places}]}} {name} */\n"
    for kind in OBJECTS:
        yield f"/**\n * {(kind.__doc__ or '').splitlines()[0]}\n * @typedef {{object}} {kind.__name__}\n"
        for name, value in fields(kind).items():
            optional = get_origin(value) is NotRequired or not getattr(kind, "__total__", True)
            written = f"[{name}]" if optional else name
            yield f" * @property {{{js(value)}}} {written}\n"
        yield " */\n"


def fields(kind: Any) -> Mapping[str, Any]:
    found = get_type_hints(kind, include_extras=True)
    return (
        {field.name: found[field.name] for field in dataclasses.fields(kind)} if kind in (Canvas, MarkKind) else found
    )


def text() -> str:
    """Write the whole file."""
    head = "/* What the server sends; made of `contract.py`. Types only: no script loads it. */\n"
    return f"{head}{''.join(typedefs())}export {{}};\n"


def test_the_scripts_have_the_types_of_the_server() -> None:
    assert FILE.read_text(encoding="utf-8") == text(), __doc__


def test_every_field_is_read_by_a_script() -> None:
    sources = (file.read_text(encoding="utf-8") for file in STATIC.glob("*.js") if file != FILE)
    code = re.sub(r"/\*.*?\*/", "", "".join(sources), flags=re.DOTALL)
    words = set(re.findall(r"\w+", code))
    unread = {f"{kind.__name__}.{name}" for kind in OBJECTS if kind not in SHOWN_WHOLE for name in fields(kind)}
    assert {name for name in unread if name.rpartition(".")[2] not in words} == set()


if __name__ == "__main__":
    FILE.write_text(text(), encoding="utf-8")

"""What the server sends is what `static/contract.js` says, and the scripts read all of it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import orjson
import pytest

from quorum.view.viewer.episode import read_episode
from quorum.view.viewer.library import Library
from quorum.view.viewer.runs import sweep_table
from tests.conftest import ROOT
from tests.folders import write_plan
from tests.recorded import copied_run, recorded_run

STATIC = ROOT / "quorum" / "view" / "viewer" / "static"
FILE = STATIC / "contract.js"
COMMENT = re.compile(r"/\*\*.*?\*/", re.DOTALL)
SHOWN_WHOLE = {"End"}
"""Shown as JSON, whatever it holds."""
CUBE = ("n=3", "agents=naive", "topology=debate", "max_steps=60", "llm=simulated")


def declared() -> tuple[dict[str, list[str]], dict[str, dict[str, tuple[str, bool]]]]:
    """Read the tuples and the objects of the contract: types of places, and type and need of properties."""
    tuples, objects = {}, {}
    for comment in COMMENT.findall(FILE.read_text(encoding="utf-8")):
        if found := re.search(r"@typedef \{\[(.*)\]\} (\w+)", comment):
            tuples[found[2]] = [place.partition(": ")[2] for place in re.split(r", (?=\w+: )", found[1])]
        elif found := re.search(r"@typedef \{object\} (\w+)", comment):
            properties = re.findall(r"@property \{(.*?)\} (\[?)(\w+)", comment)
            objects[found[1]] = {name: (kind, not optional) for kind, optional, name in properties}
    return tuples, objects


TUPLES, OBJECTS = declared()
NAMED = {"number": (int, float), "boolean": (bool,), "string": (str,), "null": (type(None),), "any": (object,)}


def fits(value: Any, kind: str) -> bool:
    """Whether a value of JSON is of a type of JSDoc."""
    if len(alternatives := re.findall(r"(?:\(.*?\)|<.*?>|[^|])+", kind)) > 1:
        return any(fits(value, one) for one in alternatives)
    if kind.endswith("[]"):
        return isinstance(value, list) and all(fits(item, re.sub(r"^\((.*)\)$", r"\1", kind[:-2])) for item in value)
    if kind.startswith("Object<"):
        inside = kind.removeprefix("Object<string, ").removesuffix(">")
        return isinstance(value, dict) and all(fits(item, inside) for item in value.values())
    if kind in TUPLES:
        places = TUPLES[kind]
        return isinstance(value, list) and len(value) == len(places) and all(map(fits, value, places))
    if kind in OBJECTS:
        wanted = OBJECTS[kind]
        return isinstance(value, dict) and all(
            (name in value and fits(value[name], own)) or (name not in value and not needed)
            for name, (own, needed) in wanted.items()
        ) and value.keys() <= wanted.keys()  # fmt: skip
    return isinstance(value, NAMED[kind])


def sent(value: Any) -> Any:
    return orjson.loads(orjson.dumps(value, option=orjson.OPT_NON_STR_KEYS))


@pytest.mark.parametrize("words", [CUBE, ("n=2", "env=squeeze", "agents=heuristic", "max_steps=8")])
def test_a_run_is_sent_as_the_contract_says(words: tuple[str, ...]) -> None:
    episode = read_episode(recorded_run(*words))
    assert fits(sent(episode.overview), "Episode")
    for number in range(len(episode.pages)):
        assert fits(sent(orjson.loads(episode.pages.data(number))), "Page")
        assert fits(orjson.loads(episode.film.data(number)), "Film")
        assert fits(orjson.loads(episode.ways.data(number)), "Ways")
    assert all(fits(sent(episode.calls.call(number)), "Call") for number in range(len(episode.calls)))


def test_folders_are_sent_as_the_contract_says(tmp_path: Path) -> None:
    runs = [copied_run(tmp_path / "s", *CUBE), copied_run(tmp_path / "s", *CUBE[:-1], "llm=simulated_faults")]
    write_plan(tmp_path / "s", [(run.name, run.name, None) for run in runs])
    assert fits(sent(sweep_table(tmp_path / "s")), "SweepTable")
    assert fits(sent(Library.of(tmp_path / "s").progress(runs[0].name)), "Progress")
    assert fits(sent(Library.side_by_side(*runs).pair), "Pair")


def test_what_is_not_declared_does_not_fit() -> None:
    assert fits({"t": 1, "words": "x"}, "Proof")
    assert not fits({"t": 1}, "Proof")
    assert not fits({"t": 1, "words": "x", "more": 1}, "Proof")
    assert not fits({"t": None, "words": "x"}, "Proof")


def test_every_field_is_read_by_a_script() -> None:
    sources = (file.read_text(encoding="utf-8") for file in STATIC.glob("*.js") if file != FILE)
    words = set(re.findall(r"\w+", re.sub(r"/\*.*?\*/", "", "".join(sources), flags=re.DOTALL)))
    unread = {f"{kind}.{name}" for kind, found in OBJECTS.items() if kind not in SHOWN_WHOLE for name in found}
    assert {name for name in unread if name.rpartition(".")[2] not in words} == set()

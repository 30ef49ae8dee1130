"""The page on the events of a trace is what their classes say, holds of every trace, and its examples agree."""

from __future__ import annotations

import math
import re
import runpy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest

from quorum.episode.runner import run_cell
from tests.branching import plan_branch
from tests.conftest import ROOT
from tests.recorded import copied_run, recorded_run

SCRIPT = ROOT / "docs" / "api" / "events.py"
TEXT = (ROOT / "docs" / "events.md").read_text(encoding="utf-8")
SEEN = "n=3 agents=naive topology=debate max_steps=60"
CELLS = (
    SEEN,
    "n=3 agents=llamac topology=centralized topology.leader=coordinator topology.rounds=3"
    " llm=simulated_faults max_steps=20",
    "n=6 seed=2 max_steps=20 agents=naive topology=dytopo llm=simulated_faults",
    "n=6 seed=8 max_steps=30 agents=naive topology=debate extension=repair llm=simulated_faults",
    "n=3 max_steps=10 agents=naive topology=centralized topology.feedback=constraints extension=mute",
    "n=3 max_steps=10 agents=naive topology=debate llm=simulated_faults clock.max_thoughts_per_step=1",
    "env=crafter_coop n=3 seed=1 max_steps=50 agents=tom topology=debate llm=simulated_faults",
    "env=crafter_coop n=2 max_steps=20 seed=3 extension=luck draw=1 agents=heuristic",
    "env=transport n=4 seed=1 max_steps=10 agents=hmas2 topology=centralized topology.leader=coordinator"
    " topology.rounds=3 llm=simulated_faults",
    "env=squeeze n=5 seed=3 max_steps=4 agents=dmas topology=dialogue topology.opens=team llm=simulated_faults",
)
"""Every world, and every kind of event."""
_TYPES = {
    "integer": lambda value: type(value) is int,
    "number": lambda value: type(value) in (int, float),
    "string": lambda value: isinstance(value, str),
    "boolean": lambda value: isinstance(value, bool),
    "object": lambda value: isinstance(value, dict),
    "any": lambda value: True,
}


def is_of(value: Any, kind: str) -> bool:
    """Whether a value is of a type, as the page writes it."""
    if kind.endswith(" or null"):
        return value is None or is_of(value, kind.removesuffix(" or null"))
    if kind.startswith("list of "):
        return isinstance(value, list) and all(is_of(item, kind.removeprefix("list of ")) for item in value)
    return _TYPES[kind](value)


Fields = dict[str, tuple[str, bool]]
"""The type of each field, and whether it can be missing."""


def documented() -> tuple[Fields, dict[str, Fields], dict[tuple[str, str], Fields]]:
    """Return the fields of every event, those of each kind, and those of the records inside of fields."""
    common, *sections = re.split(r"^### ", TEXT.partition("## Fields of every event")[2], flags=re.MULTILINE)
    kinds: dict[str, Fields] = {}
    records: dict[tuple[str, str], Fields] = {}
    for section in sections:
        kind = section.partition("\n")[0].strip("`")
        own, *inner = re.split(r"^The keys of (?:each record in )?`(\w+)`.*:$", section, flags=re.MULTILINE)
        kinds[kind] = fields(own)
        records |= {(kind, name): fields(table) for name, table in zip(inner[::2], inner[1::2], strict=True)}
    return fields(common), kinds, records


def fields(text: str) -> Fields:
    """Return the fields of a table."""
    rows = [row.strip("| ").split(" | ") for row in text.splitlines() if row.startswith("| `")]
    return {row[0].strip("`"): (row[1].removesuffix(", optional"), row[1].endswith(", optional")) for row in rows}


COMMON, KINDS, RECORDS = documented()
OPEN = {("thought_end", "calls")}
"""Records to which minds can add."""


def wrong(record: dict[str, Any], known: Fields, *, more: bool = False) -> Iterator[str]:
    """Say what of a record is not as the page has it."""
    yield from (f"{name} is missing" for name in known if name not in record and not known[name][1])
    for name, value in record.items():
        if name not in known:
            yield from [] if more else [f"{name} is not on the page"]
        elif not is_of(value, known[name][0]):
            yield f"{name} is no {known[name][0]}: {value!r}"


def mistakes(folder: Path) -> Iterator[str]:
    """Say which lines of a trace are not as the page has it."""
    for line in (folder / "trace.jsonl").read_bytes().splitlines():
        event = orjson.loads(line)
        kind = event["event"]
        known = COMMON | KINDS[kind]
        yield from (f"{kind}: {found}" for found in wrong(event, known))
        for (own, name), inner in RECORDS.items():
            value = event.get(name) if own == kind else None
            for record in value if isinstance(value, list) else [value] if value else []:
                yield from (f"{kind}.{name}: {found}" for found in wrong(record, inner, more=(own, name) in OPEN))


def kinds_of(folder: Path) -> set[Any]:
    """Return the kinds of the events of a trace, and the kind and the name of each field that holds records."""
    events = [orjson.loads(line) for line in (folder / "trace.jsonl").read_bytes().splitlines()]
    filled = {(event["event"], name) for event in events for name, value in event.items() if value}
    return {event["event"] for event in events} | (filled & RECORDS.keys())


def test_the_page_is_what_the_classes_of_the_events_say() -> None:
    """`python docs/api/events.py` writes it."""
    assert runpy.run_path(str(SCRIPT))["page"](TEXT) == TEXT


@pytest.fixture(scope="module")
def branched(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a branch with a changed world and an edit."""
    changed = '{"agents": {"agent_0": [0, 0]}}'
    planned = plan_branch(recorded_run(*SEEN.split()), "2", world=changed, minds=["agent_1=heuristic"])
    return run_cell(planned.cell, tmp_path_factory.mktemp("branch"), start=planned.start).folder


@pytest.mark.parametrize("cell", CELLS)
def test_every_event_that_is_written_is_as_the_page_has_it(cell: str) -> None:
    assert list(mistakes(recorded_run(*cell.split()))) == []


@pytest.fixture(scope="module")
def probed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a belief probe."""
    planned = plan_branch(recorded_run(*SEEN.split()), "2", probe=True)
    return run_cell(planned.cell, tmp_path_factory.mktemp("probe"), start=planned.start).folder


def test_so_are_those_of_a_probe(probed: Path) -> None:
    assert list(mistakes(probed)) == []


def test_so_are_those_of_a_branch(branched: Path) -> None:
    assert list(mistakes(branched)) == []
    assert "world_change" in kinds_of(branched)


def test_every_event_of_the_page_is_written(branched: Path, probed: Path) -> None:
    folders = [branched, probed, *(recorded_run(*cell.split()) for cell in CELLS)]
    written = set().union(*map(kinds_of, folders))
    assert written == KINDS.keys() | RECORDS.keys()


def test_a_line_that_is_not_as_the_page_has_it_is_found(tmp_path: Path) -> None:
    """A field too much, one too few, one of another type."""
    line = {"seq": 0, "t": 0, "t_hat": 0, "wall": 0.1, "event": "messages_read", "agent": "agent_0", "read": True}
    (tmp_path / "trace.jsonl").write_bytes(orjson.dumps(line))
    assert [found.split(": ", 1)[1] for found in mistakes(tmp_path)] == [
        "messages is missing",
        "agent is no integer: 'agent_0'",
        "read is not on the page",
    ]


def test_the_three_readers_say_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    copied_run(tmp_path / "seen", *SEEN.split())
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"^```python\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)
    assert [block.split()[1] for block in blocks] == ["duckdb", "pathlib", "polars"]
    assert all(len(block.splitlines()) <= 10 for block in blocks)
    spent = [spending(block) for block in blocks]
    assert spent[0][0] == spent[1][0] == spent[2][0]
    assert len(spent[0][0]) == 3
    for other in spent[1:]:
        assert all(math.isclose(mine, its) for mine, its in zip(spent[0][1], other[1], strict=True))
    assert all(usd > 0 for usd in spent[0][1])


def spending(block: str) -> tuple[list[tuple[int, int, float]], list[float]]:
    """Run an example; return thoughts and cost of each agent, and the price of its calls."""
    printed: list[Any] = []
    exec(block, {"print": printed.append})
    spent, usd = ([tuple(row) for row in rows(table)] for table in printed)
    return [(int(agent), int(thoughts), float(cost)) for agent, thoughts, cost in spent], [row[-1] for row in usd]


def rows(table: Any) -> Any:
    """Return the rows of a table of DuckDB, pandas or polars."""
    if hasattr(table, "fetchall"):
        return table.fetchall()
    return table.rows() if hasattr(table, "rows") else table.reset_index().itertuples(index=False)

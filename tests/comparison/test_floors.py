"""Chance and echo in a comparison: levels apart that models are measured from, and the command that adds them."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import pytest

from quorum.comparison import FIRST, Comparison, Question, compare
from quorum.comparison.files import as_json
from quorum.comparison.notes import notes
from quorum.comparison.tables import SIMULATED, level_label, tables
from quorum.runs import read_results
from tests.folders import outcome, write_plan, write_run

BOARDS = 8
CHANCE = {"models": ["chance"], "simulated": True}
ECHO = {"models": ["echo"], "simulated": True}
REAL = {"models": ["gpt-5-mini"], "simulated": False}
COMMAND = "quorum sweep agents=naive topology=individual,debate llm=openai llm.model=gpt-5-mini 'seed=range(0,6)'"
ADDS = "To measure chance and echo: "


def write(folder: Path, provider: str, meta: dict[str, Any], steps: int, **factors: Any) -> None:
    for topology in ("individual", "debate"):
        for seed in range(BOARDS):
            values = outcome(steps=steps + seed * steps // 10, model__calls=3)
            write_run(folder, values, seed=seed, topology__name=topology, llm__name=provider, meta=meta, **factors)


def answer(folder: Path, *by: str, **more: Any) -> Comparison:
    return compare([read_results(folder)], Question(by, metrics=("steps",), **more))


@pytest.fixture
def sweep(tmp_path: Path) -> Path:
    write(tmp_path, "openai", REAL, 20, llm__model="gpt-5")
    write(tmp_path, "random", CHANCE, 50, llm__model=None)
    write_plan(tmp_path, [], command=COMMAND)
    return tmp_path


@pytest.mark.parametrize(("by", "level"), [((), "chance"), (("model",), "chance"), (("llm",), "random")])
@pytest.mark.parametrize("baseline", [None, FIRST])
def test_models_are_measured_from_chance(by: tuple[str, ...], level: str, baseline: str | None, sweep: Path) -> None:
    found = answer(sweep, *by, baseline=baseline)
    assert found.baseline == level
    (difference,) = found.differences
    assert (difference.mean.value, difference.mean.boards) == (-40.5, BOARDS)
    assert difference.mean.high < 0, "its interval"


def test_another_baseline_can_be_named(sweep: Path) -> None:
    assert [item.level for item in answer(sweep, "model", baseline="gpt-5-mini").differences] == ["chance"]


def test_the_row_is_marked_and_makes_no_real_result_a_simulated_one(sweep: Path) -> None:
    found = answer(sweep, "llm")
    assert sorted(level_label(found, level) for level in found.levels) == ["gpt-5", "random (chance)"], "as configured"
    assert not [table.title for table in tables(found) if SIMULATED in table.caption]
    remarks = notes(found)
    assert "Chance: in random every answer is drawn at random from its schema." in remarks
    assert not [note for note in remarks if SIMULATED in note or ADDS in note]
    written = as_json(found, remarks)
    assert (written["floors"], written["simulated"]) == ({"random": "chance"}, [])
    assert {entry["llm"]: entry["simulated"] for entry in written["estimates"]} == {"gpt-5": False, "random": True}


def test_chance_is_never_pooled_with_a_model(sweep: Path) -> None:
    found = answer(sweep, "topology")
    assert {group.mean("outcome.steps") for group in found.groups.values()} == {27}
    assert f"{2 * BOARDS} runs without a mind (chance, echo) are excluded. To include them: --by model." in notes(found)
    apart = answer(sweep, "topology", across="model")
    assert {point: group.mean("outcome.steps") for (_, point), group in apart.groups.items()} == {
        "gpt-5-mini": 27,
        "chance": 67.5,
    }


def test_an_echo_is_a_floor_of_its_own_and_chance_stays_the_baseline(sweep: Path) -> None:
    write(sweep, "echo", ECHO, 25, llm__model=None)
    found = answer(sweep, "llm")
    assert (found.baseline, dict(found.floors)) == ("random", {"random": "chance", "echo": "echo"})
    assert found.simulated == frozenset(), "no rules answered"
    assert "Echo: in echo every answer copies the example in the prompt, with the same names for all agents." in notes(
        found
    )
    assert answer(sweep, "topology").set_aside == 4 * BOARDS, "neither is pooled with a model"


def test_chance_and_echo_are_not_pooled_with_each_other(tmp_path: Path) -> None:
    write(tmp_path, "random", CHANCE, 50, llm__model=None)
    write(tmp_path, "echo", ECHO, 25, llm__model=None)
    assert set(answer(tmp_path).levels) == {"chance", "echo"}, "compared by model, though topology varies as well"


def commands(folder: Path) -> list[str]:
    return [note.removeprefix(ADDS) for note in notes(answer(folder, "topology")) if note.startswith(ADDS)]


@pytest.mark.parametrize(
    ("command", "added"),
    [
        (COMMAND, "quorum sweep agents=naive topology=individual,debate 'seed=range(0,6)' llm=random,echo --name NAME"),
        ("quorum sweep llm.top_p=1 --out 'my runs' --name a", "quorum sweep --out 'my runs' --name a llm=random,echo"),
        ("quorum sweep prompts=short --name a", "quorum sweep prompts=terse --name a llm=random,echo"),
        ("quorum study talk llm=openai", None),
        ("quorum branch runs/a llm=openai", None),
        ("quorum sweep 'n=2", None),
    ],
)  # fmt: skip
def test_without_floors_the_command_that_adds_them_is_shown(command: str, added: str | None, tmp_path: Path) -> None:
    write(tmp_path, "openai", REAL, 20)
    write_plan(tmp_path, [], command=command)
    assert commands(tmp_path) == ([added.replace("NAME", shlex.quote(tmp_path.name))] if added else [])


def test_no_command_is_said_where_none_helps(tmp_path: Path) -> None:
    write(tmp_path / "rules", "simulated", {"models": ["simulated"], "simulated": True}, 20)
    write_plan(tmp_path / "rules", [], command=COMMAND)
    for name, word in (("arms", "llm.model=m"), ("presets", "llm=llamacpp")):
        write(tmp_path / name, "openai", REAL, 20)
        write_plan(tmp_path / name, [], command=COMMAND, arms={"small": [word]})
    assert [commands(tmp_path / name) for name in ("rules", "arms", "presets")] == [[], [], []]


def test_chance_is_no_single_mind_that_a_team_coordinates_against(tmp_path: Path) -> None:
    write(tmp_path, "openai", REAL, 20, n=1)
    write(tmp_path, "random", CHANCE, 50, n=1)
    found = {base: tables(answer(tmp_path, "model", baseline=base)) for base in ("gpt-5-mini", "chance")}
    assert {base: any(one.name == "coordination" for one in shown) for base, shown in found.items()} == {
        "gpt-5-mini": True,
        "chance": False,
    }

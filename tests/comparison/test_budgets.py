"""Levels at equal budgets: what runs without a budget say of runs with one."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from quorum.comparison import FIRST, Question, compare
from quorum.comparison.budgets import STEPS, budget_curves
from quorum.comparison.comparison import Comparison
from quorum.comparison.figures import draw_figures
from quorum.comparison.files import budgets, records_as_csv
from quorum.comparison.notes import notes
from quorum.comparison.spent import AT_BUDGETS, BUDGETS, read_spent
from quorum.comparison.tables import tables
from quorum.configuration.cell import Cell
from quorum.episode.runner import run_cell
from quorum.runs import Row, read_results
from quorum.runs.run_folder import RunFolder
from quorum_base.user_errors import UserError
from tests.folders import outcome, write_plan, write_run

FAULTY = ("agents=naive", "n=3", "llm.poor=0.3", "llm.malformed=0.2")


def played(arguments: Sequence[str], out: Path) -> Row:
    """Run a cell, and read its folder."""
    row = RunFolder(run_cell(Cell.compose(list(arguments)), out).folder).row()
    assert isinstance(row, Row)
    return row


def reached(row: Row) -> list[float | None]:
    """Return what a run came to, of the metrics that are known under every budget."""
    return [row.metrics[name] for name in AT_BUDGETS]


@pytest.mark.parametrize("kind", ["tokens", "usd", "calls"])
def test_a_change_takes_place_under_the_least_budget_that_it_takes_and_not_below(kind: str, tmp_path: Path) -> None:
    arguments = ["env=cube", "n=1", "env.blocks={1: 3}", "agents=naive", "llm.poor=0.3", "max_steps=60"]
    free = read_spent(played(arguments, tmp_path), kind)
    change = len(free.least) - 2  # the last block
    least = float(free.least[change])
    assert free.values[3, change] == 3
    for budget in (least, least * (1 - 1e-6)) if kind == "usd" else (int(np.ceil(least)), int(np.ceil(least)) - 1):
        found = played([*arguments, f"budget.{kind}={budget!r}"], tmp_path)
        assert reached(found)[1:] == free.at(float(budget))[1:].tolist()
        assert (found.metrics["outcome.reached"] == 3) == (budget >= least)


@pytest.mark.conformance
@pytest.mark.parametrize(("world", "latency"), [("cube", 0.002), ("transport", 0.0), ("squeeze", 0.0)])
def test_means_are_those_of_runs_under_the_budget_within_2_percent(world: str, latency: float, tmp_path: Path) -> None:
    """Also where answers take time, so that agents ask at the same time."""
    free, hard = [], []
    for topology in ("individual", "debate", "hybrid"):
        arguments = [f"env={world}", f"topology={topology}", "max_steps=30", f"llm.latency={latency}", *FAULTY]
        cells = [[*arguments, f"seed={seed}"] for seed in range(3)]
        rows = [played(cell, tmp_path) for cell in cells]
        for kind, share in product(("tokens", "usd", "calls"), (0.3, 0.7)):
            spent = [read_spent(row, kind) for row in rows]
            most = share * float(max(one.least[-1] for one in spent))
            budget = most if kind == "usd" else int(most)
            free += [one.at(budget) for one in spent]
            hard += [reached(played([*cell, f"budget.{kind}={budget!r}"], tmp_path)) for cell in cells]
    differ = np.abs(np.array(free) - np.array(hard)).max(axis=1) > 1e-12
    assert differ.mean() <= 0.05
    assert np.mean(free, axis=0) == pytest.approx(np.mean(hard, axis=0), rel=0.02, abs=1e-12)


def call(prompt: int, completion: int, **more: Any) -> dict[str, Any]:
    """Return the record of a call."""
    return {"prompt_tokens": prompt, "completion_tokens": completion, "usd": (prompt + completion) / 1e6, **more}


def write_trace(folder: Path, events: Sequence[tuple[str, dict[str, Any]]], end: str = "success") -> None:
    """Write a trace of two goals by hand; an event is a second after the one before."""
    start = {
        "schema": 6, "seed": 0, "world": "w", "topology": "t", "agents": ["a"], "coordinators": [], "clock": "tokens",
        "board": {"note": 'a text that says "event":"thought_end"'},
    }  # fmt: skip
    every = [("episode_start", start), *events, ("episode_end", {"outcome": end, "steps": 2})]
    lines = [
        json.dumps({"seq": k, "t": 0, "t_hat": 0, "event": kind, **own, "wall": float(k)}, separators=(",", ":"))
        for k, (kind, own) in enumerate(every)
    ]
    (folder / "trace.jsonl").write_text("".join(f"{line}\n" for line in lines))


def score(goals: int) -> tuple[str, dict[str, Any]]:
    """Return a change of the score."""
    return "score", {"reached": goals, "goals": 2, "score": float(goals)}


def thought(*calls: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """Return a thought, from its start to its end."""
    start = {"agent": 0, "acts": [], "problems": []}
    end = {"agent": 0, "cost": 0, "calls": calls, "refused": [], "seconds": 0}
    return [("thought_start", start), ("thought_end", end)]


STORY = (
    score(0), *thought(call(80, 20)), score(1), *thought(call(250, 50), call(150, 50, answers=2)), *thought(), score(2)
)  # fmt: skip


def by_hand(folder: Path, stories: dict[str, Sequence[tuple[str, dict[str, Any]]]], end: str = "success") -> Comparison:
    """Write a run of each level on one board, and compare them."""
    digests = []
    for level, story in stories.items():
        digests.append((level, write_run(folder, outcome(), name=level, topology__name=level), None))
        write_trace(folder / level, story, end)
        meta = json.loads((folder / level / "meta.json").read_text())
        (folder / level / "meta.json").write_text(json.dumps({**meta, "outcome": end}))
    write_plan(folder, digests)
    return compare([read_results(folder)], Question(by=["topology"], metrics=["completion"], baseline=FIRST))


_ALL = 500 + 500 / 3  # the last answer is expected to take the mean of the three before, which took 500 together


@pytest.mark.parametrize(
    ("kind", "least"),
    [
        ("tokens", [0, 0, 100, _ALL, _ALL]),
        ("usd", [0, 0, 1e-4, _ALL / 1e6, _ALL / 1e6]),
        ("calls", [0, 0, 1, 4, 4]),
        ("thoughts", [0, 0, 1, 3, 3]),
        ("seconds", [0, 1, 4, 9, 10]),
    ],
)
def test_what_a_change_takes_is_what_the_rule_of_budgets_asks_for(
    kind: str, least: list[float], tmp_path: Path
) -> None:
    found = read_spent(by_hand(tmp_path, {"one": STORY}).groups["one", None].rows[0], kind)
    assert found.least == pytest.approx(least)
    assert found.values[1].tolist()[1:] == [0, 0.5, 1, 1]
    assert found.values[0].tolist() == [0, 0, 0, 0, 1]
    assert found.at(least[2])[1] == 0.5


def test_a_thought_that_a_change_falls_into_counts_for_the_next_change(tmp_path: Path) -> None:
    start, end = thought(call(80, 20))
    story = [score(0), start, score(1), end, score(2)]
    found = read_spent(by_hand(tmp_path, {"one": story}).groups["one", None].rows[0], "tokens")
    assert found.least == pytest.approx([0, 0, 0, 100, 100])


def test_levels_are_compared_up_to_the_largest_budget_of_which_all_are_known(tmp_path: Path) -> None:
    """One that ended by itself keeps its score; of one that its budget ended nothing is known beyond."""
    silent, talk = (score(0), *thought(call(80, 20)), score(1)), (score(0), *thought(call(80, 20)) * 3, score(2))
    found = budget_curves(by_hand(tmp_path / "own", {"one": silent, "two": talk}), "tokens")
    assert found.budgets[None] == tuple(np.floor(np.linspace(0, 300, STEPS + 1)))
    one, two = ([e.value for e in found.estimates["outcome.completion", level, None]] for level in ("one", "two"))
    assert (one, two) == ([0.0] * 4 + [0.5] * 9, [0.0] * 12 + [1.0])
    lead = found.differences["outcome.completion", "two", None]
    assert [item.mean.value for item in lead] == [0.0] * 4 + [-0.5] * 8 + [0.5]
    assert found.crossings("outcome.completion", "two", None) == [300]
    stopped = budget_curves(by_hand(tmp_path / "stopped", {"one": silent, "two": talk}, end="budget"), "tokens")
    assert stopped.budgets[None][-1] == 100


def test_drawn_answers_take_no_tokens_so_that_no_bound_on_calls_hides_what_they_come_to(tmp_path: Path) -> None:
    story = (score(0), *thought({**call(0, 0), "usd": 0.0}), score(1))
    (row,) = by_hand(tmp_path, {"one": story}, end="budget").groups["one", None].rows
    most = {(kind, drawn): read_spent(replace(row, models=(drawn,)), kind).most
            for kind in ("tokens", "usd", "calls") for drawn in ("chance", "gpt-5")}  # fmt: skip
    assert most == {
        ("tokens", "chance"): np.inf, ("usd", "chance"): np.inf, ("calls", "chance"): 1,
        ("tokens", "gpt-5"): 0, ("usd", "gpt-5"): 0, ("calls", "gpt-5"): 1,
    }  # fmt: skip


def test_a_budget_from_which_the_interval_leaves_out_0_is_named_with_its_sign(tmp_path: Path) -> None:
    found = budget_curves(by_hand(tmp_path, {"one": STORY, "two": STORY}), "calls")
    nan = float("nan")
    item = found.differences["outcome.completion", "two", None][0]
    ends = [(nan, nan), (-2, -1), (-2, -1), (-1, 1), (1, 2), (1, 2), (-1, 1), (1, 2)]
    line = tuple(replace(item, mean=replace(item.mean, low=low, high=high)) for low, high in ends)
    made = replace(found, budgets={None: tuple(range(8))}, differences={("m", "two", None): line})
    assert made.apart("m", "two", None) == [(1, -1), (4, 1), (7, 1)]


def test_a_run_of_which_it_cannot_be_known_is_left_out_and_named(tmp_path: Path) -> None:
    unpriced = (score(0), *thought({"prompt_tokens": 1, "completion_tokens": 1}), score(1))
    found = by_hand(tmp_path, {"one": STORY, "two": STORY, "three": unpriced})
    (tmp_path / "two" / "trace.jsonl").write_text((tmp_path / "two" / "trace.jsonl").read_text()[:-30])
    curves = budget_curves(found, "usd")
    assert {level for _, level, _ in curves.estimates} == {"one"}
    remarks = [note for note in notes(replace(found, budgets=curves)) if "budgets" in note]
    assert remarks[0].startswith("Left out of the budgets: two: trace.jsonl: damaged: ")
    assert remarks[1] == "Left out of the budgets: three: one of its calls does not record its US dollars"


def test_what_no_run_spends_is_refused_with_the_way_out(tmp_path: Path) -> None:
    found = by_hand(tmp_path, {"one": (score(0), *thought(), score(2)), "two": (score(0), *thought(), score(2))})
    with pytest.raises(UserError, match="--budget usd: no run records any US dollars spent") as error:
        budget_curves(found, "usd")
    assert "--budget thoughts" in error.value.hint
    assert budget_curves(found, "thoughts").budgets[None][-1] == 1
    with pytest.raises(UserError, match="--budget token: there is no such budget") as error:
        budget_curves(found, "token")
    assert "tokens" in error.value.hint


def test_tables_figures_and_records_show_them(tmp_path: Path) -> None:
    talk = (score(0), *thought(call(80, 20)) * 3, score(2))
    plain = by_hand(tmp_path, {"one": STORY, "two": talk})
    found = replace(plain, budgets=budget_curves(plain, "tokens"))
    shown = {table.title: table for table in tables(found)}
    levels = shown["outcome.completion ↑ at equal tokens"]
    assert levels.header == ("tokens", "one", "two")
    assert levels.rows[-1] == ("666", "0.500", "1.000")
    lead = shown["outcome.completion ↑ at equal tokens: difference from one"]
    assert lead.rows == (("two", "+0.500", "+0.500", "333", "-"),)
    lines = records_as_csv(budgets(found)).splitlines()
    assert len(lines) == 1 + 2 * (STEPS + 1)
    assert lines[0].endswith("budget,of,mean,mean_low,mean_high,difference,difference_low,difference_high,p,p_holm")
    assert "budget.outcome.completion" in [drawing.name for drawing in draw_figures(found)]
    assert not [table for table in tables(plain) if "at equal" in table.title]
    assert [drawing for drawing in draw_figures(plain) if drawing.name.startswith("budget")] == []
    assert set(BUDGETS) == {"tokens", "usd", "calls", "thoughts", "seconds"}

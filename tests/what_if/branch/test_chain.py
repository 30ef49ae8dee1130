"""A branch of a branch begins as that did, by the minds of all runs in turn; without a change it is that."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from maeil.trace import comparable, read_trace
from maeil.trace.events import ThoughtStart
from quorum.configuration.cell import Cell
from quorum.episode.runner import run_cell
from quorum.runs.verify import verify_run
from quorum_base.user_errors import UserError
from tests.branching import plan_branch, plan_draws
from tests.serving import served
from tests.what_if.branch.test_identity import Counting, branched, calls_of, instants

SQUEEZE = "env=squeeze n=3 max_steps=6 agents=naive topology=debate llm.poor=0.4 llm.temperature=0"
POORER = {"edits": ["llm.poor=0.3"]}
BRANCHES: dict[str, tuple[str, str, dict[str, Any]]] = {
    "nothing": (SQUEEZE, "2", {}),
    "minds": (SQUEEZE, "2", {"minds": ["agent_2=heuristic"]}),
    "models": (SQUEEZE, "2", {"edits": ["llm.temperature=0.7", "llm.poor=1.0"]}),
    "prompts and words": (SQUEEZE, "2", {"edits": ["prompts=terse"], "says": ["agent_1:leave it: to me"]}),
    "a plan": (SQUEEZE, "2", {"plans": ['agent_0:[{"action": "pick", "units": 3}]']}),
    "a message": (SQUEEZE, None, {"drops": [7, 9]}),
    "a topology": (SQUEEZE, "2", {"edits": ["topology=chain"]}),
    "the limit": (SQUEEZE, "2", {"edits": ["max_steps=8"]}),
    "a budget": (SQUEEZE, "2", {"edits": ["budget.calls=40"]}),
    "memory": (SQUEEZE, "2", {"edits": ["memory.messages=3", "clock.delivery=20"]}),
    "a world": ("n=4 seed=1 max_steps=25", "3", {"world": '{"agents": {"agent_0": [0, 0]}}'}),
    "a mind without a model": (
        "env=transport n=3 agents=naive topology=dialogue max_steps=12",
        "1",
        {"minds": ["agent_1=heuristic"]},
    ),
    "minds with a model": ("n=4 agents=heuristic max_steps=25", "1", {"edits": ["agents=naive"]}),
    "minds that remember": ("n=3 max_steps=20 seed=4 agents=drwell topology=negotiation", "1", POORER),
}


def first_thought(folder: Path, t: int) -> str:
    """Return an instant of a run, in or after a step."""
    started = [s for s in read_trace(folder).events if isinstance(s.event, ThoughtStart) and s.t >= t]
    return f"{started[len(started) // 2].t}:{started[len(started) // 2].t_hat}"


@pytest.mark.parametrize("change", BRANCHES)
def test_a_branch_of_a_branch_without_a_change_is_that_branch(change: str, tmp_path: Path) -> None:
    words, at, edits = BRANCHES[change]
    run = run_cell(Cell.compose(words.split()), tmp_path).folder
    branch = branched(run, at, tmp_path, **edits).folder
    known = json.loads((branch / "meta.json").read_text())["branch"]
    begin = f"{known['t']}" if known["t_hat"] is None else f"{known['t']}:{known['t_hat']}"
    for again in dict.fromkeys((begin, first_thought(branch, known["t"]))):
        twice = branched(branch, again, tmp_path / "again").folder
        first, *rest = comparable(twice)
        header, *others = comparable(branch)
        reported, was = json.loads(first), json.loads(header)
        assert (reported.pop("branch")["run"], was.pop("branch")["run"]) == (branch.name, run.name)
        assert reported == was
        assert rest == others
        assert calls_of(twice) == calls_of(branch)
        assert verify_run(twice).problems == []


def test_a_third_branch_is_played_by_all_before_it(tmp_path: Path) -> None:
    run = run_cell(Cell.compose(SQUEEZE.split()), tmp_path).folder
    one = branched(run, "1", tmp_path, edits=["topology=chain", "max_steps=9"]).folder
    two = branched(one, "3", tmp_path, minds=["agent_2=heuristic"], edits=["topology=individual"]).folder
    three = branched(two, "5", tmp_path, edits=["max_steps=7"])
    assert three.outcome in ("success", "truncated")
    assert three.metrics["outcome.steps"] == 7
    assert comparable(branched(two, "5", tmp_path / "same").folder)[1:] == comparable(two)[1:]


def test_draws_of_a_draw_differ_from_it_and_the_first_goes_on_as_it_did(tmp_path: Path) -> None:
    run = run_cell(Cell.compose(SQUEEZE.split()), tmp_path).folder
    planned = list(plan_draws(run, "1", 2))[1]
    branch = run_cell(planned.cell, tmp_path, start=planned.start).folder
    draws = [run_cell(one.cell, tmp_path / "draws", start=one.start).folder for one in plan_draws(branch, "3", 3)]
    assert comparable(draws[0])[1:] == comparable(branch)[1:]
    assert len({tuple(comparable(draw)[1:]) for draw in draws}) == 3


def test_only_what_begins_at_the_instant_or_later_is_asked(tmp_path: Path) -> None:
    brain = Counting()
    with served(brain) as addresses:
        model = ["llm=openai", "llm.model=simulated", f"llm.base_url={addresses.openai}", "llm.api_key_env=null"]
        words = ["env=squeeze", "n=3", "max_steps=5", "agents=naive", "topology=debate", "llm.cache=false"]
        run = run_cell(Cell.compose([*words, *model]), tmp_path).folder
        branch = branched(run, "1", tmp_path, edits=["prompts=terse"]).folder
        for at in instants(branch, 3, "chain")[1:]:
            if int(at.partition(":")[0]) < 1:
                continue
            brain.requests = 0
            twice = branched(branch, at, tmp_path / "again").folder
            t, t_hat = (float(part) for part in at.split(":"))
            started = [s for s in read_trace(twice).events if isinstance(s.event, ThoughtStart)]
            assert brain.requests == len([s for s in started if (s.t, s.t_hat) >= (t, t_hat)])


@pytest.fixture(scope="module")
def chain(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("chain")
    run = run_cell(Cell.compose(SQUEEZE.split()), folder / "runs").folder
    return run, branched(run, "2", folder / "branches", minds=["agent_2=heuristic"]).folder


def test_the_run_is_found_where_the_branch_says_and_next_to_it(chain: tuple[Path, Path], tmp_path: Path) -> None:
    run, branch = chain
    assert json.loads((branch / "meta.json").read_text())["parent"] == f"../runs/{run.name}"
    plan_branch(branch, "3")
    moved = shutil.copytree(branch, tmp_path / branch.name)
    with pytest.raises(UserError, match=f"it is a branch of {run.name}, which is missing"):
        plan_branch(moved, "3")
    copied = shutil.copytree(run, tmp_path / run.name)
    assert branched(moved, "3", tmp_path / "out").outcome == "success"
    assert copied.exists()


def test_another_run_under_the_name_is_refused(chain: tuple[Path, Path], tmp_path: Path) -> None:
    run, branch = chain
    other = run_cell(Cell.compose([*SQUEEZE.split(), "seed=9"]), tmp_path / "other").folder
    moved = shutil.copytree(branch, tmp_path / branch.name)
    shutil.copytree(other, tmp_path / run.name)
    with pytest.raises(UserError, match=r"is not that run: it starts differently"):
        plan_branch(moved, "3")


def test_a_branch_that_names_itself_is_refused(chain: tuple[Path, Path], tmp_path: Path) -> None:
    moved = shutil.copytree(chain[1], tmp_path / "itself")
    meta = json.loads((moved / "meta.json").read_text())
    meta["branch"]["run"] = "itself"
    meta["parent"] = "itself"
    (moved / "meta.json").write_text(json.dumps(meta))
    with pytest.raises(UserError, match="which is missing"):
        plan_branch(moved, "3")


def test_an_instant_before_the_branch_is_that_of_its_run(chain: tuple[Path, Path]) -> None:
    run, branch = chain
    with pytest.raises(UserError, match=r"--at 1: the run is itself a branch, live from 2 on") as refused:
        plan_branch(branch, "1")
    assert run.name in refused.value.hint

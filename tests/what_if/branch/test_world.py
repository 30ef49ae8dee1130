"""A branch whose world is changed: what holds for its trace and its pictures, and what is refused."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson
import pytest

from crafter_env import Item, Material
from crafter_env.constants import NEEDS
from llamac_env.transport.text import write_board
from maeil import World
from maeil.metrics import compute_metrics
from maeil.trace import Listener, Trace, comparable, read_trace, replay
from maeil.trace.events import ActionChange, PlanChange, Stamped, StepTaken, ThoughtStart
from quorum.configuration.cell import Cell
from quorum.episode.runner import run_cell
from quorum.runs.recorded_episode import open_episode
from quorum.runs.verify import verify_run
from quorum.view.viewer.episode import read_episode
from quorum.what_if.extensions.change import WorldChange
from quorum_base.user_errors import UserError
from tests.branching import plan_branch
from tests.conftest import Quorum

CELLS = {
    "cube": "n=4 seed=1 max_steps=60",
    "cube emcoop": "n=4 seed=1 max_steps=40 env.vocabulary=emcoop agents=naive",
    "cube debate": "n=4 agents=naive topology=debate max_steps=40",
    "cube repair": "n=4 agents=naive extension=repair extension.repair.mode=notice max_steps=40 llm.poor=0.3",
    "transport": "env=transport n=4 max_steps=20",
    "transport hard": "env=transport_hard n=4 max_steps=20 agents=naive topology=centralized",
    "crafter": "env=crafter_coop n=3 max_steps=30",
    "squeeze": "env=squeeze n=3 max_steps=8 agents=naive topology=debate",
}


def cube_now(world: Any) -> dict[str, Any]:
    board = world.env.snapshot()
    return {
        "agents": {f"agent_{i}": list(cell) for i, cell in enumerate(board.agents)},
        "blocks": {str(b.id): {"weight": b.weight, "position": [b.row, b.col]} for b in board.blocks},
    }


def transport_now(world: Any) -> dict[str, Any]:
    return {"items": write_board(world.env.board)}


def squeeze_now(world: Any) -> dict[str, Any]:
    return {"mu": world.env.game.mu, "sigma": world.env.game.sigma}


def crafter_now(world: Any) -> dict[str, Any]:
    state = world.env.crafter_state
    units = [dict(zip(Item, row, strict=True)) for row in state.inventory.tolist()]
    return {
        "agents": {
            f"agent_{i}": {
                "cell": state.positions[i].tolist(),
                "needs": {item.name: held[item] for item in NEEDS},
                "inventory": {item.name: held[item] for item in Item if item not in NEEDS},
            }
            for i, held in enumerate(units)
        },
        "cells": {"30,30": Material(state.materials[30, 30]).name},
    }


NOW = {"crafter": crafter_now, "cube": cube_now, "transport": transport_now, "squeeze": squeeze_now}
"""By world: the changes that name all of a state as it is."""


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs")
    for name, words in CELLS.items():
        run_cell(Cell.compose(words.split()), folder / name)
    return folder


def run_of(runs: Path, name: str) -> Path:
    return next((runs / name).iterdir())


def at_step(run: Path, step: int) -> World:
    """Return the world of a run, brought to a step."""
    episode = open_episode(run)
    world = episode.world()
    next(t for t in episode.replay(world) if t == step)
    return world


def changed(run: Path, step: int, changes: Mapping[str, Any], out: Path, **request: Any) -> tuple[Path, list[str]]:
    """Run a branch; return its folder, and the world in text at the start of each step from the change on."""
    shown: list[str] = []

    def watch(world: World) -> Listener:
        def listen(stamped: Stamped) -> None:
            if isinstance(stamped.event, StepTaken | WorldChange) and stamped.t >= step:
                shown.append(world.ansi())

        return listen

    planned = plan_branch(run, str(step), world=json.dumps(changes), **request)
    result = run_cell(planned.cell, out, watch, start=planned.start)
    return result.folder, shown


def without_numbers(lines: list[bytes]) -> list[dict[str, Any]]:
    return [{**json.loads(line), "seq": None} for line in lines]


def quiet_steps(run: Path) -> list[int]:
    """Return the steps in which nobody begins to think."""
    starts = {s.t for s in read_trace(run).events if isinstance(s.event, ThoughtStart)}
    return [t for t in range(1, max(starts)) if t not in starts]


@pytest.mark.parametrize("name", CELLS)
def test_a_change_to_what_is_so_already_changes_nothing(name: str, runs: Path, tmp_path: Path) -> None:
    run = run_of(runs, name)
    trace = read_trace(run)
    starts = sorted({s.t for s in trace.events if isinstance(s.event, ThoughtStart)})
    for step in {0, starts[len(starts) // 2], starts[-1], *quiet_steps(run)[:1]}:
        now = NOW[trace.start.world](at_step(run, step))
        branch, _ = changed(run, step, now, tmp_path / str(step))
        _, *rest = without_numbers(comparable(branch))
        reported = [line for line in rest if line["event"] == "world_change"]
        assert [(line["t"], line["changes"]) for line in reported] == [(step, now)]
        rest.remove(reported[0])
        assert rest == without_numbers(comparable(run))[1:]


MOVES: dict[str, dict[str, Any]] = {
    "cube": {"agents": {"agent_0": [3, 4]}, "blocks": {"0": {"position": [2, 6]}, "1": None}},
    "cube emcoop": {"blocks": {"0": {"weight": 1}}},
    "cube debate": {"blocks": {"3": {"weight": 2, "position": [1, 1]}}},
    "cube repair": {"blocks": {"0": None}, "agents": {"agent_1": [0, 0], "agent_2": [0, 1]}},
    "transport": {"items": {"0.5_0.5": ["target_red"], "0.5_1.5": [], "1.5_0.5": [], "1.5_1.5": ["box_red"]}},
    "crafter": {"cells": {"1,1": "table", "2,1": "diamond"}, "agents": {"agent_1": {"inventory": {"wood": 9}}}},
    "squeeze": {"rho": 0.2},
}


@pytest.mark.parametrize("name", MOVES)
def test_a_changed_world_is_brought_back_frame_by_frame(name: str, runs: Path, tmp_path: Path) -> None:
    run = run_of(runs, name)
    step = min(7, open_episode(run).steps // 2)
    before = at_step(run, step).ansi()
    branch, shown = changed(run, step, MOVES[name], tmp_path)
    trace = read_trace(branch)
    world = open_episode(branch).world()
    again = [world.ansi() for _ in replay(trace, world)]
    # The loop was looked at after the change, and after each step from then on.
    assert shown == again[step:]
    assert before not in shown[:1]
    found = verify_run(branch)
    assert (found.problems, found.unverified) == ([], [])
    page = orjson.loads(read_episode(branch).film.data(0))
    assert page["problems"] == []
    assert compute_metrics(trace)["outcome.steps_over_lower_bound"] is None


def test_what_happened_before_the_change_is_as_it_was_and_the_change_comes_before_any_thought(
    runs: Path, tmp_path: Path
) -> None:
    run = run_of(runs, "cube debate")
    step = next(s.t for s in read_trace(run).events if isinstance(s.event, ThoughtStart) and s.t > 3)
    branch, _ = changed(run, step, {"agents": {"agent_0": [0, 0]}}, tmp_path)
    events = read_trace(branch).events
    at = next(s.seq for s in events if isinstance(s.event, WorldChange))
    assert comparable(branch)[1:at] == comparable(run)[1:at]
    assert [s for s in events[:at] if isinstance(s.event, ThoughtStart) and s.t >= step] == []


def test_actions_whose_block_is_taken_away_end_before_the_next_step(runs: Path, tmp_path: Path) -> None:
    run = run_of(runs, "cube")
    step = quiet_steps(run)[0]
    plans: dict[str, Any] = {}
    walking: dict[int, str] = {}
    for stamped in read_trace(run).events:
        if stamped.t > step or (stamped.t == step and isinstance(stamped.event, StepTaken)):
            break
        if isinstance(stamped.event, PlanChange):
            plans.setdefault(stamped.event.plan, stamped.event.actions)
        elif isinstance(stamped.event, ActionChange):
            walking.pop(stamped.event.agent, None)
            if stamped.event.status == "started":
                walking[stamped.event.agent] = plans[stamped.event.plan][stamped.event.index]["block"]
    gone = next(iter(walking.values()))
    branch, _ = changed(run, step, {"blocks": {str(gone): None}}, tmp_path)
    ends = [s.event for s in read_trace(branch).events if isinstance(s.event, ActionChange) and s.t == step]
    assert {(e.agent, e.status, e.reason) for e in ends if e.status != "started"} >= {
        (agent, "failed", "block_gone") for agent, block in walking.items() if block == gone
    }


def test_the_change_names_the_branch_however_it_is_written(runs: Path) -> None:
    run = run_of(runs, "cube")
    texts = ['{"agents":{"agent_0":[3,4],"agent_1":[5,5]}}', '{ "agents": {"agent_1": [5, 5], "agent_0": [3, 4]}}']
    first, second = (plan_branch(run, "7", world=text).cell for text in texts)
    assert first.name == second.name
    assert first.origin is not None
    assert first.origin.told == ('--world {"agents":{"agent_0":[3,4],"agent_1":[5,5]}}',)
    assert plan_branch(run, "7").cell.name != first.name


REFUSED = {
    '{"agents": ': "not JSON",
    "[]": "not a JSON object that names something",
    "{}": "not a JSON object that names something",
    '{"walls": {}}': "walls: it cannot be changed; you can change agents, blocks",
    '{"agents": {"agent_9": [0, 0]}}': "agents.agent_9: no such agent",
    '{"agents": {"agent_0": [0, 99]}}': r"agent 0 at \(0, 99\) is outside the grid of side 20",
    '{"agents": {"agent_0": [0.5, 1]}}': r"agents.agent_0: \[0.5, 1\] is not a cell",
    '{"agents": {"agent_0": [0, 0], "agent_1": [0, 0]}}': "agent 1 at .* stands on agent 0",
    '{"blocks": {"0": {"position": [0, 19]}}}': "block 0 .* (goal column|leaves the grid)",
    '{"blocks": {"7": {"position": [0, 0], "weight": 1}}}': "blocks.7: no such block; a new block gets the id 3",
    '{"blocks": {"3": {"position": [0, 0]}}}': "blocks.3: a new block needs a position and a weight",
    '{"blocks": {"0": {"size": 2}}}': "blocks.0.size: it cannot be changed; you can change position, weight",
    '{"blocks": {"0": {"weight": 9}}}': "blocks.0.weight: a block of weight 9 needs 9 agents",
    '{"blocks": {"0": null, "1": null, "2": null}}': "this removes the last block",
}


@pytest.mark.parametrize("text", REFUSED)
def test_what_cannot_be_is_refused_with_its_place_before_anything_is_written(text: str, runs: Path) -> None:
    with pytest.raises(UserError, match=REFUSED[text]):
        plan_branch(run_of(runs, "cube"), "0", world=text)


def test_the_command_refuses_an_instant_within_a_conversation_and_leaves_nothing(
    quorum: Quorum, runs: Path, tmp_path: Path
) -> None:
    run = str(run_of(runs, "cube"))
    change = ["--world", '{"agents": {"agent_0": [0, 0]}}', "--out", str(tmp_path)]
    done = quorum("branch", run, "--at", "3:1", *change)
    assert done.returncode == 2
    assert "the world stands still while the team thinks" in done.stderr
    assert quorum("branch", run, "--at", "999", *change).returncode == 2
    assert list(tmp_path.iterdir()) == []
    done = quorum("branch", run, "--at", "3", *change)
    assert done.returncode == 0
    assert len(list(tmp_path.iterdir())) == 1


def test_a_change_that_the_world_refuses_now_is_reported_as_what_it_is(runs: Path, tmp_path: Path) -> None:
    branch, _ = changed(run_of(runs, "cube"), 7, MOVES["cube"], tmp_path)
    episode = open_episode(branch)
    outside = WorldChange({"agents": {"agent_0": [3, 94]}})
    events = [replace(s, event=outside) if isinstance(s.event, WorldChange) else s for s in episode.trace.events]
    again = replace(episode, trace=Trace(tuple(events)))
    with pytest.raises(UserError, match="step 7: the world now refuses a recorded change: agent 0 at"):
        list(again.replay(again.world()))


def test_the_canonical_text_is_json_again(runs: Path) -> None:
    branch = plan_branch(run_of(runs, "cube"), "7", world='{"blocks":{"0":null}}').cell.origin
    assert branch is not None
    assert orjson.loads(branch.told[0].removeprefix("--world ")) == {"blocks": {"0": None}}

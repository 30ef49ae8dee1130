"""Difference rewards are what the rules of the world say, whatever the team was."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping, Sequence
from math import exp, fsum
from pathlib import Path
from typing import Any

import pytest

from maeil import World
from maeil.metrics import METRICS, compute_metrics, compute_on_demand
from maeil.trace import Trace
from maeil.trace.events import StepTaken
from maeil.world import Transition
from quorum.configuration.cell import Cell
from quorum.episode.building import no_models
from quorum.episode.parts import build
from quorum.episode.runner import run_cell
from quorum.runs.recorded_episode import RecordedEpisode, open_episode
from quorum.what_if.blame.credit import difference_rewards, utility_without
from quorum.what_if.metrics.credit import Differences, Utility
from quorum_base.user_errors import UserError
from tests.branching import plan_branch
from tests.maeil.corridor import Corridor
from tests.maeil.scripted import Scripted, play, walk


def recorded(folder: Path, *keys: str) -> RecordedEpisode:
    return open_episode(run_cell(Cell.compose(keys), folder).folder)


def world_of(*keys: str) -> World:
    return build(Cell.compose(keys), no_models).world


def joints_of(episode: RecordedEpisode) -> list[Sequence[int]]:
    return [step.joint for step in episode.trace.of(StepTaken)]


def played(world: World, seed: int, joints: Sequence[Sequence[int]]) -> Utility:
    """Play joint actions from the start, as long as the world goes on."""
    world.reset(seed)
    rewards = []
    for joint in joints:
        done = world.step(joint)
        rewards.append(done.reward)
        if done.end:
            break
    return Utility(fsum(rewards), world.progress().reached, world.progress().score)


def test_where_agents_work_alone_their_credits_add_up_to_what_all_have_earned() -> None:
    """A corridor pays the share of the agents that walk; each walks for itself."""
    joints = [(1, 0, 1), (1, 1, 0), (1, 0, 0)]
    world = Corridor(3, length=9)
    whole, nothing = played(world, 0, joints), played(world, 0, [(0, 0, 0)] * 3)
    worth = [whole - utility_without(agent, world, 0, joints) for agent in range(3)]
    assert [agent.returned for agent in worth] == pytest.approx([3 / 3, 1 / 3, 1 / 3])
    assert [agent.score for agent in worth] == [3, 1, 1]
    assert fsum(agent.returned for agent in worth) == pytest.approx((whole - nothing).returned)


class Door(Corridor):
    """A world in which a step pays 1 where at least so many agents push at once."""

    needed = 2

    def step(self, joint: Sequence[int]) -> Transition:
        paid = super().step(joint)
        return Transition((), float(sum(joint) >= self.needed), paid.end)


@pytest.mark.parametrize(
    ("pushing", "worth"),
    [((1, 1, 0), [1, 1, 0]), ((1, 1, 1), [0, 0, 0]), ((1, 0, 0), [0, 0, 0])],
    ids=["nobody can be spared", "each can be spared", "too few"],
)
def test_who_is_needed_has_all_the_credit_and_who_can_be_spared_has_none(
    pushing: tuple[int, ...], worth: list[float]
) -> None:
    world = Door(3, length=9)
    whole = played(world, 0, [pushing])
    assert [(whole - utility_without(agent, world, 0, [pushing])).returned for agent in range(3)] == worth


def test_an_agent_that_idles_from_a_step_on_keeps_what_it_did_before() -> None:
    joints = [(1,), (1,), (1,)]
    world = Corridor(1, length=9)
    assert [utility_without(0, world, 0, joints, begin).returned for begin in (0, 1, 2, 3)] == [0, 1, 2, 3]


@pytest.mark.parametrize(
    "env", ["cube", "transport", "squeeze", "foraging", "overcooked env.layout=multiplayer_schelling"]
)
def test_an_agent_that_idles_anyway_is_worth_nothing(env: str) -> None:
    """Joint actions at random, of which one agent's are all idle."""
    world = world_of(*f"env={env}".split(), "n=4", "max_steps=40")
    draw = random.Random(f"idle {env}")
    for seed in range(5):
        world.reset(seed)
        (idle,) = {world.start_action(agent, world.idle).act() for agent in range(4)}
        lonely = seed % 4
        most = {"cube": 4, "transport": 25, "squeeze": 9, "foraging": 5}.get(env, 5)
        joints = [[idle if agent == lonely else draw.randint(0, most) for agent in range(4)] for _ in range(40)]
        whole = played(world, seed, joints)
        assert (whole - utility_without(lonely, world, seed, joints)).is_nothing


@pytest.mark.parametrize(
    "keys",
    [
        ("n=4", "seed=2", "max_steps=40"),
        ("n=3", "seed=1", "max_steps=30", "env.vocabulary=emcoop", "agents=naive", "topology=debate"),
        ("env=transport", "n=4", "seed=3", "env.difficulty=hard"),
        ("env=squeeze", "n=3", "max_steps=6", "agents=naive", "topology=debate"),
        ("env=foraging", "n=3", "seed=1", "agents=naive", "topology=debate"),
        ("env=overcooked", "seed=1", "agents=naive", "topology=debate", "env.soups=1"),
    ],
    ids=["cube", "cube of emcoop", "transport hard", "squeeze", "foraging", "overcooked"],
)
@pytest.mark.parametrize("begin", [0, 2])
def test_it_is_what_new_worlds_give_that_play_the_edited_joint_actions(
    keys: tuple[str, ...], begin: int, tmp_path: Path
) -> None:
    episode = recorded(tmp_path, *keys)
    joints = joints_of(episode)
    found = difference_rewards(episode, begin)
    metrics = compute_metrics(episode.trace)
    for agent, worth in enumerate(found):
        edited = [list(joint) for joint in joints]
        for joint in edited[begin:]:
            joint[agent] = 4 if "env=overcooked" in keys else 0  # doing nothing is primitive 0 in the other worlds
        without = played(episode.world(), episode.trace.start.seed, edited)
        assert metrics["outcome.return"] - without.returned == pytest.approx(worth.returned, abs=1e-9)
        assert metrics["outcome.reached"] - without.reached == worth.reached
        assert metrics["outcome.score"] - without.score == worth.score
    assert len(found) == len(episode.trace.start.agents)


def transported(board: Mapping[str, Any], joints: Sequence[Sequence[int]]) -> tuple[float, int]:
    """Play easy boards of transport by their published rules alone; return the sum of the rewards, and boxes placed.

    A move 1 + 5 colour + slot takes a box of the colour from the agent's cell to the one above, below, left or right,
    or onto a target there. A step pays the boxes placed, minus 1.
    """
    colours = ("blue", "red", "green", "purple", "orange")
    rows, cols = board["rows"], board["cols"]
    cells = [list(board["items"][f"{row + 0.5}_{col + 0.5}"]) for row in range(rows) for col in range(cols)]
    paid, placed = 0, 0
    for joint in joints:
        before = [list(cell) for cell in cells]
        step = 0
        for agent, primitive in enumerate(joint):
            if primitive == 0:
                continue
            colour, slot = colours[(primitive - 1) // 5], (primitive - 1) % 5
            row, col = divmod(agent, cols)
            if f"box_{colour}" not in before[agent]:
                continue
            if slot == 4:
                if f"target_{colour}" in before[agent]:
                    cells[agent].remove(f"box_{colour}")
                    cells[agent].remove(f"target_{colour}")
                    step += 1
                continue
            row, col = row + (-1, 1, 0, 0)[slot], col + (0, 0, -1, 1)[slot]
            if 0 <= row < rows and 0 <= col < cols:
                cells[agent].remove(f"box_{colour}")
                cells[row * cols + col].append(f"box_{colour}")
        placed, paid = placed + step, paid + step - 1
        if not any(item.startswith("box") for cell in cells for item in cell):
            break
    return paid, placed


@pytest.mark.parametrize("seed", range(6))
def test_in_transport_it_is_what_rules_written_down_by_another_hand_give(seed: int, tmp_path: Path) -> None:
    team = ("agents=naive", "topology=debate", "llm.poor=0.5") if seed % 2 else ("agents=heuristic",)
    episode = recorded(tmp_path, "env=transport", "n=8", f"seed={seed}", *team)
    board, joints = episode.trace.start.board, joints_of(episode)
    metrics = compute_metrics(episode.trace)
    assert transported(board, joints) == (metrics["outcome.return"], metrics["outcome.reached"])
    found = difference_rewards(episode)
    for agent, worth in enumerate(found):
        paid, placed = transported(board, [[0 if i == agent else m for i, m in enumerate(joint)] for joint in joints])
        assert worth.returned == pytest.approx(metrics["outcome.return"] - paid)
        assert worth.reached == worth.score == metrics["outcome.reached"] - placed
    assert any(worth.reached for worth in found)


def test_in_the_squeeze_it_is_what_the_curve_pays_for_the_sum_without_the_pick(tmp_path: Path) -> None:
    episode = recorded(tmp_path, "env=squeeze", "n=4", "max_steps=5", "seed=3", "agents=naive", "topology=debate")
    board = episode.trace.start.board

    def paid(x: int) -> float:
        return x * exp(-(((x - board["mu"]) / board["sigma"]) ** 2))

    joints = joints_of(episode)
    for agent, worth in enumerate(difference_rewards(episode)):
        expected = fsum(paid(sum(joint)) - paid(sum(joint) - joint[agent]) for joint in joints)
        assert worth.returned == pytest.approx(expected, abs=1e-9)


def test_a_world_that_was_changed_from_outside_is_changed_without_the_agent_too(tmp_path: Path) -> None:
    episode = recorded(tmp_path, "env=squeeze", "n=4", "max_steps=6", "seed=3", "agents=naive", "topology=debate")
    planned = plan_branch(episode.folder, "3", world='{"mu": 9.0, "sigma": 7.0}')
    branch = open_episode(run_cell(planned.cell, tmp_path / "b", start=planned.start).folder)
    board, joints = branch.trace.start.board, joints_of(branch)

    def paid(t: int, x: int) -> float:
        mu, sigma = (board["mu"], board["sigma"]) if t < 3 else (9.0, 7.0)
        return x * exp(-(((x - mu) / sigma) ** 2))

    assert compute_metrics(branch.trace)["outcome.return"] == pytest.approx(
        fsum(paid(t, sum(joint)) for t, joint in enumerate(joints))
    )
    for agent, worth in enumerate(difference_rewards(branch)):
        expected = fsum(paid(t, sum(joint)) - paid(t, sum(joint) - joint[agent]) for t, joint in enumerate(joints))
        assert worth.returned == pytest.approx(expected, abs=1e-9)


def test_a_change_that_the_world_refuses_without_an_agent_is_told(tmp_path: Path) -> None:
    """The run goes on with a block whose place is free; where agent_0 idles at its start, it stands there."""
    episode = recorded(tmp_path, "n=2", "seed=1", "max_steps=20")
    world = episode.world()
    start = episode.trace.start.board["agents"][0]
    next(t for t in episode.replay(world) if t == 6)
    change = json.dumps({"agents": {"agent_1": start}})
    planned = plan_branch(episode.folder, "6", world=change)
    branch = run_cell(planned.cell, tmp_path / "b", start=planned.start).folder
    with pytest.raises(UserError, match="the change of its world"):
        difference_rewards(open_episode(branch))


def test_the_metrics_are_made_of_the_differences() -> None:
    found = Differences([Utility(2.0, 1, 3), Utility(0.0, 0, 0), Utility(-1.0, 0, 0), Utility(0.0, 0, -1)])
    metrics = compute_on_demand(found)
    assert {name: value for name, value in metrics.items() if name != "credit.spread"} == {
        "credit.difference": 0.25,
        "credit.difference_reached": 0.25,
        "credit.difference_score": 0.5,
        "credit.least": -1.0,
        "credit.most": 2.0,
        "credit.idle_harmless": 0.25,
        "credit.idle_better": 0.25,
    }
    assert metrics["credit.spread"] == pytest.approx((4.75 / 4) ** 0.5)


def test_nothing_of_it_is_computed_unasked() -> None:
    asked = {name for name, one in METRICS.items() if one.on_demand}
    assert {name for name in METRICS if name.startswith(("credit.", "model.wasted_"))} == asked
    trace = Trace(tuple(play([Scripted(walk(2))], Corridor(1, length=2))))
    assert asked.isdisjoint(compute_metrics(trace))

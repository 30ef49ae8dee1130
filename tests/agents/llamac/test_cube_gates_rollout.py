"""The gates of CUBE against what really comes of joint plans: roll-outs of them in the middle of games."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest

from cube_env import SymbolicObservation, roll_out
from maeil import Plan, Thought, View
from quorum.agents.coordination.joint import Joint, Sight
from quorum.agents.skills.cube.gates import CubeGates
from quorum.agents.skills.cube.heuristic import GreedyTeam
from quorum.agents.skills.cube.plans import CUBE, EMCOOP, Wording, clear
from tests.agents.naive_team import cube
from tests.maeil.scripted import play


class Watched:
    """A mind of the greedy team that notes the boards on which it plans."""

    def __init__(self, mind, boards: dict[int, SymbolicObservation]) -> None:
        self.mind, self.boards = mind, boards

    async def think(self, view: View) -> Thought:
        self.boards.setdefault(view.t, view.observation)
        return await self.mind.think(view)


def boards(n: int, seed: int) -> list[SymbolicObservation]:
    """The boards of a greedy team's episode on which somebody needs a plan."""
    found: dict[int, SymbolicObservation] = {}
    play([Watched(mind, found) for mind in GreedyTeam(n).minds], cube(n), seed=seed)
    return list(found.values())


def greedy(board: SymbolicObservation, rng: np.random.Generator) -> dict[int, Plan]:
    team = GreedyTeam(len(board.agents))
    return {agent: team.plan(agent, board, stuck=False) for agent in range(len(board.agents))}


def at_random(board: SymbolicObservation, rng: np.random.Generator, wording: Wording = CUBE) -> dict[int, Plan]:
    """What agents do that know nothing of each other; one in four has no plan."""
    blocks = clear(board)
    return {
        agent: wording.delivery(blocks[rng.integers(len(blocks))], "at random", 20)
        for agent in range(len(board.agents))
        if rng.random() < 0.75
    }


def comes_to_its_end(board: SymbolicObservation, plans: Mapping[int, Plan]) -> bool:
    """Whether no action fails; in 14 sides of the grid every way, wait and push of one delivery is over."""
    return not roll_out(board, {agent: plan.actions for agent, plan in plans.items()}, 14 * board.side)


@pytest.mark.parametrize("planner", [greedy, at_random])
def test_joint_plans_that_work_are_rarely_rejected_and_most_of_the_others_are(planner):
    """At most one in fifty of those that work: ways and who stands in them are judged as they are now."""
    rng = np.random.default_rng(1)
    passed: dict[bool, list[bool]] = {True: [], False: []}
    for n, seed in [(4, seed) for seed in range(16)] + [(8, seed) for seed in range(8)]:
        for board in boards(n, seed):
            plans = planner(board, rng)
            rejections = CubeGates().scrutinize(Sight(0, board, ()), Joint(plans))
            passed[comes_to_its_end(board, plans)].append(not rejections)
    assert len(passed[True]) > 40
    assert np.mean(passed[True]) >= 0.98
    assert np.mean(passed[False]) < 0.3


def test_the_gates_judge_the_same_plans_alike_in_both_vocabularies():
    """But that a push of EmCoop's is more patient: it waits for as many steps as it pushes."""
    verdicts = []
    for n, seed in [(4, seed) for seed in range(8)] + [(8, seed) for seed in range(4)]:
        for board in boards(n, seed):
            found = []
            for wording in (CUBE, EMCOOP):
                plans = at_random(board, np.random.default_rng([seed, board.step]), wording)
                rejections = CubeGates().scrutinize(Sight(0, board, ()), Joint(plans))
                refused = {agent: CubeGates().confirm(agent, board, Joint(plans)) for agent in plans}
                found.append(
                    (
                        {(r.code, r.agents) for r in rejections if r.code != "V-SYNC"},
                        {agent: r.code for agent, r in refused.items() if r is not None},
                    )
                )
            assert found[0] == found[1]
            verdicts.append(bool(found[0][0]))
    assert 10 < sum(verdicts) < len(verdicts) - 10, "some are rejected, and some are not"

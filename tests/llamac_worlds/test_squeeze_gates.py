"""The gates of the squeeze: a pick for every agent, and the whole history for the critics."""

from __future__ import annotations

import pytest

from llamac_env import Pick, read_rounds
from llamac_env.squeeze.env import LISTED
from maeil import Plan
from quorum.agents.coordination.joint import Fault, Joint, Sight
from quorum.llamac_worlds.squeeze import SqueezeBriefing
from quorum.llamac_worlds.squeeze.rules import SqueezeGates
from tests.llamac_env.test_squeeze import world

GATES = SqueezeGates()


def sight(n: int = 3, rounds: int = 0) -> Sight:
    w = world(n=n)
    for number in range(rounds):
        w.step([number % 10] * (n - 1) + [0])
    return Sight(rounds, w.global_observation(), tuple(map(w.observe, range(n))))


def picks(*agents: int) -> dict[int, Plan]:
    return {agent: Plan((Pick(units=agent),)) for agent in agents}


@pytest.mark.parametrize(("suggested", "running"), [((0, 1, 2), ()), ((0, 2), (1,)), ((), (0, 1, 2))])
def test_a_pick_for_every_agent_passes(suggested, running):
    assert GATES.scrutinize(sight(), Joint(picks(*suggested), picks(*running))) == []


@pytest.mark.parametrize(
    ("suggested", "running", "missing"), [((0, 2), (), (1,)), ((), (), (0, 1, 2)), ((2,), (0,), (1,))]
)
def test_an_agent_without_a_pick_is_a_fault_of_grammar(suggested, running, missing):
    (found,) = GATES.scrutinize(sight(), Joint(picks(*suggested), picks(*running)))
    assert (found.code, found.agents) == ("V-TEAM", missing)
    assert GATES.rules[found.code].fault is Fault.GRAMMAR


def test_confirmation_passes_always():
    seen = sight()
    assert all(GATES.confirm(agent, seen.agents[agent], Joint(picks(agent))) is None for agent in range(3))


def test_the_state_has_all_rounds_and_no_epochs_are_kept_beside_it():
    seen = sight(3, 20)
    history = SqueezeBriefing().state(seen)["history"]
    assert history["sum"] == [2 * (number % 10) for number in range(20)]
    assert history["reward"][4] == pytest.approx(world().env.game.reward(8), rel=1e-5)
    assert read_rounds(SqueezeBriefing().state(seen)).history[4].mean == 8 / 3
    assert SqueezeBriefing().digest(seen) is None


@pytest.mark.parametrize(("n", "listed"), [(LISTED, True), (LISTED + 1, False)])
def test_every_pick_is_listed_for_small_teams_alone(n, listed):
    past = SqueezeBriefing().state(sight(n, 1))["history"]
    assert ("picks" in past) is listed
    assert {"sum", "reward"} <= set(past)

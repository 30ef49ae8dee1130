"""The greedy teams of the two LLaMAC worlds: whole episodes in the loop, and plans when the board is not as
foreseen."""

from __future__ import annotations

from statistics import mean

import pytest

from llamac_env import Move, Wait, curve, greedy_plan, load_instances, make_game, settings
from maeil.metrics import compute_metrics
from maeil.trace import read_trace
from quorum.llamac_worlds.squeeze.rules import SearchingTeam, next_try
from quorum.llamac_worlds.transport.moves import HandingTeam
from tests.llamac_env.test_squeeze import world as squeeze
from tests.llamac_env.test_transport_world import RED, world
from tests.maeil.scripted import play


def steps_of(w, seed):
    play(HandingTeam(w).minds, w, seed=seed)
    assert not w.env.board.boxes
    return w.env.steps


@pytest.mark.parametrize("where", settings(), ids=str)
def test_the_team_plays_the_frozen_boards_as_the_greedy_plan_says(where):
    w = world(difficulty=str(where.difficulty), n=where.agents, boards="frozen")
    found = [steps_of(w, instance.seed) for instance in load_instances(where)]
    assert found == [len(greedy_plan(instance.board)) for instance in load_instances(where)]
    optima = [instance.optimum for instance in load_instances(where)]
    assert all(steps >= optimum for steps, optimum in zip(found, optima, strict=True))
    assert mean(found) <= 1.15 * mean(optima)


@pytest.mark.parametrize("rule", ["final_state", "start_empty"])
def test_the_team_finishes_hard_boards_under_both_entry_rules(rule):
    w = world(difficulty="hard", entry_rule=rule)
    assert all(steps_of(w, seed) <= 6 for seed in range(20))


def test_the_team_plans_again_when_the_board_is_not_what_it_foresaw():
    w = world(RED)
    team = HandingTeam(w)
    first = team.plan(0, w.env.board)
    assert isinstance(first.actions[0], Move)
    assert isinstance(team.plan(1, w.env.board).actions[0], Wait)
    w.step([0, 0, 0, 0])  # nobody did as planned
    assert team.plan(0, w.env.board) == first
    joint = [
        controller.act()
        for agent in range(4)
        for controller in [w.start_action(agent, team.plan(agent, w.env.board).actions[0])]
    ]
    w.step(joint)
    assert team.plan(1, w.env.board).actions[0].to == "target_red"


@pytest.mark.parametrize("agents", [3, 5, 10, 20, 50])
@pytest.mark.parametrize("rho", [0.25, 0.5, 0.75])
def test_the_search_finds_the_best_sum_of_every_published_size(agents, rho):
    game = make_game(agents, rho=rho)
    found = {}
    rewards = []
    for _ in range(30):
        x = next_try(found, game.highest)
        assert 0 <= x <= game.highest
        found[x] = game.reward(x)
        rewards.append(found[x])
    judged = curve(game, rewards)
    assert (x, judged.last) == (game.best_x, 1.0)
    assert judged.rounds_to_close <= 12


def test_the_searching_team_ends_on_the_best_sum(tmp_path):
    w = squeeze(n=10, rho=None)
    play(SearchingTeam(10).minds, w, seed=4, path=tmp_path / "trace.jsonl")
    assert w.env.sums[-1] == w.env.game.best_x
    metrics = compute_metrics(read_trace(tmp_path / "trace.jsonl"))
    assert metrics["outcome.success"] is True
    assert (metrics["outcome.score"], metrics["outcome.steps"]) == (1.0, 30)

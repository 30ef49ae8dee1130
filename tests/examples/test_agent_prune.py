"""Learning a topology: the steps of AgentPrune, and that a fit finds its episodes again."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from agent_prune import EdgeLogits, Fitted, fit

from quorum.methods.learned import LearnedConfig
from quorum_base.user_errors import UserError

WORDS = ("n=2", "agents=negotiator", "max_steps=4", "engine.workers=1")


def rng():
    return np.random.default_rng(0)


def test_every_directed_edge_begins_at_one_half():
    logits = EdgeLogits(3)
    assert logits.edges == [(0, 1), (0, 2), (1, 0), (1, 2), (2, 0), (2, 1)]
    assert logits.draw(2000, rng()).mean(axis=0) == pytest.approx(0.5, abs=0.05)


def test_a_step_of_adam_moves_edges_by_a_tenth_towards_the_better_graph():
    logits = EdgeLogits(2)
    logits.learn(np.array([[True, False], [False, True]]), np.array([[1.0, 0.0]]))
    assert logits.logits == pytest.approx([0.1, -0.1])


def test_a_hard_board_counts_against_no_graph():
    easy, paired = EdgeLogits(3), EdgeLogits(3)
    drawn = easy.draw(4, rng())
    utilities = rng().random((2, 4))
    easy.learn(drawn, utilities)
    paired.learn(drawn, utilities - [[0.0], [100.0]])
    assert paired.logits == pytest.approx(easy.logits, abs=1e-6)


def test_the_lowest_quarter_of_what_is_left_is_pruned_and_never_drawn_again():
    logits = EdgeLogits(5)
    logits.logits = np.arange(20.0)
    assert logits.prune(0.25, rng()) == logits.edges[:5]
    assert logits.prune(0.25, rng()) == logits.edges[5:8]
    assert not logits.draw(50, rng())[:, :8].any()


def test_ties_are_pruned_at_random():
    dropped = [EdgeLogits(4).prune(0.25, np.random.default_rng(seed)) for seed in range(20)]
    assert len(set(map(tuple, dropped))) > 10


def test_edges_that_do_harm_are_pruned_before_others():
    logits, generator = EdgeLogits(8), rng()
    pruned = []
    for number in range(10):
        drawn = logits.draw(8, generator)
        harm = drawn[:, [a < 2 for a, _ in logits.edges]].sum(axis=1)
        boards = generator.normal(size=(4, 1))
        logits.learn(drawn, boards - harm + generator.normal(size=(4, 8)))
        if number % 5 == 4:
            pruned += logits.prune(0.25, generator)
    assert sum(a < 2 for a, _ in pruned) >= 12  # of 14; by chance 6 of the 24 that are pruned


def test_a_fit_plays_no_episode_again_and_comes_to_the_same(tmp_path: Path):
    before = fit(WORDS, tmp_path, rounds=2, boards=1, graphs=3)
    traces = {file: file.stat().st_mtime_ns for file in tmp_path.rglob("trace.jsonl")}
    assert fit(WORDS, tmp_path, rounds=2, boards=1, graphs=3) == before
    assert {file: file.stat().st_mtime_ns for file in tmp_path.rglob("trace.jsonl")} == traces
    assert 2 <= len(traces) <= 6


def test_what_is_written_is_what_the_topology_reads(tmp_path: Path):
    fitted = Fitted(3, [((0, 2), 0.5), ((2, 1), 1.5)], [(0, 1), (1, 0)], [0.25])
    (tmp_path / "edges.yaml").write_text(fitted.as_yaml())
    assert LearnedConfig(name="learned", rounds=1, edges=str(tmp_path / "edges.yaml")).edges == [(2, 1), (0, 2)]
    assert fitted.out_edges() == [(1, 1), (0, 1), (1, 0)]
    (tmp_path / "edges.yaml").write_text(Fitted(2, [], [(0, 1), (1, 0)], []).as_yaml())
    assert LearnedConfig(name="learned", rounds=1, edges=str(tmp_path / "edges.yaml")).edges == []


def test_a_wrong_configuration_is_refused_before_anything_is_played(tmp_path: Path):
    with pytest.raises(UserError, match="nn"):
        fit(("nn=2",), tmp_path)
    assert not list(tmp_path.iterdir())

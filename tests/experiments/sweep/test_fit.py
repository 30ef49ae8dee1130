"""Learning a topology: the steps of AgentPrune, and that a fit is found again as it was."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from maeil.user_errors import UserError
from quorum.experiments.common.locks import one_at_work
from quorum.experiments.sweep.fit.edge_logits import EdgeLogits
from quorum.experiments.sweep.fit.fitting import FitRequest, Fitted, fit_topology
from quorum.experiments.verbs.app import app
from quorum.topologies.learned import LearnedConfig
from tests.conftest import Quorum

WORDS = ("n=2", "agents=negotiator", "max_steps=4", "engine.workers=1")


def rng():
    return np.random.default_rng(0)


def probability(logits, edge):
    return 1 / (1 + np.exp(-logits.logits[logits.edges.index(edge)]))


def test_every_directed_edge_begins_at_one_half():
    logits = EdgeLogits(3)
    assert logits.edges == [(0, 1), (0, 2), (1, 0), (1, 2), (2, 0), (2, 1)]
    assert probability(logits, (2, 0)) == 0.5


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


def test_edges_that_nothing_tells_apart_are_pruned_by_lot():
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


def request(out: Path, **changes) -> FitRequest:
    return FitRequest(**{
        "words": WORDS, "metric": "outcome.return", "rounds": 2, "boards": 1, "draws": 3, "prune": 0.25, "out": out,
        **changes,
    })  # fmt: skip


@pytest.fixture(scope="module")
def fitted(tmp_path_factory) -> tuple[Path, Fitted]:
    out = tmp_path_factory.mktemp("fit")
    return out, fit_topology(request(out), print, quiet=True)


def test_a_fit_plays_no_episode_again_and_comes_to_the_same(fitted):
    out, before = fitted
    traces = {file: file.stat().st_mtime_ns for file in out.rglob("trace.jsonl")}
    again = fit_topology(request(out), print, quiet=True)
    assert again == before
    assert {file: file.stat().st_mtime_ns for file in out.rglob("trace.jsonl")} == traces
    assert len(traces) == before.episodes


def test_a_fit_that_a_command_is_at_work_on_is_not_played_by_another_one(fitted):
    out, before = fitted
    with one_at_work(before.folder, "fit", ""), pytest.raises(UserError, match="another quorum fit is at work"):
        fit_topology(request(out), print, quiet=True)


def test_a_file_in_the_place_of_its_folder_is_named(fitted, tmp_path):
    (tmp_path / fitted[1].folder.name).touch()
    with pytest.raises(UserError, match=r"--runs .*: nothing can be written to .*: Not a directory"):
        fit_topology(request(tmp_path), print, quiet=True)


def test_what_is_written_is_what_the_topology_reads(tmp_path):
    left = [((0, 2), 0.5), ((2, 1), 1.5)]
    fit = Fitted(3, "outcome.return", tmp_path, 8, True, left, [(0, 1), (1, 0)], [0.25])
    (tmp_path / "edges.yaml").write_text(fit.as_yaml())
    config = LearnedConfig(name="learned", rounds=1, edges=str(tmp_path / "edges.yaml"))
    assert config.edges == [(2, 1), (0, 2)]
    assert fit.out_edges() == [(1, 1), (0, 1), (1, 0)]
    assert "simulated: true" in (tmp_path / "edges.yaml").read_text()


def test_when_nothing_is_left_the_file_says_so(tmp_path):
    none = Fitted(2, "outcome.return", tmp_path, 8, True, [], [(0, 1), (1, 0)], [])
    (tmp_path / "edges.yaml").write_text(none.as_yaml())
    assert LearnedConfig(name="learned", rounds=1, edges=str(tmp_path / "edges.yaml")).edges == []


@pytest.mark.parametrize(
    ("changes", "reported"),
    [
        (
            {"metric": "outcome.retrun"},
            "--objective outcome.retrun: there is no such metric\nDid you mean 'outcome.return'",
        ),
        ({"metric": "decision.number"}, "neither higher nor lower"),
        ({"words": (*WORDS, "topology=ring")}, "topology=ring: the topology is what is learned"),
        ({"words": ("n=2", "agents=heuristic")}, "agents=heuristic does not talk"),
    ],
)
def test_what_cannot_be_learned_is_refused_before_anything_is_played(changes, reported, tmp_path):
    with pytest.raises(UserError) as refused:
        fit_topology(request(tmp_path, **changes), print, quiet=True)
    assert reported in str(refused.value)
    assert not list(tmp_path.iterdir())


def test_a_file_that_is_there_is_not_replaced_unasked(tmp_path):
    file = tmp_path / "edges.yaml"
    file.write_text("mine")
    with pytest.raises(UserError, match="there is such a file already"):
        CliRunner().invoke(app, ["fit", "topology", "n=2", "--out", str(file)], catch_exceptions=False)
    assert file.read_text() == "mine"


@pytest.mark.parametrize("link", ["fit", "fit/round_00"])
def test_a_fit_plays_nothing_behind_a_link(link: str, quorum: Quorum, tmp_path: Path) -> None:
    sizes = ("--rounds", "1", "--boards", "1", "--graphs", "2")
    words = ("fit", "topology", "agents=naive", "n=2", "max_steps=2", *sizes, "--quiet")
    assert quorum(*words).returncode == 0
    (fit,) = (tmp_path / "runs").iterdir()
    place = tmp_path / "runs" / link.replace("fit", fit.name)
    shutil.rmtree(place)
    (tmp_path / "outside").mkdir()
    place.symlink_to(tmp_path / "outside")
    done = quorum(*words, "--force")
    assert done.returncode == 2
    assert "it is a link, which is not followed" in done.stderr
    assert list((tmp_path / "outside").iterdir()) == []

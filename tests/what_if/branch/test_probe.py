"""A belief probe of a recorded run: the run stays as it is, each agent is asked once, and answers are scored."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from maeil.metrics import METRICS
from maeil.trace import read_trace
from maeil.trace.events import ThoughtEnd, ThoughtStart
from quorum.configuration.cell import Cell
from quorum.episode.expected import Rest
from quorum.episode.runner import run_cell
from quorum.runs.verify import verify_run
from quorum.what_if.beliefs import Beliefs
from quorum.what_if.extensions.probe import Belief
from quorum_base.user_errors import UserError
from tests.branching import plan_branch
from tests.conftest import Quorum

TEAMS = {
    "cube": "n=4 agents=naive topology=hierarchy max_steps=8",
    "transport": "env=transport n=4 agents=naive topology=debate max_steps=8",
    "crafter": "env=crafter_coop n=3 agents=naive topology=chain max_steps=10",
    "foraging": "env=foraging n=3 agents=naive topology=debate max_steps=10",
    "conversation": "n=3 agents=naive agents.memory=conversation topology=debate max_steps=6",
}


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    out = tmp_path_factory.mktemp("runs")
    return {name: run_cell(Cell.compose(team.split()), out).folder for name, team in TEAMS.items()}


def content(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in folder.iterdir() if file.is_file()}


def probe(run: Path, out: Path, at: str = "3", *edits: str) -> Path:
    planned = plan_branch(run, at, edits=edits, probe=True)
    return run_cell(planned.cell, out, start=planned.start).folder


def right(folder: Path) -> dict[str, float | None]:
    return {row["group"]: row["right"] for row in Beliefs.of(folder).to_json() if row["by"] == "fact"}


@pytest.mark.parametrize("team", TEAMS)
def test_the_run_stays_as_it_is_and_each_agent_answers_once(team: str, runs: dict[str, Path], tmp_path: Path) -> None:
    before = content(runs[team])
    folder = probe(runs[team], tmp_path)
    assert content(runs[team]) == before

    run, asked = read_trace(runs[team]), read_trace(folder)
    first = next(s.seq for s in asked.stamped(ThoughtStart) if "probe" in s.event.acts)  # type: ignore[attr-defined]
    thoughts = [s for s in asked.stamped(ThoughtStart) if s.seq >= first]
    assert Counter(s.event.agent for s in thoughts) == Counter(range(len(run.start.agents)))  # type: ignore[attr-defined]
    assert {s.t for s in thoughts} == {3}
    assert plan_branch(runs[team], "3", probe=True).rest() == Rest(len(thoughts))  # which its estimate rests on
    assert all(not s.event.refused for s in asked.stamped(ThoughtEnd) if s.seq >= first)  # type: ignore[attr-defined]
    assert {belief.agent for belief in asked.of(Belief)} == set(range(len(run.start.agents)))
    assert not any(belief.about == run.start.agents[belief.agent] for belief in asked.of(Belief))
    assert json.loads((folder / "metrics.json").read_text())["probe.answers"] == len(list(asked.of(Belief)))
    assert verify_run(folder).problems == []


def test_a_run_that_was_not_probed_has_no_such_metrics(runs: dict[str, Path]) -> None:
    assert any(name.startswith("probe.") for name in METRICS)
    assert not any(name.startswith("probe.") for name in json.loads((runs["cube"] / "metrics.json").read_text()))


def test_who_sees_the_board_is_right_about_it_and_draws_are_not(runs: dict[str, Path], tmp_path: Path) -> None:
    assert right(probe(runs["cube"], tmp_path))["place"] == 1
    poor = right(probe(runs["cube"], tmp_path, "3", "llm.poor=1.0"))
    assert poor["place"] is not None
    assert poor["place"] < 0.7


def test_a_probe_is_answered_again_by_its_own_record(runs: dict[str, Path], tmp_path: Path) -> None:
    folder = probe(runs["cube"], tmp_path / "first", "3", "llm.poor=0.5")
    again = probe(runs["cube"], tmp_path / "again", "3", "llm=replay", f"llm.run={folder}")
    assert [*read_trace(again).of(Belief)] == [*read_trace(folder).of(Belief)]


def test_answers_count_for_the_budget(runs: dict[str, Path], tmp_path: Path) -> None:
    spent = len((runs["cube"] / "calls.jsonl").read_text().splitlines())
    folder = probe(runs["cube"], tmp_path, "3", "budget.calls=1")
    assert read_trace(folder).end.outcome == "budget"
    assert spent > 1


REFUSED = {
    "inside a conversation": ("3:5", {}, "at the start of a step"),
    "with words": ("3", {"says": ["agent_0:hello"]}, "would have no effect"),
    "after the end": ("99", {}, "ends after step"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_probed_is_refused(case: str, runs: dict[str, Path]) -> None:
    at, more, reason = REFUSED[case]
    with pytest.raises(UserError, match=reason):
        plan_branch(runs["cube"], at, probe=True, **more)


def test_a_team_without_models_says_who_can_be_asked(tmp_path: Path) -> None:
    run = run_cell(Cell.compose(["n=2", "agents=heuristic", "max_steps=6"]), tmp_path).folder
    with pytest.raises(UserError, match="agents=heuristic cannot say what they believe") as refusal:
        plan_branch(run, "3", probe=True)
    assert "naive" in refusal.value.hint


def test_in_a_mixed_team_only_those_are_asked_who_can_be(tmp_path: Path) -> None:
    mixed = ["n=3", "agents=naive", "agents.members.agent_1=heuristic", "topology=debate", "max_steps=6"]
    folder = probe(run_cell(Cell.compose(mixed), tmp_path / "run").folder, tmp_path)
    assert {belief.agent for belief in read_trace(folder).of(Belief)} == {0, 2}


def test_a_probe_is_not_continued(runs: dict[str, Path], tmp_path: Path) -> None:
    folder = probe(runs["cube"], runs["cube"].parent)
    with pytest.raises(UserError, match="it is a probe"):
        plan_branch(folder, "3")


def test_the_command_shows_a_table_and_knows_the_calls_before(runs: dict[str, Path], quorum: Quorum) -> None:
    run = str(runs["cube"])
    planned = json.loads(
        quorum("branch", run, "--at", "2", "--at", "4", "--probe", "beliefs", "--dry-run", "--json").stdout
    )
    assert planned["answers"] == 8
    made = quorum("branch", run, "--at", "2", "--at", "4", "--probe", "beliefs", "--name", "beliefs")
    assert made.returncode == 0, made.stderr
    assert "fact   place" in made.stdout
    single = json.loads(quorum("branch", run, "--at", "2", "--probe", "beliefs", "--json", "--out", "one").stdout)
    assert {row["by"] for row in single["beliefs"]} == {"all", "fact", "agent", "hop", "step"}
    assert quorum("branch", run, "--at", "2", "--probe", "beliefs", "--control").returncode == 2

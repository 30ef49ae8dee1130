"""A re-run in memory is the branch that a command writes to disk: the same outcome, event by event."""

from __future__ import annotations

from pathlib import Path

import pytest

from maeil.trace import Instant, Stamped, read_trace
from maeil.trace.events import ThoughtStart
from maeil.trace.prefix import _content as content
from quorum.configuration.cell import Cell
from quorum.episode.runner import run_cell
from quorum.what_if.blame.answer import Question
from quorum.what_if.blame.decisions import decisions_of
from quorum.what_if.blame.ending import ending_of
from quorum.what_if.blame.reference import Reference
from quorum.what_if.blame.reruns import Correction, Reruns
from quorum.what_if.blame.search import blame
from quorum.what_if.branch.parent import Parent
from tests.branching import plan_branch

RUNS = {
    "cube": ("n=3 max_steps=40 seed=2 agents=heuristic agents.members.agent_2=always_right", ("heuristic",)),
    "transport": ("env=transport n=3 max_steps=8 agents=naive topology=dialogue", ("heuristic",)),
    "squeeze": ("env=squeeze n=3 max_steps=4 agents=naive topology=debate", ("llm.poor=1.0",)),
    "crafter": ("env=crafter_coop n=2 max_steps=12 agents=naive", ("heuristic",)),
    "coordinated": ("n=3 max_steps=20 agents=naive topology=centralized llm.poor=0.5", ("self",)),
}


@pytest.mark.parametrize("case", RUNS)
def test_a_rerun_in_memory_is_the_branch_on_disk(case: str, tmp_path: Path) -> None:
    words, by = RUNS[case]
    run = run_cell(Cell.compose(words.split()), tmp_path / "runs").folder
    reference = Reference.of(Parent.open(run), by)
    reruns = Reruns(reference, tmp_path / "paid")
    starts = [s for s in read_trace(run).events if isinstance(s.event, ThoughtStart)]
    middle = starts[len(starts) // 2]
    reported = next((one.correction() for one in decisions_of(reference).candidates if one.correction()), None)
    cases = [
        Correction(Instant(0), reference.players),
        Correction(Instant(middle.t, middle.t_hat), reference.players[:1]),
        *([reported] if reported is not None else []),
    ]
    for correction in cases:
        heard: list[Stamped] = []
        ending = reruns.play(correction, [heard.append])
        at = str(correction.at)
        edits = reference.edits(correction.minds)
        says = [f"{words.participant}:{words.text}" for words in correction.words if words.text is not None]
        plans = [f"{words.participant}:{words.actions}" for words in correction.words if words.text is None]
        planned = plan_branch(run, at, edits=edits, says=says, plans=plans)
        folder = run_cell(planned.cell, tmp_path / "branches", start=planned.start).folder
        trace = read_trace(folder)
        assert [content(stamped) for stamped in heard] == [content(stamped) for stamped in trace.events]
        found = ending_of(trace)
        assert (ending.outcome, ending.steps, ending.score) == (
            found.outcome,
            found.steps,
            found.score,
        )
        assert reruns.plan(correction).cell.hash == planned.cell.hash
    assert not (tmp_path / "paid").exists()


def test_a_branch_is_blamed_as_any_run(tmp_path: Path) -> None:
    run = run_cell(Cell.compose(["n=4", "seed=2", "max_steps=60"]), tmp_path / "runs").folder
    planned = plan_branch(run, "0", minds=["agent_2=always_right"])
    branch = run_cell(planned.cell, tmp_path / "runs", start=planned.start).folder
    found = blame(branch, Question(by=("heuristic",), margin=0))
    first = found.verdict.causes[0].decisions[0]
    assert (first.agent, first.t) == ("agent_2", 0)
    assert "the run succeeds when heuristic decides for agent_2 throughout" in found.verdict.reason

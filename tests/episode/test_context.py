"""A context that overflows, over real HTTP: the method's failure, scored, pooled, and paid for."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from maeil.trace import comparable
from quorum import compare
from quorum.agents.llm.protocol import Reply, Request
from quorum.agents.simulated import SimulatedSettings
from quorum.agents.simulated.model import SimulatedModel
from quorum.configuration.cell import Cell
from quorum.episode.runner import Result, run_cell
from quorum.runs.run_folder import RunFolder
from quorum.verbs.app import app
from tests.conftest import one_each
from tests.serving import served

TEAMS = {
    "naive": ("agents=naive", "topology=debate", "n=2", "max_steps=40"),
    "llamac": (
        "agents=llamac",
        "topology=centralized",
        "topology.leader=coordinator",
        "topology.rounds=3",
        "agents.epochs=null",
        "n=2",
        "max_steps=80",
    ),
}


class Counting(SimulatedModel):
    """The simulated model, which counts the tokens that it serves."""

    def __init__(self) -> None:
        plain = dict.fromkeys(SimulatedSettings.model_fields, 0.0)
        super().__init__(SimulatedSettings(**{**plain, "seed": 0}))
        self.prompts: list[int] = []
        self.written = 0

    async def complete(self, request: Request) -> Reply:
        reply = await super().complete(request)
        self.prompts.append(reply.usage.prompt)
        self.written += reply.usage.completion
        return reply


def _run(out: Path, brain: Counting, team: str, context: int | None) -> Result:
    with served(brain, context=context) as addresses:
        llm = ("llm=openai", f"llm.base_url={addresses.openai}", "llm.model=simulated", "llm.api_key_env=null")
        return run_cell(Cell.compose(one_each(*TEAMS[team], *llm, "llm.cache=false")), out)


@pytest.mark.parametrize("team", TEAMS)
def test_a_context_that_overflows_is_the_methods_failure_scored_pooled_and_paid_for(team: str, tmp_path: Path) -> None:
    whole = Counting()
    _run(tmp_path / "whole", whole, team, None)
    context = max(whole.prompts)
    assert context > whole.prompts[0], "prompts must grow for this to say something"
    brain = Counting()
    result = _run(tmp_path / "cut", brain, team, context)
    assert (result.outcome, result.metrics["outcome.success"]) == ("failure", False)
    assert result.reason.startswith("ContextExceeded: ")
    assert str(context) in result.reason, "the provider's own words"
    assert (result.metrics["model.prompt_tokens"], result.metrics["model.completion_tokens"]) == (
        sum(brain.prompts),
        brain.written,
    )
    row = RunFolder(result.folder).row()
    assert (row.pooled, row.outcome, row.error) == (True, "failure", "")
    failures = [json.loads(line).get("failure") for line in (result.folder / "calls.jsonl").read_text().splitlines()]
    assert [failure["kind"] for failure in failures if failure] == ["ContextOverflow"]
    again = run_cell(Cell.compose(one_each(*TEAMS[team], "llm=replay", f"llm.run={result.folder}")), tmp_path / "again")
    assert comparable(again.folder) == comparable(result.folder)


def test_the_command_says_why_and_a_model_that_never_answered_is_called_neither_real_nor_simulated(tmp_path) -> None:
    with served(Counting(), context=100) as addresses:
        llm = ("llm=openai", f"llm.base_url={addresses.openai}", "llm.model=simulated", "llm.api_key_env=null")
        done = CliRunner().invoke(app, ["run", "agents=naive", "n=1", *llm, "--out", str(tmp_path), "--quiet"])
        shown = CliRunner().invoke(app, ["run", "agents=naive", "n=1", "seed=1", *llm, "--out", str(tmp_path)])
    assert (done.exit_code, "ContextExceeded" in done.output) == (0, False)
    assert "the episode ended unfinished: ContextExceeded: agent_0: HTTP 400" in shown.stderr
    (tally,) = compare(tmp_path, by="agents").pool.tallies
    assert (tally.pooled, tally.models, tally.simulated) == (2, (), False)

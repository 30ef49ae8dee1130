"""Joint plans for large teams at default settings, through a server that cuts answers at their longest."""

from __future__ import annotations

from pathlib import Path

import pytest

from maeil.trace import comparable, read_trace
from maeil.trace.events import ThoughtEnd
from quorum.agents.simulated import SimulatedSettings
from quorum.agents.simulated.model import SimulatedModel
from quorum.configuration.cell import Cell
from quorum.episode.runner import run_cell
from tests.conftest import one_each
from tests.serving import served

BRAIN = SimulatedModel(SimulatedSettings(**{**dict.fromkeys(SimulatedSettings.model_fields, 0), "seed": 0}))
LED = ("topology=centralized", "topology.leader=coordinator")
TEAMS = {
    "llamac in CUBE": ("agents=llamac", *LED, "topology.rounds=3", "n=64", "max_steps=1"),
    "debaters in CUBE": ("agents=debaters", *LED, "topology.rounds=0", "agents.rounds=1", "n=64", "max_steps=1"),
    "llamac in the squeeze": ("agents=llamac", *LED, "topology.rounds=3", "env=squeeze", "n=50", "max_steps=2"),
}


@pytest.mark.parametrize("team", TEAMS)
def test_a_joint_plan_for_a_large_team_is_not_cut_and_can_be_replayed(team: str, tmp_path: Path) -> None:
    with served(BRAIN) as addresses:
        llm = ("llm=openai", f"llm.base_url={addresses.openai}", "llm.model=simulated", "llm.api_key_env=null")
        live = run_cell(Cell.compose(one_each(*TEAMS[team], *llm, "llm.cache=false")), tmp_path / "live")
    calls = [call for thought in read_trace(live.folder).of(ThoughtEnd) for call in thought.calls]
    assert (live.outcome, live.reason) == ("truncated", "")
    assert [(call["finish"], call["repairs"]) for call in calls] == [("stop", 0)] * len(calls)
    if "CUBE" in team:
        assert max(call["completion_tokens"] for call in calls) > 2048, "as many as an answer for one agent may have"
    again = run_cell(Cell.compose(one_each(*TEAMS[team], "llm=replay", f"llm.run={live.folder}")), tmp_path / "again")
    assert comparable(again.folder) == comparable(live.folder)

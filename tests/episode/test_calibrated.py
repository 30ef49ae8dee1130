"""Runs of the calibrated profiles say that their model is simulated and what its rates are fitted to, and they err."""

from __future__ import annotations

from pathlib import Path

import pytest

import quorum
from quorum.comparison.tables import runs_table

PROFILES = ("simulated_calibrated", "simulated_calibrated_mini")


@pytest.mark.parametrize("profile", PROFILES)
def test_the_profile_says_what_it_is_in_the_run_and_in_the_report(tmp_path: Path, profile: str) -> None:
    words = ("agents=naive", "n=2", "max_steps=5", f"llm={profile}")
    runs = [quorum.run(*words, f"seed={seed}", out=tmp_path) for seed in range(2)]
    assert "simulated (calibrated to " in runs[0].answering_models.text
    (row,) = runs_table(quorum.compare(str(tmp_path), by="topology", metrics="steps")).rows
    assert row[-1].startswith("simulated (calibrated to ")


@pytest.mark.parametrize("profile", PROFILES)
def test_zero_shot_agents_take_more_steps_than_the_heuristic_of_cubes_page(tmp_path: Path, profile: str) -> None:
    shared = ("n=2", "max_steps=200", f"llm={profile}")
    teams = (("agents=heuristic", "agents.teams=one"), ("agents=naive", "prompts=cube_code", "agents.max_actions=6"))
    ruled, prompted = (
        [quorum.run(*shared, *team, f"seed={seed}", out=tmp_path).metrics["outcome.steps"] for seed in range(3)]
        for team in teams
    )
    assert sum(prompted) > 1.2 * sum(ruled)

"""Runs of the calibrated profile say that their model is simulated, and what its rates are fitted to."""

from __future__ import annotations

from pathlib import Path

import quorum
from quorum.comparison.tables import runs_table


def test_the_profile_says_what_it_is_in_the_run_and_in_the_report(tmp_path: Path) -> None:
    words = ("agents=naive", "n=2", "max_steps=5", "llm=simulated_calibrated")
    runs = [quorum.run(*words, f"seed={seed}", out=tmp_path) for seed in range(2)]
    assert "simulated (calibrated to " in runs[0].answering_models.text
    (row,) = runs_table(quorum.compare(str(tmp_path), by="topology", metrics="steps")).rows
    assert row[-1].startswith("simulated (calibrated to ")

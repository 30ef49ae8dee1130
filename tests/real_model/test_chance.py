"""A small model delivers more than chance does: in CUBE alone, on the same boards, for as many answers."""

from __future__ import annotations

from math import comb
from pathlib import Path

import pytest

from quorum.configuration.cell import Cell
from quorum.episode.runner import run_cell
from tests.real_model.test_recorded import TEAM

pytestmark = pytest.mark.real_model
BOARDS = 12


@pytest.mark.xdist_group("chance and the real model")
def test_the_model_delivers_more_than_chance(server: str, tmp_path: Path) -> None:
    def delivered(*words: str) -> list[float]:
        cells = (Cell.compose([*TEAM, *words, f"seed={seed}"]) for seed in range(BOARDS))
        return [run_cell(cell, tmp_path).metrics["outcome.completion"] or 0 for cell in cells]

    real = delivered("llm=llamacpp", f"llm.base_url={server}", "llm.cache=false")
    chance = delivered("llm=random")
    better = sum(one > other for one, other in zip(real, chance, strict=True))
    by_luck = sum(comb(BOARDS, wins) for wins in range(better, BOARDS + 1)) / 2**BOARDS
    assert by_luck <= 0.05, (real, chance)

"""A small model against the two floors, in CUBE alone: on the same boards, for as many answers."""

from __future__ import annotations

from collections.abc import Sequence
from math import comb
from pathlib import Path

import pytest

from quorum.configuration.cell import Cell
from quorum.episode.runner import run_cell
from tests.real_model.test_recorded import TEAM

pytestmark = pytest.mark.real_model
BOARDS = 12


@pytest.mark.xdist_group("chance and the real model")
def test_the_model_delivers_more_than_chance_and_no_more_than_an_echo(server: str, tmp_path: Path) -> None:
    def delivered(*words: str) -> list[float]:
        cells = (Cell.compose([*TEAM, *words, f"seed={seed}"]) for seed in range(BOARDS))
        return [run_cell(cell, tmp_path).metrics["outcome.completion"] or 0 for cell in cells]

    real = delivered("llm=llamacpp", f"llm.base_url={server}", "llm.cache=false")
    chance = delivered("llm=random")
    echo = delivered("llm=echo")
    assert by_luck(real, chance) <= 0.05, (real, chance)
    assert by_luck(real, echo) > 0.05, ("it does more than copy the example: say so in README", real, echo)


def by_luck(one: Sequence[float], other: Sequence[float]) -> float:
    """Return the p-value of the one-sided sign test over the boards on which two teams differ."""
    better, worse = (sum(sign * (a - b) > 0 for a, b in zip(one, other, strict=True)) for sign in (1, -1))
    return sum(comb(better + worse, wins) for wins in range(better, better + worse + 1)) / 2 ** (better + worse)

"""What a run says about why it did not succeed is true of its trace, in every world and with every kind of mind.

`tests.maeil.claims` derives each claim again, from the lines of the trace alone.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from maeil.outcomes import Outcome
from quorum.configuration.cell import Cell
from quorum.episode.runner import run_cell
from tests.maeil.claims import check

WORLDS = {
    "cube": ["n=3", "max_steps=16"],
    "cube, a larger team": ["n=5", "max_steps=24", "topology=decentralized"],
    "foraging": ["env=foraging", "n=3", "max_steps=12"],
    "open world": ["env=crafter_coop", "n=3", "max_steps=12"],
    "overcooked": ["env=overcooked", "max_steps=20"],
    "transport": ["env=transport_hard", "n=4", "max_steps=8"],
    "squeeze": ["env=squeeze", "n=3", "max_steps=6"],
}
MINDS = {
    "heuristic": ["agents=heuristic"],
    "naive": ["agents=naive", "llm=simulated"],
    "naive, with faults, on a budget": ["agents=naive", "llm=simulated_faults", "budget.calls=9"],
    "chance": ["agents=naive", "llm=random"],
    "echo": ["agents=naive", "llm=echo"],
    "idle": ["agents=idle"],
}
CELLS = [
    (world, mind, [*words, *mindful, f"seed={seed}"])
    for seed in range(3)
    for world, words in WORLDS.items()
    for mind, mindful in MINDS.items()
]
"""126 cells."""


@pytest.mark.parametrize(
    "cells",
    [
        pytest.param(CELLS[::10], id="a tenth"),
        pytest.param(CELLS[5::10], id="another tenth"),
        *(
            pytest.param(CELLS[first::10], id=f"tenth {first}", marks=pytest.mark.conformance)
            for first in range(10)
            if first % 5
        ),
    ],
)
def test_each_claim_is_true_and_few_failures_stay_unexplained(
    cells: Sequence[tuple[str, str, list[str]]], tmp_path: Path
) -> None:
    failed = explained = caused = 0
    for world, mind, words in cells:
        result = run_cell(Cell.compose(words), tmp_path)
        if result.outcome == Outcome.SUCCESS:
            assert result.why == ()
            continue
        failed += 1
        explained += bool(result.why)
        caused += len(result.why) > 1
        lines = (result.folder / "trace.jsonl").read_bytes().splitlines()
        try:
            check([json.loads(line) for line in lines], [(one.t, one.words) for one in result.why])
        except AssertionError as error:
            raise AssertionError(f"{world}, {mind}: {[one.words for one in result.why]}: {error}") from error
    coverage = (
        f"{failed} of {len(cells)} runs failed, {explained} have a sentence, {caused} one about a task or the team"
    )
    print(coverage)  # noqa: T201 (it shows how far the assertions are from their bounds)
    assert failed >= 5
    assert explained == failed
    assert caused >= 0.6 * failed

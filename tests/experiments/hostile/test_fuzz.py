"""3,000 damaged runs through nine verbs: no traceback, no hang, no process beyond 1 GB, no secret shown.

They are `results`, `compare`, `report`, `metrics`, `replay`, `view`, `check`, `run llm=replay` and `sweep`; the page of
a sweep comes next to them.
"""

from __future__ import annotations

import json
import multiprocessing
import os
from pathlib import Path

import pytest

from tests.conftest import FORKS
from tests.experiments.hostile.damage import KINDS, SECRET
from tests.experiments.hostile.drive import drive, prepare

INPUTS = int(os.environ.get("FUZZ_INPUTS", "3000"))
TOGETHER = 15
"""Damaged runs in one sweep."""


@pytest.fixture(scope="session")
def good(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a finished sweep of two cells."""
    folder = tmp_path_factory.mktemp("good")
    process = FORKS.Process(target=prepare, args=(folder,))
    process.start()
    process.join()
    assert process.exitcode == 0
    return folder / "good"


def fuzz(good: Path, folder: Path, seed: int, kinds: list[str | None]) -> None:
    report, work = folder / "report.jsonl", folder / "work"
    work.mkdir()
    process: multiprocessing.process.BaseProcess = FORKS.Process(target=drive, args=(good, work, seed, kinds, report))
    process.start()
    process.join(600)
    if process.is_alive():
        process.kill()
    outcomes = [json.loads(line) for line in report.read_text().splitlines()]
    wrong = [f"{o['verb']}\n({o['inputs']})\n{o['wrong']}" for o in outcomes if o["wrong"]]
    assert not wrong, f"seed {seed}, {len(wrong)} times:\n\n" + "\n\n".join(wrong[:5])
    assert process.exitcode == 0, f"seed {seed}: the process ended after {outcomes[-1:]}"
    assert len(outcomes) == 5 * len(kinds) + 7
    for page in (*work.rglob("*.html"), *work.rglob("*.csv"), *work.rglob("*.md")):
        assert SECRET not in page.read_text(), page


def test_damage_is_reported_by_every_verb(good: Path, tmp_path: Path) -> None:
    fuzz(good, tmp_path, 0, sorted(KINDS)[::8])


@pytest.mark.conformance
def test_every_kind_of_damage_is_reported_by_every_verb(good: Path, tmp_path: Path) -> None:
    fuzz(good, tmp_path, 0, sorted(KINDS))


@pytest.mark.conformance
@pytest.mark.parametrize("seed", range(1, INPUTS // TOGETHER + 1))
def test_no_damage_brings_a_verb_down(good: Path, tmp_path: Path, seed: int) -> None:
    fuzz(good, tmp_path, seed, [None] * TOGETHER)

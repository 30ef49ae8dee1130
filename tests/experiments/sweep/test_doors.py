"""A folder of somebody else: what a sweep writes there stays there, and what it reads there are files."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from maeil.user_errors import UserError
from quorum.agents.llm.batches.journal import BATCHES, BatchJournal, orphans
from quorum.experiments.sweep.engines.locks import claim_of, sign_in, sweep_lock, wait_for_workers


def _take(folder: Path) -> None:
    with sweep_lock(folder):
        pass


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "secret").write_text("keep me")
    (tmp_path / "sweep").mkdir()
    return tmp_path / "sweep"


ATTACKS: dict[str, Callable[[Path], object]] = {
    "link": lambda file: file.symlink_to("../secret"),
    "pipe": os.mkfifo,
    "folder": Path.mkdir,
    "zeros": lambda file: file.symlink_to("/dev/zero"),
}


@pytest.mark.parametrize(
    ("name", "act"),
    [(".lock", _take), (".workers", _take), (".workers", sign_in), (".workers", wait_for_workers)],
    ids=["lock", "workers of a command", "worker", "wait"],
)
@pytest.mark.parametrize("attack", ATTACKS)
def test_a_lock_that_is_no_file_is_refused(attack: str, name: str, act: Callable[[Path], object], folder: Path) -> None:
    ATTACKS[attack](folder / name)
    with pytest.raises(UserError, match=rf"sweep/{name}: it is .*(link|no file)"):
        act(folder)
    assert (folder.parent / "secret").read_text() == "keep me"


@pytest.mark.parametrize("attack", ["link", "pipe", "zeros"])
def test_a_claim_replaces_what_has_its_name_and_reads_nothing_else(attack: str, folder: Path) -> None:
    ATTACKS[attack](folder / ".claim")
    assert claim_of(folder) == ""
    with sweep_lock(folder) as claim:
        assert claim_of(folder) == claim
    assert (folder.parent / "secret").read_text() == "keep me"


@pytest.mark.parametrize("act", [BatchJournal, lambda file: orphans(file.parent)], ids=["go on", "results"])
@pytest.mark.parametrize("attack", ATTACKS)
def test_a_journal_of_batches_that_is_no_file_is_refused(
    attack: str, act: Callable[[Path], object], folder: Path
) -> None:
    ATTACKS[attack](folder / BATCHES)
    with pytest.raises(UserError, match=rf"{BATCHES}: it is .*(link|no file)"):
        act(folder / BATCHES)
    assert (folder.parent / "secret").read_text() == "keep me"

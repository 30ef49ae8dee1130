"""A folder of somebody else: what a sweep writes there stays there, and what it reads there are files."""

from __future__ import annotations

import os
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from quorum.installation.provenance import CodeVersion, provenance
from quorum.more_providers.batches.journal import BATCHES, BatchJournal, orphans
from quorum.sweeps.command import choose_engine
from quorum.sweeps.engines.locks import claim_of, sign_in, sweep_lock, wait_for_workers
from quorum.sweeps.engines.protocol import SweepJob
from quorum_base.user_errors import UserError


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
    with pytest.raises(UserError, match=rf"sweep/{name}: it is .*(link|not a file)"):
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
    with pytest.raises(UserError, match=rf"{BATCHES}: it is .*(link|not a file)"):
        act(folder / BATCHES)
    assert (folder.parent / "secret").read_text() == "keep me"


def test_a_journal_of_batches_with_a_second_name_is_refused_before_anything_is_asked(folder: Path) -> None:
    (folder / BATCHES).hardlink_to(folder.parent / "secret")
    courier = choose_engine(["engine=batch"]).courier
    assert courier is not None
    with pytest.raises(UserError, match=rf"{BATCHES}: it has a second name"):
        courier.check(folder, ())
    assert (folder.parent / "secret").read_text() == "keep me"


@pytest.fixture
def cancelled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Serve a cluster with four jobs of this user; give the file that names what is cancelled."""
    asked = tmp_path / "cancelled"
    programs = {
        "squeue": 'case "$*" in *%k*) printf "11|mine\\n12|mine --nice\\n13|other\\n14|\\n";; esac',
        "scancel": f'echo "$@" >> {asked}',
    }
    for name, line in programs.items():
        program = tmp_path / "bin" / name
        program.parent.mkdir(exist_ok=True)
        program.write_text(f"#!/bin/sh\n{line}\n")
        program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")
    return asked


@pytest.mark.skipif(find_spec("submitit") is None, reason="pip install 'quorum-harness[slurm]'")
class TestSlurm:
    """Numbers of jobs in a folder of somebody else."""

    def test_only_jobs_that_carry_their_claim_are_cancelled(self, folder: Path, cancelled: Path) -> None:
        (folder / ".slurm").mkdir()
        record = folder / ".slurm" / "jobs"
        record.write_text("11 mine\n12 mine\n13 mine\n14 \n13\n15 other\n--user=me mine\n")
        slurm()._end_earlier_jobs(folder)
        assert cancelled.read_text() == "--quiet --state=PENDING 11 12\n"
        assert not record.exists()

    @pytest.mark.parametrize("attack", ATTACKS)
    def test_a_record_that_is_no_file_cancels_nothing(self, attack: str, folder: Path, cancelled: Path) -> None:
        (folder / ".slurm").mkdir()
        (folder / "secret").write_text("11 mine\n")  # where the link leads
        ATTACKS[attack](folder / ".slurm" / "jobs")
        with pytest.raises(UserError, match=r"jobs: not read: it is .*(link|not a file)"):
            slurm()._end_earlier_jobs(folder)
        assert not cancelled.exists()

    def test_jobs_leave_nothing_behind_a_link(self, folder: Path) -> None:
        (folder.parent / "outside").mkdir()
        (folder / ".slurm").symlink_to("../outside")
        job = SweepJob(folder, Path.cwd(), (), CodeVersion.of(provenance()), "claim")
        with pytest.raises(UserError, match=r"\.slurm: it is a link, which is not followed"):
            slurm("engine.executor=local")._executor(job)
        assert list((folder.parent / "outside").iterdir()) == []


def slurm(*words: str) -> Any:
    """Build the engine."""
    return choose_engine(["engine=slurm", *words])

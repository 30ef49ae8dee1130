"""The power goes out at any moment of a sweep: what is done is whole, and the same command ends as if nothing had been.

The sweep writes to an ext4 file system in a file. A copy of that file is the disk as a power cut would leave it: what
the kernel has not yet written is lost. The sweep stands still while it is copied, so that the copy is of one instant.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.conftest import Quorum, command, environment

CUTS = 20
CELLS = 48
GRID = ("sweep", "agents=naive", "topology=debate", "n=2", "max_steps=12", f"seed=range(0,{CELLS})", "engine.workers=2")
NAME = ("--name", "s")
_SIZE = 128 << 20

pytestmark = pytest.mark.conformance


@contextmanager
def mounted(image: Path, at: Path) -> Iterator[Path]:
    """Mount the file system in a file; skip where that cannot be done."""
    at.mkdir(exist_ok=True)
    done = subprocess.run(["mount", "-o", "loop", image, at], capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"a file system in a file cannot be mounted here: {done.stderr.strip()}")
    try:
        yield at
    finally:
        for _ in range(100):
            if subprocess.run(["umount", at], capture_output=True, check=False).returncode == 0:
                break
            time.sleep(0.1)


@pytest.fixture
def image(tmp_path: Path) -> Path:
    """Make an empty ext4 file system in a file."""
    if os.geteuid() != 0:
        pytest.skip("only root mounts file systems")
    if shutil.which("mke2fs") is None:
        pytest.skip("mke2fs is missing, of the package e2fsprogs")
    file = tmp_path / "disk"
    file.touch()
    os.truncate(file, _SIZE)
    subprocess.run(["mke2fs", "-q", "-F", "-t", "ext4", file], check=True)
    return file


@contextmanager
def still(group: int) -> Iterator[None]:
    """Let all processes of a group stand still."""
    os.killpg(group, signal.SIGSTOP)
    try:
        yield
    finally:
        os.killpg(group, signal.SIGCONT)


def copy_of_an_instant(image: Path, target: Path) -> None:
    """Copy a file that the kernel may write to: again, until it was the same before and after."""
    while True:
        data = image.read_bytes()
        if image.read_bytes() == data:
            break
    target.touch()
    os.truncate(target, len(data))
    with target.open("r+b") as file:
        for start in range(0, len(data), 1 << 16):
            part = data[start : start + (1 << 16)]
            if part.strip(b"\0"):
                file.seek(start)
                file.write(part)


def cut_the_power(image: Path, folder: Path, disk: Path, chance: random.Random) -> list[Path]:
    """Run a sweep on the disk, and copy the disk at random moments of it."""
    sweep = subprocess.Popen(
        command(*GRID, *NAME, "--quiet"), cwd=disk, env=environment(), start_new_session=True, stderr=subprocess.DEVNULL
    )
    copies = []
    try:
        for finished in sorted(chance.choices(range(CELLS), k=CUTS)):
            while sweep.poll() is None and len(named(disk)) < finished:
                time.sleep(0.002)
            time.sleep(chance.uniform(0.0, 0.01))
            if sweep.poll() is not None:
                break
            with still(sweep.pid):
                copies.append(folder / f"copy-{len(copies)}")
                copy_of_an_instant(image, copies[-1])
    finally:
        if sweep.poll() is None:
            os.killpg(sweep.pid, signal.SIGKILL)
        sweep.wait()
    return copies


def named(disk: Path) -> list[Path]:
    """Return the folders of cells that have their final name."""
    return [run for run in disk.glob("runs/s/cube*") if ".partial-" not in run.name]


def done(disk: Path) -> dict[str, int]:
    """Return the cells that have their final name, with the inode of each, and make sure that all of them are whole."""
    found = {}
    for run in named(disk):
        meta = json.loads((run / "meta.json").read_bytes())
        digests = {
            file.name: hashlib.sha256(file.read_bytes()).hexdigest()
            for file in run.iterdir()
            if file.name != "meta.json"
        }
        assert meta["files"] == digests, run.name
        assert set(digests) == {"calls.jsonl", "config.yaml", "metrics.json", "trace.jsonl"}
        assert json.loads((run / "metrics.json").read_bytes())["outcome.steps"] > 0
        assert json.loads((run / "trace.jsonl").read_bytes().splitlines()[-1])["event"] == "episode_end"
        found[run.name] = run.stat().st_ino
    return found


def test_a_power_cut_at_any_moment_loses_nothing_that_was_done(image: Path, tmp_path: Path, quorum: Quorum) -> None:
    chance = random.Random(16)
    assert quorum(*GRID, *NAME, "--quiet").returncode == 0
    wanted = (tmp_path / "runs" / "s" / "results.csv").read_bytes()
    copies: list[Path] = []
    with mounted(image, tmp_path / "mount") as disk:
        while len(copies) < CUTS:
            shutil.rmtree(disk / "runs", ignore_errors=True)
            (tmp_path / f"sweep-{len(copies)}").mkdir()
            copies += cut_the_power(image, tmp_path / f"sweep-{len(copies)}", disk, chance)
    numbers = []
    for copy in copies[:CUTS]:
        with mounted(copy, tmp_path / "mount") as disk:
            before = done(disk)
            numbers.append(len(before))
            again = quorum(*GRID, *NAME, "--json", "--out", str(disk / "runs"))
            assert again.returncode == 0, again.stderr
            summary = json.loads(again.stdout)
            assert summary["done_before"] == len(before)
            assert summary["damaged"] == {}
            after = done(disk)
            assert len(after) == CELLS
            assert before.items() <= after.items()
            assert (disk / "runs" / "s" / "results.csv").read_bytes() == wanted
            assert quorum("check", str(disk / "runs" / "s")).returncode == 0
        copy.unlink()
    assert len(set(numbers)) > CUTS // 4, numbers  # the cuts were at different moments

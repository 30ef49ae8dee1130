"""What an episode leaves is on disk before its folder has its name, and every file has its digest."""

from __future__ import annotations

import hashlib
import json
import os
import threading
from pathlib import Path
from typing import Any

import pytest

from quorum.configuration.cell import Cell
from quorum.configuration.plugins import load_plugins
from quorum.episode.runner import run_cell
from quorum.installation.extension_errors import FailedEpisode
from tests.conftest import PLUGINS


@pytest.fixture(scope="module", autouse=True)
def _plugins() -> None:
    load_plugins(["walker"])


def corridor(*arguments: str) -> Cell:
    return Cell.compose(["env=corridor", "agents=walker", "n=2", *arguments], PLUGINS / "corridor_configs")


def test_all_is_synced_before_the_rename_and_the_name_behind_it_beside_the_loop(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log: list[tuple[str, object]] = []
    threads: set[threading.Thread] = set()
    sizes: dict[object, int] = {}
    real_sync, real_rename = os.fsync, os.rename

    def fsync(handle: int) -> None:
        real_sync(handle)
        status = os.fstat(handle)
        log.append(("sync", status.st_ino))
        sizes[status.st_ino] = status.st_size
        threads.add(threading.current_thread())

    def rename(source: str, target: str, **folders: Any) -> None:
        real_rename(source, target, **folders)
        log.append(("rename", Path(target).name))
        threads.add(threading.current_thread())

    monkeypatch.setattr(os, "fsync", fsync)
    monkeypatch.setattr(os, "rename", rename)
    (tmp_path / "runs").mkdir()
    folder = run_cell(corridor(), tmp_path / "runs").folder
    named = log.index(("rename", folder.name))
    before, after = {found for _, found in log[:named]}, {found for _, found in log[named + 1 :]}
    for file in folder.iterdir():
        assert file.stat().st_ino in before, file.name
        assert sizes[file.stat().st_ino] == file.stat().st_size, file.name  # as it was when it was synced
    assert folder.stat().st_ino in before
    assert (tmp_path / "runs").stat().st_ino in after
    assert threading.main_thread() not in threads


@pytest.mark.parametrize("fails", [False, True])
def test_meta_json_holds_the_digest_of_every_other_file(tmp_path: Path, fails: bool) -> None:
    if fails:
        with pytest.raises(FailedEpisode, match="RuntimeError: the walker stumbled"):
            run_cell(corridor("agents.fails_at=2"), tmp_path)
        (folder,) = tmp_path.iterdir()
    else:
        folder = run_cell(corridor(), tmp_path).folder
    files = {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in folder.iterdir()}
    assert ("traceback.txt" in files) is fails
    del files["meta.json"]
    assert json.loads((folder / "meta.json").read_text())["files"] == files

"""Files are there whole or not at all, also after a power cut."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from typing import Any

import pytest

from quorum.storage.files import make_folder, sync, write_all
from quorum_base.user_errors import UserError


class Disk:
    """Notes what is brought to disk, by inode, and what is renamed, in order."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.log: list[tuple[str, object]] = []
        real_sync, real_rename, real_replace = os.fsync, os.rename, os.replace

        def fsync(handle: int) -> None:
            real_sync(handle)
            self.log.append(("sync", os.fstat(handle).st_ino))

        def rename(source: str, target: str, **folders: Any) -> None:
            real_rename(source, target, **folders)
            self.log.append(("rename", Path(target).name))

        def replace(source: str, target: str, **folders: Any) -> None:
            real_replace(source, target, **folders)
            self.log.append(("rename", Path(target).name))

        patch.setattr(os, "fsync", fsync)
        patch.setattr(os, "rename", rename)
        patch.setattr(os, "replace", replace)

    def place(self, entry: tuple[str, object]) -> int:
        """Return the place of the last such entry."""
        return max(place for place, one in enumerate(self.log) if one == entry)


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> Disk:
    return Disk(monkeypatch)


def inode(path: Path) -> int:
    return path.stat().st_ino


def test_a_file_is_on_disk_before_it_has_its_name_and_the_name_when_it_is_written(tmp_path: Path, disk: Disk) -> None:
    write_all(tmp_path, {"file": b"x"})
    named = disk.place(("rename", "file"))
    assert disk.place(("sync", inode(tmp_path / "file"))) < named < disk.place(("sync", inode(tmp_path)))


def test_every_new_folder_is_on_disk_in_the_one_above_it(tmp_path: Path, disk: Disk) -> None:
    make_folder(tmp_path / "a" / "b")
    assert (tmp_path / "a" / "b").is_dir()
    assert {found for _, found in disk.log} == {inode(tmp_path), inode(tmp_path / "a")}
    make_folder(tmp_path / "a" / "b")
    assert len(disk.log) == 2


def test_a_file_system_on_which_folders_cannot_be_synced_is_no_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()

    def fsync(handle: int) -> None:
        folder = stat.S_ISDIR(os.fstat(handle).st_mode)
        raise OSError(errno.EINVAL if folder else errno.EIO, "no")

    monkeypatch.setattr(os, "fsync", fsync)
    sync([tmp_path])
    with pytest.raises(OSError, match="no"):
        sync([tmp_path, tmp_path / "file"])


def test_where_nothing_can_be_written_nothing_has_to_be_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    monkeypatch.setattr(os, "open", refuse)
    monkeypatch.setattr(os, "unlink", refuse)
    with pytest.raises(UserError, match="cannot be written: Read-only file system"):
        write_all(tmp_path, {"file": b"x"})

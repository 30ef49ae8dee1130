"""Files inside an untrusted folder: no link leads out of it, and nothing but regular files is opened."""

from __future__ import annotations

import copy
import os
import pickle
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from quorum.storage.run_files import DamagedFile
from quorum_base.inside import NotAFile, list_inside, make_inside, move_inside, open_inside, remove_inside, write_inside
from quorum_base.user_errors import UserError

APPEND = os.O_RDWR | os.O_CREAT | os.O_APPEND


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder next to a secret."""
    (tmp_path / "secret").write_text("keep me")
    (tmp_path / "outside").mkdir()
    (tmp_path / "inside").mkdir()
    return tmp_path / "inside"


def _link(path: Path) -> None:
    path.symlink_to("../secret")


def _dangling(path: Path) -> None:
    path.symlink_to("../new")


def _socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(os.path.relpath(path))


NO_FILES: dict[str, Callable[[Path], None]] = {
    "a link": _link,
    "a link to nothing": _dangling,
    "a folder": Path.mkdir,
    "a pipe": os.mkfifo,
    "a socket": _socket,
}


@pytest.mark.parametrize("flags", [os.O_RDONLY, os.O_WRONLY, APPEND], ids=["read", "write", "append"])
@pytest.mark.parametrize("kind", NO_FILES)
def test_what_is_no_file_is_not_opened_and_is_not_waited_for(
    kind: str, flags: int, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)  # the path of a socket must be short
    NO_FILES[kind](folder / "name")
    with pytest.raises(NotAFile, match=r"it is (a link, which is not followed|not a file)"):
        open_inside(folder, "name", flags)
    assert {path.name for path in folder.parent.iterdir()} == {"inside", "outside", "secret"}
    assert (folder.parent / "secret").read_text() == "keep me"


def test_what_is_to_be_written_has_one_name(folder: Path) -> None:
    (folder / "name").hardlink_to(folder.parent / "secret")
    with pytest.raises(NotAFile, match="it has a second name"):
        open_inside(folder, "name", APPEND)
    os.close(open_inside(folder, "name", os.O_RDONLY))
    write_inside(folder, {"name": b"mine"})
    assert (folder.parent / "secret").read_text() == "keep me"


def test_a_file_is_no_folder(folder: Path) -> None:
    (folder / "file").touch()
    for act in ACTS.values():
        with pytest.raises(NotAFile, match="it is not a folder"):
            act(folder, "file/name")


ACTS: dict[str, Callable[[Path, str], object]] = {
    "open": lambda folder, name: open_inside(folder, name, APPEND),
    "write": lambda folder, name: write_inside(folder, {name: b"x"}),
    "remove": remove_inside,
    "make": lambda folder, name: make_inside(folder, f"{name}/new"),
    "move away": lambda folder, name: move_inside(folder, name, "mine"),
    "move there": lambda folder, name: move_inside(folder, "own", name),
}


@pytest.mark.parametrize("act", ACTS.values(), ids=ACTS)
def test_a_folder_that_is_a_link_is_not_entered(act: Callable[[Path, str], object], folder: Path) -> None:
    (folder.parent / "outside" / "file").write_text("keep me")
    (folder / "below").symlink_to("../outside")
    (folder / "own").mkdir()
    with pytest.raises(NotAFile, match="it is a link, which is not followed"):
        act(folder, "below/file")
    assert [path.name for path in (folder.parent / "outside").iterdir()] == ["file"]
    assert (folder.parent / "outside" / "file").read_text() == "keep me"


@pytest.mark.parametrize("name", ["../secret", "a/../../secret", "/etc/hostname", "", ".", "..", "a//b"])
def test_a_name_that_leads_out_of_the_folder_is_refused(name: str, folder: Path) -> None:
    with pytest.raises(ValueError, match="leads out of its folder"):
        open_inside(folder, name, os.O_RDONLY)


def test_writing_replaces_a_link_and_not_its_target(folder: Path) -> None:
    (folder / "name").symlink_to("../secret")
    write_inside(folder, {"name": b"mine"})
    assert not (folder / "name").is_symlink()
    assert (folder / "name").read_bytes() == b"mine"
    assert (folder.parent / "secret").read_text() == "keep me"
    assert [path.name for path in folder.iterdir()] == ["name"]


def test_removing_takes_the_name_of_a_link_and_not_its_target(folder: Path) -> None:
    (folder / "name").symlink_to("../secret")
    remove_inside(folder, "name")
    remove_inside(folder, "name")
    assert list(folder.iterdir()) == []
    assert (folder.parent / "secret").read_text() == "keep me"


def test_what_cannot_be_written_leaves_the_file_that_was_there(folder: Path) -> None:
    (folder / "name").mkdir()
    with pytest.raises(IsADirectoryError):
        write_inside(folder, {"name": b"mine"})
    assert [path.name for path in folder.iterdir()] == ["name"]


def test_files_are_appended_to_and_read_below_a_folder_that_a_link_reaches(folder: Path) -> None:
    (folder / "below").mkdir()
    (folder.parent / "way").symlink_to("inside")
    for text in (b"one ", b"two"):
        with os.fdopen(open_inside(folder.parent / "way", "below/file", APPEND), "ab") as file:
            file.write(text)
    with os.fdopen(open_inside(folder, "below/file", os.O_RDONLY), "rb") as file:
        assert file.read() == b"one two"
    assert (folder / "below" / "file").stat().st_mode & 0o777 == 0o666 & ~_umask()


def test_files_that_are_written_together_are_replaced_together_or_not_at_all(folder: Path) -> None:
    (folder / "below").symlink_to("../outside")
    (folder / "first").write_text("before")
    with pytest.raises(NotAFile) as raised:
        write_inside(folder, {"first": b"mine", "below/second": b"mine"})
    assert raised.value.filename == str(folder / "below/second")
    assert (folder / "first").read_text() == "before"
    assert {path.name for path in folder.iterdir()} == {"below", "first"}


def test_a_link_in_a_folder_that_is_removed_loses_its_name_alone(folder: Path) -> None:
    (folder / "below").mkdir()
    (folder / "below" / "away").symlink_to("../../outside")
    (folder.parent / "outside" / "file").write_text("keep me")
    remove_inside(folder, "below")
    assert list(folder.iterdir()) == []
    assert (folder.parent / "outside" / "file").read_text() == "keep me"


def test_a_folder_is_listed_unless_a_link_stands_for_it(folder: Path) -> None:
    make_inside(folder, "one/two")
    make_inside(folder, "one/three")
    (folder / "away").symlink_to("one")
    found = [list_inside(folder, name) for name in ("one", "one/two", "away", "away/two", "no")]
    assert found == [["three", "two"], [], [], [], []]


AGAIN = pytest.mark.parametrize(
    "again", [copy.copy, lambda error: pickle.loads(pickle.dumps(error))], ids=["copy", "pickle"]
)


@AGAIN
def test_a_copy_of_the_error_is_whole(again: Callable[[NotAFile], NotAFile], folder: Path) -> None:
    error = NotAFile("it is not a file", folder / "name")
    other = again(error)
    assert (str(other), other.message, other.hint) == (str(error), error.message, error.hint)
    assert (other.errno, other.strerror, other.filename) == (error.errno, error.strerror, error.filename)


@AGAIN
def test_a_copy_of_any_mistake_is_whole_whatever_its_class_is_made_of(
    again: Callable[[UserError], UserError], folder: Path
) -> None:
    for error in (UserError("what", "how"), DamagedFile(folder, "trace.jsonl", "it is cut off", "Copy it again.")):
        other = again(error)
        assert type(other) is type(error)
        assert (str(other), vars(other)) == (str(error), vars(error))


def _umask() -> int:
    before = os.umask(0)
    os.umask(before)
    return before

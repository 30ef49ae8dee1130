"""`--out` and `--export` write files: never over a device, a pipe or a link, nor over a result."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from quorum.configuration.cell import Cell
from quorum.episode.runner import run_cell
from quorum.storage.files import write_all
from quorum.storage.outputs import RUN_FILES, Output
from quorum_base.user_errors import UserError
from tests.conftest import Quorum

NO_FILES: dict[str, Callable[[Path], object]] = {
    "a link": lambda place: place.symlink_to("/etc/hostname"),
    "a link to nothing": lambda place: place.symlink_to("nowhere"),
    "a pipe": os.mkfifo,
    "a folder": Path.mkdir,
    "a device": lambda place: os.mknod(place, stat.S_IFCHR | 0o600, os.makedev(1, 3)),
}


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return run_cell(Cell.compose(["n=1", "max_steps=3"]), tmp_path_factory.mktemp("sweep")).folder


VERBS = {
    "report.html": ["report", "SWEEP", "--metric", "steps", "--out"],
    "film.gif": ["replay", "RUN", "--quiet", "--out"],
    "page.html": ["view", "RUN", "--export"],
    "estimates.csv": ["compare", "SWEEP", "--metric", "steps", "--quiet", "--out"],
}
"""The file that each verb writes, and its words, to which the place is added."""


def words(name: str, run: Path, place: Path) -> list[str]:
    places = {"SWEEP": str(run.parent), "RUN": str(run)}
    return [*(places.get(word, word) for word in VERBS[name]), str(place.parent if name.endswith(".csv") else place)]


@pytest.mark.parametrize("kind", NO_FILES)
@pytest.mark.parametrize("name", VERBS)
def test_no_verb_replaces_what_is_no_file(name: str, kind: str, sound: Path, quorum: Quorum, tmp_path: Path) -> None:
    place = tmp_path / name
    try:
        NO_FILES[kind](place)
    except PermissionError:
        pytest.skip("only root makes devices")
    before = place.lstat()
    done = quorum(*words(name, sound, place), "--force")
    assert done.returncode == 2
    assert done.stderr.startswith("error: --")
    assert "which Quorum does not replace" in done.stderr or "it is a folder" in done.stderr
    assert (place.lstat().st_ino, place.lstat().st_mode) == (before.st_ino, before.st_mode)


@pytest.mark.parametrize("name", VERBS)
def test_a_file_that_is_there_is_replaced_by_force_alone(
    name: str, sound: Path, quorum: Quorum, tmp_path: Path
) -> None:
    place = tmp_path / name
    place.write_text("mine")
    done = quorum(*words(name, sound, place))
    assert (done.returncode, place.read_text()) == (2, "mine")
    assert "Replace it with --force" in done.stderr
    assert list(tmp_path.iterdir()) == [place]
    assert quorum(*words(name, sound, place), "--force").returncode == 0
    assert place.read_bytes() != b"mine"


@pytest.mark.parametrize("name", ["meta.json", "trace.jsonl", "config.yaml", "metrics.json"])
def test_no_verb_overwrites_a_file_of_a_run(name: str, sound: Path, quorum: Quorum, tmp_path: Path) -> None:
    run = shutil.copytree(sound, tmp_path / "sweep" / sound.name)
    before = (run / name).read_bytes()
    for typed in (["view", run, "--export", run / name], ["report", run.parent, "--out", run / name]):
        done = quorum(*map(str, typed), "--force")
        assert (done.returncode, (run / name).read_bytes()) == (2, before)
        assert "this file belongs to a run, so Quorum does not overwrite it" in done.stderr


def test_the_files_of_a_run_are_all_known(sound: Path) -> None:
    assert {file.name for file in sound.iterdir()} <= RUN_FILES


def test_a_page_that_a_sweep_already_has_is_written_again(sound: Path, quorum: Quorum) -> None:
    for _ in range(2):
        assert quorum("report", str(sound.parent), "--metric", "steps").returncode == 0
        assert quorum("compare", str(sound.parent), "--metric", "steps", "--quiet").returncode == 0


@pytest.mark.parametrize("kind", ["a link", "a pipe"])
def test_no_file_of_our_own_is_written_through_a_link(kind: str, tmp_path: Path) -> None:
    place = tmp_path / "results.csv"
    NO_FILES[kind](place)
    with pytest.raises(UserError, match=f"it is {kind}, which Quorum does not replace"):
        write_all(tmp_path, {place.name: b"data"})
    assert os.path.lexists(place)


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="there is no folder"):
        Output(tmp_path / "no" / "page.html", "--export").check()

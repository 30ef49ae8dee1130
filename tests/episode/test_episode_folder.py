from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from quorum.episode.episode_folder import EpisodeFolder
from quorum_base.user_errors import UserError


def _finished(out: Path, text: str) -> Path:
    folder = EpisodeFolder(out, "cell")
    (folder.path / "trace.jsonl").write_text(text)
    return folder.finish()


def test_a_folder_has_its_name_only_when_it_is_whole(tmp_path: Path) -> None:
    folder = EpisodeFolder(tmp_path / "a" / "b", "cell")
    assert folder.path.name.startswith("cell.partial-")
    (folder.path / "trace.jsonl").write_text("x")
    assert folder.finish() == tmp_path / "a" / "b" / "cell" == folder.path
    assert [path.name for path in (tmp_path / "a" / "b").iterdir()] == ["cell"]


def test_nothing_is_overwritten_also_by_many_at_once(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda i: _finished(tmp_path, str(i)), range(40)))
    names = {path.name for path in tmp_path.iterdir()}
    assert names == {"cell", *(f"cell.{i}" for i in range(2, 41))}
    assert {(tmp_path / name / "trace.jsonl").read_text() for name in names} == {str(i) for i in range(40)}


def test_a_file_of_the_same_name_stays(tmp_path: Path) -> None:
    (tmp_path / "cell").write_text("mine")
    assert _finished(tmp_path, "x").name == "cell.2"
    assert (tmp_path / "cell").read_text() == "mine"


def test_what_is_discarded_leaves_nothing_and_takes_nothing_else(tmp_path: Path) -> None:
    EpisodeFolder(tmp_path / "a" / "b", "cell").discard()
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "a").mkdir()
    EpisodeFolder(tmp_path / "a" / "b", "cell").discard()
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


def test_a_place_that_cannot_be_written_is_reported_and_nothing_is_left(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    with pytest.raises(UserError, match=r"--out .*file/runs: results cannot be written there: Not a directory"):
        EpisodeFolder(tmp_path / "file" / "runs", "cell")
    assert (tmp_path / "file").read_text() == "mine"

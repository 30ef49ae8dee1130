"""A run is read from its folder alone, whoever made it: what is damaged is said, and nothing of it can do harm."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from maeil.user_errors import UserError
from quorum.experiments.results import Damaged, Row, read_results
from quorum.experiments.results.recorded_episode import rebuild_world
from quorum.experiments.results.run_folder import DamagedFile, RunFolder

META = {"hash": "h", "seed": 1, "outcome": "completed", "configuration": {"n": 2}}


@pytest.fixture
def run(tmp_path: Path) -> Path:
    folder = tmp_path / "run"
    folder.mkdir()
    write(folder / "meta.json", META)
    write(folder / "metrics.json", {"outcome.success": True})
    return folder


def write(file: Path, data: Any) -> None:
    file.write_text(json.dumps(data))


def test_the_configuration_is_that_of_meta_json_and_else_config_yaml(run: Path) -> None:
    (run / "config.yaml").write_text("hash: h\nn: 3\n")
    assert RunFolder(run).configuration() == {"n": 2}
    for meta in ({**META, "configuration": None}, "damaged"):
        write(run / "meta.json", meta)
        assert RunFolder(run).configuration() == {"n": 3}
    (run / "meta.json").unlink()
    assert RunFolder(run).configuration() == {"n": 3}


def test_links_are_followed_for_the_owner_and_not_for_a_server(run: Path, tmp_path: Path) -> None:
    (run / "metrics.json").rename(tmp_path / "outside.json")
    (run / "metrics.json").symlink_to(tmp_path / "outside.json")
    assert isinstance(RunFolder(run).row(), Row)
    refused = RunFolder(run, follow_links=False).row()
    assert refused == Damaged("run", "metrics.json: not read: it is a link, which is not followed")


def test_linked_runs_are_rows_for_the_owner_and_not_for_a_server(run: Path, tmp_path: Path) -> None:
    sweep = tmp_path / "sweep"
    sweep.mkdir()
    (sweep / "linked").symlink_to(run)
    assert [row.name for row in read_results(sweep).rows] == ["linked"]
    with pytest.raises(UserError, match="it holds no runs"):
        read_results(sweep, follow_links=False)


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir])
def test_what_is_no_file_is_damage_and_is_not_waited_for(run: Path, make: Any) -> None:
    (run / "meta.json").unlink()
    make(run / "meta.json")
    assert RunFolder(run).row() == Damaged("run", "meta.json: not read: it is no file")


@pytest.mark.parametrize(
    "content",
    [
        b"[" * 1_000_000,
        b"a: &a [*a]",
        b"\xff\xfe",
        b"- 1",
        b"{1: {2020-01-01: x}}",
    ],
    ids=["deep", "endless", "no text", "a list", "no JSON"],
)
def test_a_config_yaml_that_is_no_data_is_damage(run: Path, content: bytes) -> None:
    (run / "meta.json").unlink()
    (run / "config.yaml").write_bytes(content)
    with pytest.raises(DamagedFile, match=r"run/config\.yaml: damaged: ") as caught:
        RunFolder(run).configuration()
    assert "\n" not in str(caught.value)


def test_a_config_yaml_calls_nothing(run: Path, tmp_path: Path) -> None:
    (run / "meta.json").unlink()
    (run / "config.yaml").write_text(f"!!python/object/apply:os.mkdir ['{tmp_path / 'made'}']")
    with pytest.raises(DamagedFile, match="could not determine a constructor"):
        RunFolder(run).configuration()
    assert not (tmp_path / "made").exists()


@pytest.mark.parametrize(
    "env", [None, [], {"name": ["cube"]}, {"name": "os"}, {"name": "cube", "n": "many"}, {"name": "cube", "bogus": {}}]
)
def test_a_world_is_rebuilt_of_checked_values_or_not_at_all(env: Any) -> None:
    with pytest.raises(UserError, match=r"^env"):
        rebuild_world({"env": env})

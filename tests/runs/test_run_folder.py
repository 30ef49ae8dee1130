"""A run is read from its folder alone, whoever made it: what is damaged is said, and nothing of it can do harm."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from quorum.configuration.cell import Cell
from quorum.runs import Damaged, read_results
from quorum.runs.recorded_episode import rebuild_world
from quorum.runs.run_folder import RunFolder
from quorum.storage.run_files import DamagedFile
from quorum_base.user_errors import UserError
from tests.conftest import ROOT

WHOLE = {
    "cube": (ROOT / "cube_env" / "boards" / "staging_race.txt").read_text(),
    "crafter": "0.T\n.C.\n..1\n",
}
"""A board of two agents in each world that can be drawn."""
META = {"hash": "h", "seed": 1, "outcome": "success", "configuration": {"n": 2}}


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
    write(run / "meta.json", "damaged")
    assert RunFolder(run).configuration() == {"n": 3}
    (run / "meta.json").unlink()
    assert RunFolder(run).configuration() == {"n": 3}


@pytest.mark.parametrize("name", ["meta.json", "metrics.json"])
def test_a_link_among_the_files_is_not_followed(run: Path, tmp_path: Path, name: str) -> None:
    (run / name).rename(tmp_path / "outside.json")
    (run / name).symlink_to(tmp_path / "outside.json")
    assert RunFolder(run).row() == Damaged("run", f"{name}: not read: it is a link, which is not followed")


def test_a_run_that_leads_nowhere_is_named_and_not_passed_over(run: Path) -> None:
    for file in run.iterdir():
        file.unlink()
    (run / "meta.json").symlink_to("/nowhere")
    found = read_results(run.parent)
    assert [item.name for item in found.damaged] == ["run"]


def test_a_linked_run_is_a_named_gap(run: Path, tmp_path: Path) -> None:
    sweep = tmp_path / "sweep"
    shutil.copytree(run, sweep / "own")
    (sweep / "linked").symlink_to(run)
    found = read_results(sweep)
    assert [row.name for row in found.rows] == ["own"]
    assert found.damaged == (Damaged("linked", "it is a link, which is not followed"),)


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir])
def test_what_is_no_file_is_damage_and_is_not_waited_for(run: Path, make: Any) -> None:
    (run / "meta.json").unlink()
    make(run / "meta.json")
    assert RunFolder(run).row() == Damaged("run", "meta.json: not read: it is not a file")


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
    with pytest.raises(DamagedFile, match=r"the tag .*apply:os\.mkdir is not allowed"):
        RunFolder(run).configuration()
    assert not (tmp_path / "made").exists()


@pytest.mark.parametrize(
    "env", [None, [], {"name": ["cube"]}, {"name": "os"}, {"name": "cube", "n": "many"}, {"name": "cube", "bogus": {}}]
)
def test_a_world_is_rebuilt_of_checked_values_or_not_at_all(env: Any) -> None:
    with pytest.raises(UserError, match=r"^env"):
        rebuild_world({"env": env})


@pytest.mark.parametrize("world", ["cube", "crafter"])
@pytest.mark.parametrize("before", ["", "\n"])
def test_a_recorded_board_is_never_the_name_of_a_file(tmp_path: Path, world: str, before: str) -> None:
    cell = Cell.compose([f"env={world}", "n=2", "max_steps=3"])
    drawn = tmp_path / "board.txt"
    drawn.write_text(WHOLE[world])
    rebuild_world({"env": {**cell.plain["env"], "layout": WHOLE[world]}})
    with pytest.raises(UserError, match=r"^env"):
        rebuild_world({"env": {**cell.plain["env"], "layout": f"{before}{drawn}"}})
    named = Cell.compose([f"env={world}", "n=2", f"env.layout={drawn}"])
    assert "\n" in named.plain["env"]["layout"]

"""Folders of studies, really played, and bundles that were changed."""

from __future__ import annotations

import json
import tempfile
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from quorum.configuration.cell import Cell
from quorum.configuration.option_folders import ConfigDir
from quorum.episode.runner import run_cell
from quorum.study.bundle import write_bundle
from quorum.study.sheet import STUDY, write_sheet
from quorum_base.digests import digest
from tests.folders import write_plan

TEAM = ("n=2", "agents=naive", "max_steps=4")
ARMS = {
    "treatment": (*TEAM, "topology=debate"),
    "silent": (*TEAM, "topology=individual"),
    "idle": ("agents=idle", "n=2", "max_steps=4"),
}
FACTS = {
    "question": "talk",
    "metric": "outcome.steps",
    "words": list(ARMS["treatment"]),
    "treatment": "treatment",
    "design": {"boards": 2, "draws": 1, "until": None, "plan": None},
    "stopping": {"by": "design"},
    "findings": ["no effect above the noise floor"],
}


def play_study(
    folder: Path,
    arms: Mapping[str, Sequence[str]] = ARMS,
    boards: int = 1,
    config_dir: ConfigDir = (),
    **facts: Any,
) -> Path:
    """Play the arms of a study on some boards, and write its sheet and its bundle; return its folder."""
    cells = []
    for arm, words in arms.items():
        for seed in range(boards):
            cell = Cell.compose([*words, f"seed={seed}"], config_dir)
            run_cell(cell, folder)
            cells.append((cell.name, cell.hash, arm))
    write_plan(folder, cells, arms={arm: list(words) for arm, words in arms.items()})
    (folder / STUDY).write_text(json.dumps({**FACTS, "arms": {a: list(w) for a, w in arms.items()}, **facts}))
    write_sheet(folder)
    write_bundle(folder)
    return folder


def unpacked(bundle: Path, **changes: bytes) -> Path:
    """Unpack a bundle, with other contents of some files; return the folder."""
    folder = Path(tempfile.mkdtemp(dir=bundle.parent, prefix=".unpacked-"))
    with zipfile.ZipFile(bundle) as packed:
        packed.extractall(folder)
    for name, data in changes.items():
        (folder / name).write_bytes(data)
    return folder


def forged(bundle: Path, **changes: bytes) -> Path:
    """Unpack and change files like somebody who hides it: all digests are those of the changed files."""
    folder = unpacked(bundle, **changes)
    for file in folder.glob("*/meta.json"):
        meta = json.loads(file.read_bytes())
        meta["files"] = {own: digest((file.parent / own).read_bytes()) for own in meta["files"]}
        file.write_text(json.dumps(meta))
    return folder

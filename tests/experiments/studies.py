"""Folders of studies, really played, and bundles that were changed."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from maeil.digests import digest
from quorum.experiments.configuration.cell import Cell
from quorum.experiments.configuration.option_folders import ConfigDir
from quorum.experiments.episode.runner import run_cell
from quorum.experiments.study.bundle import MANIFEST, manifest_of, write_bundle
from quorum.experiments.study.sheet import SHEET, STUDY, write_sheet
from tests.experiments.folders import write_plan

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


def repacked(bundle: Path, **changes: bytes) -> Path:
    """Pack a bundle again with other contents of some files, and the old manifest."""
    target = bundle.with_name("changed.zip")
    with zipfile.ZipFile(bundle) as old, zipfile.ZipFile(target, "w") as new:
        for name in old.namelist():
            new.writestr(name, changes.pop(name, None) or old.read(name))
        for name, data in changes.items():
            new.writestr(name, data)
    return target


def forged(bundle: Path, **changes: bytes) -> Path:
    """Change files of a bundle like somebody who hides it: all digests are those of the changed files."""
    with zipfile.ZipFile(bundle) as old:
        files = {name: old.read(name) for name in old.namelist() if name != MANIFEST} | changes
    for name in [name for name in files if name.endswith("/meta.json")]:
        meta, run = json.loads(files[name]), name.rpartition("/")[0]
        meta["files"] = {own: digest(files[f"{run}/{own}"]) for own in meta["files"]}
        files[name] = json.dumps(meta).encode()
    listed = {name: (digest(data), len(data)) for name, data in files.items()}
    return repacked(bundle, **files, **{MANIFEST: manifest_of(listed, files[SHEET])})

"""Reading the folder of a run imports nothing that the folder names, unless the user has named it, too."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from quorum.runs.run_folder import RunFolder
from quorum.view.viewer.film import built_world
from tests.conftest import ROOT, Quorum

CANARY = """
from pathlib import Path
from zoo_games import Rescue
Path(__file__).with_name("imported").touch()
def parallel_env(**kwargs):
    return Rescue(**kwargs)
from os import system
"""
READING = {
    "view": ["view", "RUN", "--export", "page.html"],
    "replay": ["replay", "RUN"],
    "film": ["replay", "RUN", "--out", "film.gif"],
    "branch": ["branch", "RUN", "--at", "0", "topology=individual", "--quiet"],
    "blame": ["blame", "RUN", "--reference", "random", "--success", "score>=9"],
    "results": ["results", "runs"],
    "compare": ["compare", "runs"],
    "show failures": ["show", "failures", "RUN"],
}
WITHOUT = {"view", "results", "compare", "show failures"}
"""What needs no world; the page of `view` says how it is drawn."""


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a run of the canary, the canary itself, and the plug-ins that it needs."""
    from tests.conftest import quorum as fixture

    folder = tmp_path_factory.mktemp("canary")
    (folder / "canary.py").write_text(CANARY, encoding="utf-8")
    shutil.copy(ROOT / "tests" / "plugins" / "zoo_games.py", folder)
    quorum: Quorum = fixture.__wrapped__(folder)
    words = ["env=pettingzoo", "env.id=canary", "n=2", "agents=naive", "topology=debate", "max_steps=4"]
    done = quorum("run", *words, "--quiet")
    assert done.returncode == 0, done.stderr
    assert (folder / "imported").exists()
    return folder


@pytest.mark.parametrize("verb", READING)
def test_the_module_that_a_run_names_is_not_imported(verb: str, run: Path, quorum: Quorum, tmp_path: Path) -> None:
    shutil.copytree(run, tmp_path, dirs_exist_ok=True)
    (tmp_path / "imported").unlink()
    [folder] = (tmp_path / "runs").iterdir()
    words = [str(folder) if word == "RUN" else word for word in READING[verb]]
    done = quorum(*words)
    assert not (tmp_path / "imported").exists()
    said = built_world(RunFolder(folder), "pettingzoo")[1] if verb == "view" else done.stderr
    assert ("--plugin canary" in said) == (verb not in WITHOUT - {"view"})
    assert done.returncode == (0 if verb in WITHOUT else 2), done.stderr
    if verb not in WITHOUT:
        again = quorum(*words, "--plugin", "canary")
        assert again.returncode == 0, again.stderr
        assert (tmp_path / "imported").exists()


@pytest.mark.parametrize("named", ["os:system", "canary:system", "pettingzoo.env_registry.spec:_load_env_creator"])
def test_a_run_names_no_function_of_another_module(named: str, run: Path, quorum: Quorum, tmp_path: Path) -> None:
    shutil.copytree(run, tmp_path, dirs_exist_ok=True)
    [folder] = (tmp_path / "runs").iterdir()
    text = (folder / "meta.json").read_text(encoding="utf-8")
    meta = json.loads(text)
    meta["configuration"]["env"] |= {"id": named, "kwargs": {"command": "touch harm"}}
    (folder / "meta.json").write_text(json.dumps(meta), encoding="utf-8")
    done = quorum("replay", str(folder), "--plugin", "canary", "--plugin", "pettingzoo.env_registry.spec")
    assert (done.returncode, (tmp_path / "harm").exists()) == (2, False)
    assert "and only a run folder names it" in done.stderr or "--plugin os" in done.stderr

"""Code of a plug-in that calls `sys.exit` is reported like any other mistake in it, wherever it does so."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from tests.conftest import CORRIDOR, Quorum, command, environment

QUITS = "import sys\n\n\ndef quits(*_arguments, **_options):\n    sys.exit(0)\n\n\n"
BEFORE = {
    "it is imported": "import sys\nsys.exit(0)\n",
    "it is built": f"{QUITS}import walker\n\nwalker.Walker.__init__ = quits\n",
}
UNDER_WAY = {
    "a mind thinks": f"{QUITS}import walker\n\nwalker.Walker.think = quits\n",
    "the world takes a step": f"{QUITS}import corridor\n\ncorridor.Corridor.step = quits\n",
    "a metric is computed": f"{QUITS}from maeil.metrics import metric\n\nquits.__doc__ = 'It quits.'\n"
    "metric('quits.code')(quits)\n",
}
"""When the plug-in quits, and its code."""
WORDS = "it calls sys.exit(0), which would end Quorum: raise an error instead"


@pytest.mark.parametrize("when", BEFORE)
@pytest.mark.parametrize("verb", [["run"], ["sweep", "seed=0,1"]], ids=lambda words: words[0])
def test_before_an_episode_it_ends_the_command_with_its_line(
    when: str, verb: list[str], quorum: Quorum, tmp_path: Path
) -> None:
    (tmp_path / "quits.py").write_text(BEFORE[when])
    done = quorum(*verb, *CORRIDOR, "--plugin", "quits")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("error: ")
    assert f"quits.py:{BEFORE[when].splitlines().index('sys.exit(0)') + 1 if 'imp' in when else 5}" in done.stderr
    assert WORDS in done.stderr


@pytest.mark.parametrize("when", UNDER_WAY)
def test_during_an_episode_it_ends_that_as_an_error(when: str, quorum: Quorum, tmp_path: Path) -> None:
    (tmp_path / "quits.py").write_text(UNDER_WAY[when])
    done = quorum("run", *CORRIDOR, "--plugin", "quits")
    assert (done.returncode, done.stdout) == (1, "")
    assert "quits.py:5" in done.stderr
    assert WORDS in done.stderr
    (run,) = (tmp_path / "runs").iterdir()
    assert json.loads((run / "meta.json").read_text())["outcome"] == "error"
    assert "sys.exit(0)" in (run / "traceback.txt").read_text()


def test_the_cells_of_a_sweep_end_as_errors_one_by_one(quorum: Quorum, tmp_path: Path) -> None:
    (tmp_path / "quits.py").write_text(UNDER_WAY["the world takes a step"])
    done = quorum("sweep", "seed=0,1", *CORRIDOR, "--plugin", "quits", "--json")
    assert done.returncode == 1, done.stderr
    failed = json.loads(done.stdout)["failed"]
    assert len(failed) == 2
    assert all(WORDS in cell["reason"] for cell in failed)


def test_a_package_that_quits_when_its_entry_point_is_loaded_is_named(tmp_path: Path) -> None:
    info = tmp_path / "site" / "quits-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: quits\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[quorum.metrics]\nquits = quits\n")
    (info.parent / "quits.py").write_text(BEFORE["it is imported"])
    found = environment()
    found["PYTHONPATH"] += os.pathsep + str(info.parent)
    done = subprocess.run(
        command("run", *CORRIDOR), cwd=tmp_path, env=found, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert f"site/quits.py:2: {WORDS}" in done.stderr

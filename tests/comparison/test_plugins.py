"""A metric and a figure of one's own are one module, named by `--plugin` or declared by an installed package."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from quorum.comparison.figures.registry import FIGURES, ORDER
from tests.conftest import PLUGINS, ROOT, Quorum, command, environment
from tests.folders import real_sweep

PLUGIN = ("--plugin", "stagnation")
METRIC = "progress.stagnation"


@pytest.fixture
def sweep(tmp_path: Path) -> Path:
    """Run two cells without the plug-in."""
    real_sweep(tmp_path / "sweep", [("env=squeeze", f"n={n}", "max_steps=3") for n in (3, 5)])
    return tmp_path / "sweep"


def test_a_plugins_metric_and_figure_are_computed_compared_drawn_and_reported(sweep: Path, quorum: Quorum) -> None:
    runs = [str(folder) for folder in sweep.iterdir() if folder.is_dir()]
    asked = ("--metric", "stagnation", *PLUGIN)
    before = quorum("compare", str(sweep), *asked)
    assert before.returncode == 2
    assert f"--metric {METRIC}: the runs do not have it" in before.stderr

    assert quorum("results", *runs, "--write", *PLUGIN).returncode == 0
    without = quorum("compare", str(sweep), "--metric", METRIC)
    assert without.returncode == 2
    assert "name its module, --plugin MODULE" in without.stderr

    done = quorum("compare", str(sweep), *asked, "--by", "n", "--json", "--out", "files")
    assert done.returncode == 0, done.stderr
    first = json.loads(done.stdout)["estimates"][0]
    assert (first["metric"], first["better"], first["unit"]) == (METRIC, "lower", "")
    assert 0 <= first["mean"] <= 1
    files = {path.name for path in (sweep.parent / "files" / "figures").iterdir()}
    assert {f"{METRIC}.png", f"{METRIC}.svg", "runs_in_order.png", "runs_in_order.svg"} <= files
    assert f"{METRIC} ↓" in (sweep.parent / "files" / "tables.md").read_text().replace("\\", "")

    assert quorum("report", str(sweep), *asked, "--by", "n").returncode == 0
    page = (sweep / "report.html").read_text()
    assert f"{METRIC} of every run" in page
    assert f"quorum report {sweep} {' '.join(asked)} --by n" in page


def test_figures_come_in_one_order_whichever_satellite_is_imported_first() -> None:
    assert list(FIGURES)[: len(ORDER)] == list(ORDER)


@pytest.mark.conformance
def test_those_of_an_installed_package_need_no_option(sweep: Path, tmp_path: Path) -> None:
    info = tmp_path / "site" / "stagnation-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: stagnation\nVersion: 1.0\n")
    points = "[quorum.metrics]\nany = stagnation\n[quorum.figures]\nany = stagnation\n"
    (info / "entry_points.txt").write_text(points)
    variables = environment(PYTHONPATH=os.pathsep.join(map(str, (ROOT, PLUGINS, info.parent))))
    run = next(str(folder) for folder in sweep.iterdir() if folder.is_dir())
    done = subprocess.run(command("results", run, "--json"), env=variables, capture_output=True, text=True, check=True)
    assert METRIC in json.loads(done.stdout)[0]["metrics"]
    shown = "from quorum.comparison.figures import FIGURES; print(*FIGURES)"
    done = subprocess.run(
        [command()[0], "-c", shown], env=variables, capture_output=True, text=True, check=True, cwd=tmp_path
    )
    assert done.stdout.split()[-1] == "runs_in_order"

"""The result of the README is what the recorded sweep of the two students holds."""

from __future__ import annotations

import json
import re
import zipfile
from collections import defaultdict
from statistics import fmean

import pytest

from quorum.comparison import Question, compare
from quorum.runs import read_results
from quorum.runs.archives import unpacked
from tests.conftest import EXAMPLES, ROOT

SWEEP = EXAMPLES / "students.zip"
README = (ROOT / "README.md").read_text("utf-8")
ARMS = {"LISTENER": "listener", "DEAF": "deaf", "their teacher": "teacher", "echo": "echo", "chance": "chance"}
TOPOLOGIES = ("individual", "debate", "centralized", "decentralized")
ROWS = re.findall(rf"^\| ({'|'.join(ARMS)})\b[^|]*((?:\| [\d.]+ )+)\|$", README, re.MULTILINE)


def test_nothing_in_the_archive_names_a_place_of_the_machine_that_made_it() -> None:
    with zipfile.ZipFile(SWEEP) as packed:
        assert sum(member.file_size for member in packed.infolist()) < 100_000_000
        for member in packed.namelist():
            assert not re.search(rb"/(work|home|root|tmp)/", packed.read(member)), member


@pytest.mark.claims
def test_the_table_and_the_differences_of_the_readme_are_those_of_the_recorded_sweep() -> None:
    with unpacked([SWEEP]) as (folder,):
        results = read_results(folder)
        whole = compare([results], Question(metrics=["outcome.steps"], baseline="echo"))
        by = ("arm", "topology")
        teams = {
            arm: compare([results], Question(by, metrics=["outcome.steps"], baseline=f"{arm} / individual"))
            for arm in ("teacher", "listener")
        }
    cleared: defaultdict[tuple[str | None, object], list[float]] = defaultdict(list)
    steps: defaultdict[tuple[str | None, object], list[float]] = defaultdict(list)
    for row in results.rows:
        key = row.arm, row.factors["topology.name"]
        cleared[key].append(row.metrics["outcome.success"] or 0.0)
        steps[key].append(row.metrics["outcome.steps"] or 0.0)
    assert {len(values) for values in cleared.values()} == {20}
    assert [name for name, _ in ROWS] == [*ARMS]
    for name, figures in ROWS:
        *boards, mean = (float(figure) for figure in figures.split("|")[1:])
        assert boards == [sum(cleared[ARMS[name], topology]) for topology in TOPOLOGIES], name
        assert mean == round(fmean(steps[ARMS[name], "debate"]), 1), name
    for comparison, level, sign in (
        (whole, "listener", 1),
        (teams["teacher"], "teacher / debate", -1),  # steps that it saves
        (teams["listener"], "listener / debate", 1),
    ):
        (found,) = (one.mean for one in comparison.differences if one.level == level)
        low, high = sorted((sign * found.low, sign * found.high))
        assert f"{sign * found.value:.1f} steps [{low:.1f}, {high:.1f}]" in README, level


def test_the_effects_of_messages_in_the_readme_are_those_of_the_studies() -> None:
    studies = [EXAMPLES / "train" / "students" / f"{name}.study.json" for name in ("listener", "deaf")]
    effects = [json.loads(file.read_text("utf-8"))["effects"] for file in studies]
    shown = dict(re.findall(r"^\| [^|]*`(\w+)`[^|]* \| (.+ \| .+) \|$", README, re.MULTILINE))
    for effect in ("content", "shuffled", "truth"):
        found = [one[effect]["difference"] for one in effects]
        cells = [f"{one['value']:+.1f} [{one['low']:.1f}, {one['high']:.1f}]" for one in found]
        assert shown[effect] == " | ".join(cells), effect

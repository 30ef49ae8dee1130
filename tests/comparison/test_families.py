"""What an edit gains: branches are paired over the same beginning, on hand-made families and a real one."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from maeil.trace import Instant
from quorum.comparison import Comparison, Question, compare
from quorum.comparison.files import as_json, write_files
from quorum.comparison.findings import findings
from quorum.comparison.formats import tables_as_latex
from quorum.comparison.notes import notes
from quorum.comparison.report import page
from quorum.comparison.statistics.flips import sign_flip_interval
from quorum.comparison.tables import tables
from quorum.configuration.cell import Cell
from quorum.episode.runner import run_cell
from quorum.runs import as_csv, read_results
from quorum.what_if.branch.change import Change
from quorum.what_if.branch.parent import Parent
from quorum_base.user_errors import UserError
from tests.folders import HOSTILE, VERSIONS, outcome, write_run

POOR = "llm.poor=1"
TERSE = "prompts=terse"
SHORT = {"": "none", POOR: "poor", TERSE: "terse", HOSTILE: "odd"}


def branch(folder: Path, seed: int, change: str, steps: float, *, draw: int = 0, t: int = 5, **more: object) -> None:
    """Write a branch of the run `run-SEED`."""
    run = str(more.pop("run", f"run-{seed}"))
    version = more.pop("version", VERSIONS["quorum-harness"])
    name = f"{run}-at{t}-{SHORT[change]}-{draw}"
    made = {
        "hash": f"hash of {name}",
        "versions": {"quorum-harness": version},
        "branch": {
            "run": run, "t": t, "t_hat": None, "prefix": more.pop("prefix", f"{run} up to {t}"),
            "edits": [change] if change else [], "told": [], "draw": draw,
        },
    }  # fmt: skip
    write_run(folder, outcome(steps=steps, **more), name=name, meta=made, seed=seed)


def parent(folder: Path, seed: int, steps: float, **meta: object) -> None:
    name = f"run-{seed}"
    write_run(folder, outcome(steps=steps), name=name, meta={"hash": f"hash of {name}", **meta}, seed=seed)


def answer(*folders: Path, **question: object) -> Comparison:
    wanted = {"by": ["change"], "metrics": ["steps"], **question}
    return compare([read_results(folder) for folder in folders], Question(**wanted))


def sentences(comparison: Comparison) -> str:
    return "\n".join(notes(comparison))


def family(folder: Path, gains: Sequence[Sequence[float]], control: Sequence[Sequence[float]]) -> Path:
    """Write a branch for each draw of each run."""
    for seed, (edited, plain) in enumerate(zip(gains, control, strict=True)):
        for draw, steps in enumerate(edited):
            branch(folder, seed, POOR, steps, draw=draw)
        for draw, steps in enumerate(plain):
            branch(folder, seed, "", steps, draw=draw)
    return folder


def test_a_gain_is_taken_over_the_draws_of_one_instant_and_then_over_runs(tmp_path: Path) -> None:
    random = np.random.default_rng(1)
    edited, plain = random.normal(50, 9, (8, 3)).round(1), random.normal(40, 9, (8, 2)).round(1)
    found = answer(family(tmp_path, edited.tolist(), plain.tolist()))
    (gain,) = found.differences
    by_run = edited.mean(axis=1) - plain.mean(axis=1)
    reference = stats.permutation_test((by_run,), np.mean, permutation_type="samples", n_resamples=np.inf)
    assert (found.baseline, found.levels, found.unit) == ("none", ("none", POOR), "runs")
    assert gain.mean.value == pytest.approx(by_run.mean())
    assert gain.p == pytest.approx(reference.pvalue)
    assert (gain.mean.low, gain.mean.high) == pytest.approx(sign_flip_interval(by_run))
    assert (gain.mean.boards, gain.mean.runs, gain.strata) == (8, 40, 8)
    assert found.estimates["outcome.steps", POOR, None].value == pytest.approx(edited.mean())
    assert "The branches start at 8 branch points of 8 runs." in sentences(found)
    assert (
        "At 8 branch points, changes have unequal numbers of draws (2 to 3 draws): each counts with the mean"
        in sentences(found)
    )


def test_branch_points_of_one_run_count_once_together(tmp_path: Path) -> None:
    for t, steps in ((5, 10), (9, 30)):
        branch(tmp_path, 0, POOR, steps, t=t)
        branch(tmp_path, 0, "", 0, t=t)
    branch(tmp_path, 1, POOR, 50)
    branch(tmp_path, 1, "", 0)
    (gain,) = answer(tmp_path).differences
    assert (gain.mean.value, gain.mean.boards, gain.strata) == ((20 + 50) / 2, 2, 3)
    across = {item.point: item.mean.value for item in answer(tmp_path, across="at").differences}
    assert across == {5: (10 + 50) / 2, 9: 30}


def test_only_branches_of_the_same_prefix_and_instant_are_paired(tmp_path: Path) -> None:
    branch(tmp_path, 0, POOR, 10)
    branch(tmp_path, 0, "", 4)
    branch(tmp_path, 1, POOR, 10)
    branch(tmp_path, 1, "", 1_000, prefix="another beginning")
    branch(tmp_path, 2, POOR, 10, t=7)
    branch(tmp_path, 2, "", 1_000, t=8)
    found = answer(tmp_path)
    assert [(item.mean.value, item.mean.boards) for item in found.differences] == [(6, 1)]
    lacking = f"{POOR}: 2 of its 3 branch points lack branches without a change, and are left out. The runs themselves"
    assert lacking in sentences(found)


def test_a_run_stands_in_for_the_branch_without_a_change_that_it_equals(tmp_path: Path) -> None:
    branches, runs = tmp_path / "branches", tmp_path / "runs"
    for seed in range(2):
        for t in (5, 9):
            branch(branches, seed, POOR, 10, t=t)
        parent(runs, seed, 3)
    branch(branches, 0, "", 4, t=9)
    parent(runs, 7, 1_000)
    found = answer(branches, runs)
    assert [(item.mean.value, item.strata) for item in found.differences] == [((6.5 + 7) / 2, 4)]
    assert "At 3 branch points, the run itself serves as the branch without a change" in sentences(found)
    assert "Left out: 1 run (no branch, and no substitute for one)." in sentences(found)


def test_where_nothing_pairs_it_is_refused_with_the_way_out(tmp_path: Path) -> None:
    branch(tmp_path, 0, POOR, 10)
    branch(tmp_path, 1, "", 10)
    unpaired = r"no branch has a counterpart without a change.*\nAlso give the folder of their parent runs"
    with pytest.raises(UserError, match=unpaired):
        answer(tmp_path)
    branch(tmp_path, 2, TERSE, 10)
    with pytest.raises(UserError, match=r"--baseline prompts=terse: no other change has a branch point in common"):
        answer(tmp_path, baseline=TERSE)
    with pytest.raises(UserError, match=r"--baseline terse: there is no such level"):
        answer(tmp_path, baseline="terse")
    with pytest.raises(UserError, match=r"so --by cannot add topology\nGive the other factor as --across topology"):
        answer(tmp_path, by=["change", "topology"])
    write_run(tmp_path / "plain", outcome())
    with pytest.raises(UserError, match=r"--by change: none of the runs is a branch\nMake some"):
        answer(tmp_path / "plain")


def test_changes_can_be_held_against_another_one(tmp_path: Path) -> None:
    for seed in range(3):
        branch(tmp_path, seed, POOR, 10)
        branch(tmp_path, seed, TERSE, 4)
    (gain,) = answer(tmp_path, baseline=TERSE).differences
    assert (gain.level, gain.mean.value, gain.mean.boards) == (POOR, 6, 3)


def test_branches_of_one_run_have_an_interval_over_draws_that_says_nothing_of_other_runs(tmp_path: Path) -> None:
    edited, plain = np.array([9, 8, 9, 7, 12, 8, 11.0]), np.array([4, 6, 3, 1, 5, 2, 6.0])
    found = answer(family(tmp_path, [edited.tolist()], [plain.tolist()]))
    (gain,) = found.differences
    assert found.unit == "draws"
    assert gain.mean.boards == 7
    assert (gain.mean.low, gain.mean.high) == pytest.approx(sign_flip_interval(edited - plain))
    assert "They all start from one run: intervals are over draws" in sentences(found)
    assert "say nothing about other runs" in sentences(found)
    header, (row,) = tables(found)[-1].header, tables(found)[-1].rows
    assert header[:4] == ("change", "draws", "branch points", "gain")
    assert row[:3] == (POOR, "7", "1")


def test_draws_of_one_run_without_a_counterpart_are_not_paired(tmp_path: Path) -> None:
    found = answer(family(tmp_path, [[9, 8, 9, 7]], [[4, 6]]))
    (gain,) = found.differences
    assert (gain.mean.value, gain.mean.boards, gain.unpaired) == ((5 + 2) / 2, 2, 2)
    assert "unequal numbers of draws (2 to 4 draws): only draws that both have are paired" in sentences(found)


def test_continuations_without_chance_are_reported(tmp_path: Path) -> None:
    alike = answer(family(tmp_path / "alike", [[9, 9, 9]] * 7, [[4, 4, 4]] * 7))
    assert "All draws of a change agree in every metric" in sentences(alike)
    (gain,) = alike.differences
    assert (gain.mean.value, gain.mean.boards) == (5, 7), "three equal draws are no three boards"
    assert np.isnan(gain.mean.low), "all runs gain as much: nothing shows how they scatter"
    same = answer(family(tmp_path / "same", [[9] * 7], [[4] * 7]))
    assert [(item.mean.value, item.mean.boards, item.p) for item in same.differences] == [(5, 1, 1)], (
        "they prove nothing"
    )
    single = answer(family(tmp_path / "single", [[9]], [[4]]))
    assert "Each change has one draw at each branch point." in sentences(single)
    assert "Differences are over at most 1 draw: no p-value can be below 1" in sentences(single)
    assert np.isnan(single.differences[0].mean.low)


def test_intervals_of_shares_stay_within_their_bounds(tmp_path: Path) -> None:
    for seed in range(7):
        for draw in range(2):
            branch(tmp_path, seed, POOR, 1, draw=draw, completion=1.0, plans__coherence=1.0)
            branch(tmp_path, seed, "", 1, draw=draw, completion=0.0, plans__coherence=0.5 * draw)
    found = answer(tmp_path, metrics=["completion", "plans.coherence"])
    for item in found.differences:
        assert -1 <= item.mean.low < item.mean.high <= 1
    for estimate in found.estimates.values():
        assert 0 <= estimate.low < estimate.high <= 1


def test_changes_are_one_family_of_holms_correction(tmp_path: Path) -> None:
    for seed in range(7):
        branch(tmp_path, seed, POOR, 10 + seed)
        branch(tmp_path, seed, TERSE, 5 + seed % 3)
        branch(tmp_path, seed, "", 1)
    found = answer(tmp_path).differences
    assert [item.p for item in found] == [2 / 2**7] * 2
    assert [item.p_holm for item in found] == [4 / 2**7] * 2


def test_changes_at_other_branch_points_are_reported(tmp_path: Path) -> None:
    for seed in range(2):
        for t in (5, 9):
            branch(tmp_path, seed, "", 1, t=t)
        branch(tmp_path, seed, POOR, 2)
        branch(tmp_path, seed, TERSE, 2, t=9)
    assert "Not all changes were made at the same branch points" in sentences(answer(tmp_path))


def test_a_parent_of_another_version_is_reported_and_is_no_control_unasked(tmp_path: Path) -> None:
    branches, runs = tmp_path / "branches", tmp_path / "runs"
    branch(branches, 0, POOR, 10, version="2.0.0")
    parent(runs, 0, 3)
    with pytest.raises(UserError, match="different versions of the code"):
        answer(branches, runs)
    assert "run-0 has 1.0.0, its branches have 2.0.0" in sentences(answer(branches, runs, accept_versions=True))
    branch(branches, 0, "", 4, version="2.0.0")
    found = answer(branches, runs)
    assert "run-0 has 1.0.0, its branches have 2.0.0" in sentences(found)
    assert found.differences[0].mean.value == 6


def test_branches_are_compared_by_their_changes_when_nothing_is_said(tmp_path: Path) -> None:
    for seed in range(2):
        branch(tmp_path, seed, POOR, 10)
        parent(tmp_path, seed, 3)
    assert answer(tmp_path, by=()).by == ("change",)
    write_run(tmp_path, outcome(), seed=5)
    assert answer(tmp_path, by=()).by == ("topology.name",)


def test_runs_of_one_seed_are_one_board_of_their_branches(tmp_path: Path) -> None:
    for seed in range(2):
        for number, steps in enumerate((4, 8)):
            branch(tmp_path, seed, POOR, steps, run=f"run-{seed}-{number}")
            branch(tmp_path, seed, "", 0, run=f"run-{seed}-{number}")
    found = answer(tmp_path)
    assert found.unit == "boards"
    assert [(item.mean.value, item.mean.boards, item.strata) for item in found.differences] == [(6, 2, 4)]


def test_every_form_of_the_answer_has_the_gain(tmp_path: Path) -> None:
    rows = [[20 + 3 * seed, 22 + seed] for seed in range(7)]
    folder = family(tmp_path / "family", rows, [[10, 12]] * 7)
    found = answer(folder)
    shown, remarks = tables(found), notes(found)
    assert shown[-1].title == "outcome.steps ↓: gain over branches without a change"
    data = json.loads(json.dumps(as_json(found, remarks)))
    (gain,) = data["differences"]
    assert (gain["change"], gain["baseline"], gain["over"], gain["boards"], gain["branch_points"]) == (
        POOR, "none", "runs", 7, 7,
    )  # fmt: skip
    assert gain["difference_low"] < gain["difference"] < gain["difference_high"]
    latex = tables_as_latex(shown, remarks, 1)
    assert "gain over branches without a change" in latex
    files = {file.name for file in write_files(found, shown, remarks, tmp_path / "out", force=False)}
    assert {"differences.csv", "tables.tex", "figure.png"} <= files
    assert "mean gain over branches without a change" in (tmp_path / "out" / "figure.tex").read_text()
    assert "Steps: difference from branches without a change: llm.poor=1 is worse" in " ".join(findings(found))
    html = page(read_results(folder), found, tmp_path / "report.html", "", {})
    assert "gain over branches without a change" in html


def test_an_untrusted_change_is_harmless(tmp_path: Path) -> None:
    for seed in range(6):
        branch(tmp_path, seed, HOSTILE, 10 + seed)
        branch(tmp_path, seed, "", 3)
    found = answer(tmp_path)
    html = page(read_results(tmp_path), found, tmp_path / "report.html", "", {})
    assert "<script>alert" not in html
    assert write_files(found, tables(found), notes(found), tmp_path / "out", force=False)


def test_results_have_where_a_branch_comes_off_and_what_is_another_in_it(tmp_path: Path) -> None:
    branch(tmp_path, 0, POOR, 10, draw=2, t=7)
    branch(tmp_path, 0, "", 10, t=7)
    parent(tmp_path, 0, 3)
    rows = {row["name"]: row for row in csv.DictReader(io.StringIO(as_csv(read_results(tmp_path))))}
    wanted = ("branch", "parent", "at", "change", "draw")
    assert [rows["run-0-at7-poor-2"][key] for key in wanted] == ["run-0:7", "run-0", "7", POOR, "2"]
    assert rows["run-0-at7-none-0"]["change"] == "none"
    assert [rows["run-0"][key] for key in wanted] == [""] * 5


def test_a_real_family_gains_what_its_runs_say(tmp_path: Path) -> None:
    """Branch real runs: the run itself and its branch without a change are one control."""
    runs, branches = tmp_path / "runs", tmp_path / "branches"
    steps: dict[int, tuple[float, float]] = {}
    for seed in range(2):
        cell = Cell.compose(["env=squeeze", "n=3", "agents=naive", "topology=debate", "max_steps=4", f"seed={seed}"])
        run = Parent.open(run_cell(cell, runs).folder)
        values = []
        for edits in ([], ["llm.poor=1.0"]):
            planned = run.branch(Instant(2), Change(edits))
            done = run_cell(planned.cell, branches, start=planned.start)
            values.append(float(json.loads((done.folder / "metrics.json").read_text())["outcome.score"]))
        steps[seed] = values[0], values[1]
    wanted = np.mean([edited - plain for plain, edited in steps.values()])
    found = answer(branches, metrics=["outcome.score"])
    assert found.differences[0].mean.value == pytest.approx(wanted)
    for folder in sorted(branches.iterdir()):
        if not json.loads((folder / "meta.json").read_text())["branch"]["edits"]:
            folder.rename(tmp_path / folder.name)
    again = answer(branches, runs, metrics=["outcome.score"])
    assert again.differences[0].mean.value == pytest.approx(wanted)

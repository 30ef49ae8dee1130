"""What others have published, next to the runs of a sweep."""

from __future__ import annotations

from pathlib import Path

from quorum.comparison import Question, compare
from quorum.comparison.figures import values
from quorum.runs import read_results
from quorum.sweeps.plan import plan
from quorum.sweeps.sweep_folder import SweepFolder
from tests.folders import outcome, write_plan, write_run


def test_published_values_are_drawn_against_the_factor_that_both_have(tmp_path: Path) -> None:
    cells = [
        (f"run-{n}", write_run(tmp_path, outcome(steps=10 * n), name=f"run-{n}", n=n), "leader") for n in (2, 4, 8)
    ]
    rows = [["leader", None, 2, [9.9, 2.74], 3.5], ["leader", "gpt-4o", 8, 4, None], ["leader", "gpt-4o", 16, 1, 1]]
    factors, metrics = ["arm", "llm.model", "n"], ["outcome.steps", "outcome.seconds"]
    table = {"source": "A page", "factors": factors, "metrics": metrics, "rows": rows}
    write_plan(tmp_path, cells, published=table)
    results = [read_results(tmp_path)]
    (drawing,) = values.published(compare(results, Question(by=["arm"], across="n")))
    steps, seconds = drawing.figure.axes
    dashed = {tuple(line.get_ydata()) for line in steps.lines if line.get_linestyle() == "--"}
    assert dashed == {(9.9,), (4,)}
    reported = {text.get_text() for text in drawing.figure.legends[0].get_texts()}
    assert reported == {"leader", "published: leader", "published: leader / gpt-4o"}
    assert (steps.get_yscale(), seconds.get_yscale()) == ("linear", "log")
    assert list(values.published(compare(results, Question(by=["n"])))) == []
    table = {"source": "A page", "factors": factors, "metrics": metrics, "rows": rows[2:]}
    write_plan(tmp_path, cells, published=table)
    assert list(values.published(compare([read_results(tmp_path)], Question(by=["arm"], across="n")))) == []


def test_a_sweep_without_one_shows_none(tmp_path: Path) -> None:
    cells = [("run", write_run(tmp_path, outcome(), name="run"), None)]
    write_plan(tmp_path, cells)
    assert list(values.published(compare([read_results(tmp_path)], Question(across="n")))) == []


def test_the_table_of_an_experiment_goes_into_its_sweep(tmp_path: Path) -> None:
    options = tmp_path / "configs"
    (options / "experiment").mkdir(parents=True)
    (options / "experiment" / "mine.yaml").write_text(
        "# A table.\nfixed: []\ngrid: [seed=0]\narms: {}\npublished:\n  source: A paper\n  factors: [n]\n"
        "  metrics: [outcome.steps]\n  rows:\n    - [2, [9.9, 2.74]]\n    - [4, null]\n"
    )
    folder = SweepFolder(tmp_path, "s")
    folder.path.mkdir()
    folder.write_manifest(plan(["experiment=mine"], options), ("experiment=mine",))
    sweep = read_results(folder.path).sweep
    assert sweep is not None
    assert sweep.published is not None
    assert sweep.published.rows == [[2, [9.9, 2.74]], [4, None]]

"""Formats come from satellites and packages, take their own options, and export the runs that the user selects."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from quorum.view.export.command import export
from quorum.view.export.formats import EXPORTS, chosen
from quorum.view.export.selection import Split
from quorum_base.user_errors import UserError
from tests.conftest import command, environment
from tests.folders import real_sweep
from tests.verbs.test_entry_points import install

TEAM = ("agents=heuristic", "topology=individual", "n=2")
PACKAGE = '''
"""A format, and what it would take."""

import stat
from typing import Annotated, Any

import typer


def names(
    *,
    longest: Annotated[int, typer.Option("--longest", metavar="SIZE", help="Cut longer names.")] = 40,
    draft: Annotated[bool, typer.Option("--draft", help="Count only.")] = False,
    split: Any = None,
) -> Any:
    """--to names writes the names of the runs."""
    return Count() if draft else Names(longest, split)


class Count:
    def estimate(self, runs):
        return {"runs": len(runs.rows), "texts": runs.texts}


class Names:
    FILES = ("names.txt",)
    TEXTS = True

    def __init__(self, longest, split):
        self.longest, self.split = longest, split

    def write(self, runs, folder):
        kept = [row for row in runs.rows if self.split is None or self.split.evaluates(row.seed)]
        (folder / "names.txt").write_text("".join(f"{row.name[: self.longest]}\\n" for row in kept))
'''


@pytest.fixture(scope="module")
def sweep(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Boards 0 to 3 with room, and board 0 with too few steps."""
    folder = tmp_path_factory.mktemp("runs") / "boards"
    real_sweep(folder, [[*TEAM, *more] for more in (*([f"seed={seed}"] for seed in range(4)), ["max_steps=5"])])
    return folder


def exported(sweep: Path, tmp_path: Path, where: str) -> list[int]:
    """Return the steps of the runs that meet a condition."""
    out = tmp_path / "log.json"
    export(sweep, "inspect", out, calls=False, force=True, where=where)
    return sorted(sample["scores"]["outcome.steps"]["value"] for sample in json.loads(out.read_text())["samples"])


def test_a_condition_selects_runs_by_the_columns_of_the_results(sweep: Path, tmp_path: Path) -> None:
    everything = exported(sweep, tmp_path, "")
    assert everything[0] == 5
    assert len(everything) == 5
    assert exported(sweep, tmp_path, "outcome.success") == everything[1:]
    assert exported(sweep, tmp_path, "not outcome.success") == [5]
    assert exported(sweep, tmp_path, '"outcome.success" = 1 and outcome.steps > 5 and seed = 0') != everything
    assert exported(sweep, tmp_path, "topology.name = 'individual' or 'topology.name' = 'a text'") == everything
    assert exported(sweep, tmp_path, "outcome = 'truncated' -- the column") == [5]
    found = "name in (select run from events where event = 'step' and t = 6)"
    assert exported(sweep, tmp_path, found) == everything[1:]


@pytest.mark.parametrize(
    ("where", "message"),
    [
        ("seed = 99", "--where 'seed = 99': no run meets this condition"),
        ("outcome.sucess", "--where: Binder Error"),
        ("name in (select content from read_text('/etc/passwd'))", "--where: Permission Error"),
    ],
)
def test_a_condition_without_a_run_is_refused_and_reaches_no_file(
    where: str, message: str, sweep: Path, tmp_path: Path
) -> None:
    with pytest.raises(UserError) as refused:
        exported(sweep, tmp_path, where)
    assert message in refused.value.message
    assert list(tmp_path.iterdir()) == []


def test_a_board_never_changes_sides_and_the_share_is_that_of_all_boards() -> None:
    few, more = Split(0.1), Split(0.3)
    boards = range(20_000)
    assert {board for board in boards if few.evaluates(board)} < {board for board in boards if more.evaluates(board)}
    assert sum(map(few.evaluates, boards)) / len(boards) == pytest.approx(0.1, abs=0.01)  # five standard errors
    assert [board for board in range(40) if few.evaluates(board)] == EVALUATED  # as in data sets written before


EVALUATED = [9, 39]


@pytest.mark.parametrize("text", ["0.1", "boards=0", "boards=1", "boards=10", "boards=-0.1", "runs=0.1", "boards="])
def test_a_split_is_a_share_of_the_boards(text: str) -> None:
    with pytest.raises(UserError, match=f"--split {text}: give a share"):
        Split.of(text)


def test_a_format_refuses_options_of_others() -> None:
    with pytest.raises(UserError) as refused:
        chosen("parquet", {"split": Split(0.1)})
    assert refused.value.message == "--split: --to parquet does not take this option"
    assert chosen("parquet", {"split": None}).FILES == (  # type: ignore[union-attr]
        "runs.parquet", "events.parquet", "calls.parquet",
    )  # fmt: skip
    with pytest.raises(UserError, match="there is no such format"):
        chosen("parquets", {})
    assert {"parquet", "who-when"} <= set(EXPORTS.names())


def test_a_package_adds_a_format_with_its_options(sweep: Path, tmp_path: Path) -> None:
    install(tmp_path / "site", "names", "names = names:names\n", "quorum.exports")
    (tmp_path / "site" / "names.py").write_text(PACKAGE)
    variables = environment()
    variables["PYTHONPATH"] += f":{tmp_path / 'site'}"

    def typed(*words: str) -> subprocess.CompletedProcess[str]:
        words = ("export", *words)
        return subprocess.run(command(*words), cwd=tmp_path, env=variables, capture_output=True, text=True, check=False)

    shown = typed("--help").stdout
    assert "|names" in shown
    assert "--longest SIZE" in shown
    assert "--to names writes the names of the runs." in shown
    assert typed(str(sweep), "--to", "names", "--longest", "4", "--out", "all").stdout == "export: all\n"
    assert (tmp_path / "all").read_text() == "cube\n" * 5
    assert (tmp_path / "all").stat().st_mode & 0o777 == 0o600  # it is made of texts
    assert typed(str(sweep), "--to", "names", "--split", "boards=.999999", "--where", "seed = 1", "-q").returncode == 0
    (line,) = (sweep / "export-names.txt").read_text().splitlines()
    assert "-s1-" in line
    assert typed(str(sweep), "--to", "names", "--draft").stdout.split() == ["runs", "5", "texts", "True"]
    refused = typed(str(sweep), "--longest", "4")
    assert refused.returncode == 2
    assert "--longest: --to parquet does not take this option" in refused.stderr
    assert "choose another format: names." in refused.stderr
    (sweep / "export-names.txt").unlink()

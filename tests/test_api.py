"""Python does what the command does."""

from __future__ import annotations

import logging
import subprocess
import sys
import textwrap
from dataclasses import replace
from pathlib import Path

import orjson
import pytest
from matplotlib.text import Text

import quorum
from maeil.trace import comparable
from quorum import answers, api
from tests.conftest import PLUGINS, Quorum, environment
from tests.folders import HOSTILE, hostile_sweep, unsealed
from tests.recorded import copied_run
from tests.test_cli_imports import HEAVY

WORLD = ("env=corridor", "agents=walker", "n=2")
OPTIONS = {"plugins": ["walker"], "config_dir": PLUGINS / "corridor_configs"}


def test_every_public_name_is_there_and_the_import_of_the_package_is_light() -> None:
    program = "import quorum, sys; print(*sys.modules); [getattr(quorum, name) for name in quorum.__all__]"
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment(), capture_output=True, text=True, check=True
    )
    assert {name.partition(".")[0] for name in done.stdout.split()} & (HEAVY | {"pydantic"}) == set()
    assert list(quorum.__all__) == sorted(quorum.__all__)


def test_a_run_leaves_the_trace_of_the_command(quorum: Quorum, tmp_path: Path) -> None:
    result = api.run("n=2", "seed=3", "topology=debate", "agents=negotiator", out=tmp_path / "python")
    quorum("run", "n=2", "seed=3", "topology=debate", "agents=negotiator", "--out", "command")
    reference = tmp_path / "command" / result.folder.name
    assert comparable(result.folder) == comparable(reference)


async def test_a_run_inside_an_event_loop(tmp_path: Path) -> None:
    result = quorum.run(*WORLD, out=tmp_path, **OPTIONS)
    assert (result.outcome, result.metrics["outcome.steps"]) == ("success", 5)


def test_a_sweep_goes_on_where_it_ended_and_its_results_are_a_table(tmp_path: Path) -> None:
    words = (*WORLD, "env.length=3,4", "seed=0,1", "engine.workers=1")
    first = quorum.sweep(*words, out=tmp_path, name="s", limit=1, **OPTIONS)
    assert (len(first.finished), first.left) == (1, 3)
    again = quorum.sweep(*words, out=tmp_path, name="s", **OPTIONS)
    assert (again.before, again.left) == (1, 0)
    records = quorum.results(again.folder).records()
    assert [record["outcome.steps"] for record in records] == [3, 2, 4, 3]
    assert all(record.keys() == records[0].keys() for record in records)
    found = quorum.compare(again.folder, by="env.length", metrics=["steps"])
    assert found.estimates["outcome.steps", "3", None].value == 2.5


def test_a_mistake_is_a_user_error(tmp_path: Path) -> None:
    with pytest.raises(quorum.UserError, match="blocks"):
        quorum.run("blocks=3", out=tmp_path)
    with pytest.raises(quorum.UserError, match="no such folder"):
        quorum.results(tmp_path / "absent")


def test_a_world_that_only_the_program_knows_is_refused_by_the_workers_of_a_sweep(tmp_path: Path) -> None:
    """Workers import the modules that are named, and never run the program again."""
    program = f"""
        import quorum, walker
        try:
            quorum.sweep("env=corridor", "agents=walker", "n=1", out="runs", config_dir={str(OPTIONS["config_dir"])!r})
        except quorum.UserError as error:
            print(error)
    """
    (tmp_path / "program.py").write_text(textwrap.dedent(program))
    command = [sys.executable, "program.py"]
    done = subprocess.run(command, cwd=tmp_path, env=environment(), capture_output=True, text=True, check=True)
    assert done.stdout.startswith("a worker cannot run corridor-n1-walker")
    assert done.stdout.count("plugins=...") == 1
    assert done.stderr == ""


def test_the_module_is_the_command(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "quorum", "--version"]
    done = subprocess.run(command, cwd=tmp_path, env=environment(), capture_output=True, text=True, check=True)
    assert done.stdout == f"quorum {quorum.__version__}\n"


TALK = ("n=3", "agents=naive", "topology=debate", "max_steps=10")
"""Too few steps: a failure, with a simulated model."""


@pytest.fixture
def talk(tmp_path: Path) -> Path:
    return copied_run(tmp_path / "runs", *TALK)


def test_a_trace_is_the_lines_of_its_file_of_whatever_is_given(talk: Path) -> None:
    events = quorum.trace(talk)
    assert events == [orjson.loads(line) for line in (talk / "trace.jsonl").read_bytes().splitlines()]
    (row,) = quorum.results(talk.parent).rows
    assert events == quorum.trace(row) == quorum.trace(str(talk / "trace.jsonl"))


def test_so_is_that_of_a_branch_and_of_a_killed_run(talk: Path, tmp_path: Path) -> None:
    done = quorum.results(talk).branch(at=0, control=False, out=tmp_path, name="branches", mind="agent_1=heuristic")
    (row,) = quorum.results(done.folder).rows
    assert quorum.trace(row)[0]["branch"]["edits"] == ["agents.members.agent_1=heuristic"]
    whole = (talk / "trace.jsonl").read_bytes()
    (talk / "trace.jsonl").write_bytes(whole[:-20])
    with pytest.raises(quorum.UserError, match="damaged: it is not what the run wrote"):
        quorum.trace(talk)
    assert len(quorum.trace(unsealed(talk))) == whole.count(b"\n") - 1


def test_a_result_is_shown_with_what_the_verb_prints(quorum: Quorum, tmp_path: Path) -> None:
    result = api.run(*TALK, out=tmp_path)
    html = replace(result, reason=HOSTILE)._repr_html_()
    assert "Simulated language model" in html
    assert "<script>alert" not in html
    assert "&lt;script&gt;alert(1)" in html
    printed = quorum("run", *TALK, "--out", "again").stdout
    for label in ("goals reached", "messages", "model answers"):
        assert f">{label}</th>" in html
        assert label in printed
    for line in result.board.splitlines():
        assert line.rstrip() in html


def test_runs_and_comparisons_are_shown_and_what_they_say_is_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(answers, "MOST_SHOWN", 5)
    results = quorum.results(hostile_sweep(tmp_path / "sweep"))
    shown = results._repr_html_()
    assert shown.count("<tr>") == 6
    assert "The first 5 of 12 runs." in shown
    compared = quorum.compare(results.folder, by="arm", across="n")._repr_html_()
    assert "Simulated language model" in compared
    assert '<th scope="col"' in compared
    for html in (shown, compared):
        assert "<script>alert" not in html
        assert "&lt;script&gt;alert(1)" in html
        assert "simulated" in html


def test_a_plot_is_a_figure_that_a_notebook_shows(tmp_path: Path) -> None:
    results = quorum.results(hostile_sweep(tmp_path / "sweep"))
    comparison = quorum.compare(results.folder, by="arm", across="n")
    for figure in (results.plot(), results.plot("pareto"), comparison.plot(), comparison.plot("radar")):
        assert figure._repr_png_().startswith(b"\x89PNG")
    with pytest.raises(quorum.UserError, match="no figure 'radr'"):
        comparison.plot("radr")
    with pytest.raises(quorum.UserError, match="no data for the figure 'published'"):
        comparison.plot("published")


def test_a_single_run_is_drawn_by_itself_and_no_figure_claims_an_interval(talk: Path) -> None:
    alone = quorum.results(talk)
    assert [row.name for row in alone.rows] == [talk.name]
    texts = " ".join(text.get_text() for text in alone.plot().findobj(Text)).replace("\n", " ")
    assert "interval" not in texts
    assert "runs" not in texts.replace("all runs", "")
    (talk / "meta.json").write_bytes(b"{")
    with pytest.raises(quorum.UserError, match="meta"):
        quorum.results(talk)


def test_a_branch_is_that_of_the_verb_and_its_notices_are_warnings(
    quorum: Quorum, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    result = api.run(*TALK, out=tmp_path)

    def notices() -> list[str]:  # not that kernels are compiled, which whoever needs one first says
        return [
            record.getMessage().partition(": ")[2] for record in caplog.records if record.name == "quorum.what_if.api"
        ]

    with caplog.at_level(logging.WARNING, "quorum"):
        other = result.branch(at="0:50", mind="agent_1=heuristic", out=tmp_path)
        assert notices() == []
        result.branch("max_steps=10", at="0:174", say="agent_0:hello", out=tmp_path)
    assert notices() == [
        "this change has no effect in this run",
        "no turn for it came",
    ]
    assert isinstance(other, api.Result)
    done = quorum("branch", str(result.folder), "--at", "0:50", "--mind", "agent_1=heuristic", "--out", "verb")
    assert done.returncode == 0
    assert comparable(other.folder) == comparable(tmp_path / "verb" / other.folder.name)


def test_the_verdict_is_that_of_the_verb(quorum: Quorum, talk: Path) -> None:
    for folder in (talk, talk.parent):
        done = quorum("blame", str(folder), "--method", "rules")
        assert str(api.results(folder).blame(method="rules")) == done.stdout.rstrip("\n")


def test_wrong_arguments_of_methods_are_named(talk: Path) -> None:
    run = quorum.results(talk)
    for message, call in {
        "there is no such method": lambda: run.blame(method="serch"),
        "budget-calls -1": lambda: run.blame(budget_calls=-1),
        "draws: 0": lambda: run.blame(draws=0),
        "--at x": lambda: run.branch(at="x"),
        "--at is missing": lambda: run.branch("seed=1"),
        "unexpected keyword argument 'step'": lambda: run.branch(step=2),
        "no trace.jsonl": lambda: quorum.trace(talk.parent),
    }.items():
        with pytest.raises(quorum.UserError, match=message):
            call()

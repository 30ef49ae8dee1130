"""Python does what the command does."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import quorum
from maeil.trace import comparable
from quorum import api
from tests.conftest import PLUGINS, Quorum, environment
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

"""What a command will write is opened or checked before the first episode is played and the first call is served."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from quorum.configuration.cell import Cell
from quorum.episode.runner import run_cell
from quorum.verbs.app import all_verbs, app, command_of
from quorum_base.user_errors import UserError

SHORT = ("n=2", "agents=naive", "llm=simulated", "max_steps=3")
OUTPUTS = {
    ("run", "--out"): ("run", *SHORT),
    ("sweep", "--out"): ("sweep", *SHORT, "seed=0,1"),
    ("reproduce", "--runs"): ("reproduce", "emcoop-rq3", "n=3", "seed=0", "max_steps=2"),
    ("study", "--out"): ("study", "talk", *SHORT, "topology=debate", "seed=0,1"),
    ("branch", "--out"): ("branch", "RUN", "--at", "0"),
    ("compare", "--out"): ("compare", "runs"),
    ("report", "--out"): ("report", "runs"),
    ("replay", "--out"): ("replay", "RUN"),
    ("export", "--out"): ("export", "runs", "--to", "otlp"),
    ("new", "--out"): ("new", "mind", "fresh"),
    ("view", "--export"): ("view", "RUN"),
    ("show prompt", "--picture"): ("show", "prompt", *SHORT, "env.observation=picture"),
}
"""The options that name what a verb writes, and a command that would write it."""
SUFFIXES = {"replay": ".gif", "view": ".html", "show prompt": ".png"}
WORK = (
    "episode.parts.run_episode", "sweeps.engines.local.hand_out", "comparison.compare",
    "view.replay.command.prepare_replay", "view.viewer.page.exported_page", "view.export.command.Runs",
    "runs.derived.compute_metrics", "new.package._render",
)  # fmt: skip
"""What plays, asks or draws."""
Quorum = Callable[..., tuple[BaseException | None, list[str]]]


def written_by(verb: str) -> dict[str, Any]:
    """The options of a verb that name what it writes."""
    options = (part for part in command_of(verb).params if part.param_type_name == "option")
    return {part.opts[0]: part for part in options if (part.help or "").startswith(("Write", "Keep"))}


def test_every_option_that_names_an_output_is_tested() -> None:
    assert {(verb, option) for verb in all_verbs() for option in written_by(verb)} == {
        *OUTPUTS,
        ("check", "--out"),  # which it only checks
        ("export", "--prompts"),  # names a set of prompts
        ("export", "--split"),  # divides what --out names
    }


def test_a_name_is_a_folder_inside_out_wherever_there_is_one() -> None:
    options = {verb: {part.opts[0]: part for part in command_of(verb).params} for verb in all_verbs()}
    named = {verb: own for verb, own in options.items() if "--name" in own}
    assert named.keys() == {"sweep", "branch", "study"}
    for own in named.values():
        assert (own["--name"].help or "").startswith("Create the folder of the sweep in --out")
        assert (own["--out"].help, str(own["--out"].default)) == ("Keep results in this folder.", "runs")


def bad_outputs() -> list[tuple[str, str, str]]:
    """Places that each option must refuse."""
    found = []
    for verb, option in OUTPUTS:
        part = written_by(verb)[option]
        suffix = SUFFIXES.get(verb, ".yaml")
        places = ["file", "file/inside", "/proc/nowhere"]
        if part.metavar == "FILE":
            places = [f"nowhere/x{suffix}", f"file/x{suffix}", f"/proc/x{suffix}", f"folder{suffix}"]
            places += [f"taken{suffix}"] if "force" in {each.name for each in command_of(verb).params} else []
            places += ["x.txt"] if verb == "replay" else []
        elif verb == "compare":
            places.append("compared")
        found += [(verb, option, place) for place in places]
    return found


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a run."""
    folder = tmp_path_factory.mktemp("recorded")
    run_cell(Cell.compose(list(SHORT)), folder / "runs")
    return folder


@pytest.fixture
def quorum(recorded: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Quorum:
    """Type a command in a folder with a run and with bad places; give how it ends, and what work it has started."""
    shutil.copytree(recorded, tmp_path, dirs_exist_ok=True)
    (tmp_path / "file").write_text("")
    (tmp_path / "compared").mkdir()
    (tmp_path / "compared" / "estimates.csv").write_text("")
    for suffix in {*SUFFIXES.values(), ".yaml"}:
        (tmp_path / f"folder{suffix}").mkdir()
        (tmp_path / f"taken{suffix}").write_text("")
    monkeypatch.chdir(tmp_path)
    run = next((tmp_path / "runs").iterdir())

    started: list[str] = []

    def typed(*words: str) -> tuple[BaseException | None, list[str]]:
        return CliRunner().invoke(app, [str(run) if word == "RUN" else word for word in words]).exception, started

    def begin(*_arguments: Any, **_options: Any) -> None:
        started.append("something")
        raise RuntimeError("the work has started")

    for name in WORK:
        monkeypatch.setattr(f"quorum.{name}", begin)
    return typed


@pytest.mark.parametrize(("verb", "option", "place"), bad_outputs())
def test_a_bad_output_is_refused_before_anything_is_done(verb: str, option: str, place: str, quorum: Quorum) -> None:
    refused, started = quorum(*OUTPUTS[verb, option], option, place)
    assert isinstance(refused, UserError), refused
    assert started == []
    assert place in refused.message
    assert option in f"{refused.message} {refused.hint}"
    assert refused.hint


@pytest.mark.parametrize(("verb", "option"), OUTPUTS)
def test_a_good_output_lets_the_work_begin(verb: str, option: str, quorum: Quorum) -> None:
    place = f"new{SUFFIXES.get(verb, '.yaml')}" if written_by(verb)[option].metavar == "FILE" else "new"
    assert quorum(*OUTPUTS[verb, option], option, place)[1]


@pytest.mark.parametrize(
    ("words", "taken"),
    [
        (("results", "RUN", "--write"), "RUN/metrics.json"),
        (("results", "RUN", "--write"), "RUN/meta.json"),
        (("credit", "RUN", "--write"), "RUN/metrics.json"),
        (("blame", "RUN", "--success", "score>=99"), "RUN/blame.json"),
        (("blame", "RUN", "--success", "score>=99"), "RUN/blame.jsonl"),
        (("sweep", *SHORT, "seed=0,1", "--name", "s"), "runs/s/results.csv"),
        (("sweep", *SHORT, "seed=0,1", "--name", "s"), "runs/s/sweep.json"),
        (("run", *SHORT, "agents=drwell", "memory.store=file"), "none"),
        (("run", *SHORT, "agents=drwell", "memory.store=store"), "store/memory.json"),
        (("report", "runs", "--episodes"), "none"),
    ],
)
def test_so_is_a_place_that_no_option_names(words: tuple[str, ...], taken: str, quorum: Quorum, tmp_path: Path) -> None:
    run = next((tmp_path / "runs").iterdir())
    place = tmp_path / taken.replace("RUN", str(run))
    if place.exists():
        place.unlink()
    place.mkdir(parents=True)
    (run.parent / "episodes").write_text("")
    refused, started = quorum(*words)
    assert isinstance(refused, UserError), refused
    assert started == []

"""A key that changes nothing for the minds that are chosen is reported, or refused."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from quorum import cli
from quorum.configuration.cell import Cell
from quorum.configuration.effects import EffectCheck
from quorum.sweeps.command import show_plan
from quorum.sweeps.plan import plan
from quorum.sweeps.run import SweepRequest
from quorum_base.user_errors import UserError

SILENT = "agents=heuristic, which does not talk"
THOUGHTLESS = ", which asks no language model"


def reported(*words: str) -> str:
    return EffectCheck(words).look_at(Cell.compose(words))


@pytest.mark.parametrize(
    ("words", "found"),
    [
        (["topology=debate", "agents=heuristic"], f"topology=debate changes no decision of {SILENT}"),
        (["topology=chain", "agents=planner"], "topology=chain changes no decision of agents=planner, which does not"),
        (
            ["topology=debate", "topology.rounds=3", "agents=idle"],
            "topology=debate topology.rounds=3 change no decision",
        ),
        (
            ["llm=openai", "llm.model=a", "agents=idle"],
            f"llm=openai llm.model=a change no decision of agents=idle{THOUGHTLESS}",
        ),
        (["llm.poor=0.5", "agents=negotiator"], f"llm.poor=0.5 changes no decision of agents=negotiator{THOUGHTLESS}"),
        (["prompts=terse", "agents=heuristic"], "prompts=terse changes no decision of agents=heuristic"),
        (["prompts.folder=no_such_folder", "agents=heuristic"], "prompts.folder=no_such_folder changes no decision"),
        (["budget.calls=3"], "budget.calls=3 changes no decision"),
    ],
)
def test_what_minds_have_no_use_for_is_told(words: list[str], found: str) -> None:
    assert reported(*words).startswith(found)


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["topology=individual", "llm=simulated", "prompts=default", "llm.poor=0"],
        ["agents=negotiator", "topology=debate", "topology.rounds=2"],
        ["agents=naive", "topology=debate", "llm.poor=0.5", "prompts=terse", "budget.calls=3"],
        ["n=2", "seed=3", "clock=fixed", "env.step_cost=0"],
    ],
)
def test_what_is_used_or_stands_there_anyway_is_not_reported(words: list[str]) -> None:
    assert reported(*words) == ""


def test_a_sweep_tells_each_kind_of_minds_once() -> None:
    words = ["agents=heuristic,negotiator,naive", "topology=individual,debate", "llm.poor=0,0.5", "seed=range(0,3)"]
    assert set(plan(words).without_effect.split("; ")) == {
        f"topology=individual,debate changes no decision of {SILENT}",
        f"llm.poor=0,0.5 changes no decision of agents=heuristic{THOUGHTLESS}",
        f"llm.poor=0,0.5 changes no decision of agents=negotiator{THOUGHTLESS}",
    }


def test_the_words_of_an_experiment_are_looked_at_too(tmp_path: Path) -> None:
    (tmp_path / "experiment").mkdir()
    (tmp_path / "experiment" / "mine.yaml").write_text(
        "# Mine.\nfixed: [prompts=terse]\ngrid: [agents=heuristic]\narms: {a: [topology=debate], b: [n=2]}\n"
    )
    found = plan(["experiment=mine"], tmp_path).without_effect
    assert "topology=debate changes" in found
    assert "prompts=terse changes" in found


def test_strict_makes_it_an_error_and_writes_nothing(tmp_path: Path) -> None:
    request = SweepRequest(("n=2", "topology=debate", "agents=heuristic"), tmp_path, strict=True)
    with pytest.raises(
        UserError, match=r"topology=debate changes no decision .*\n.*Without --strict, this is only a notice"
    ):
        show_plan(request)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("option", ["", "--quiet", "--strict"])
def test_the_command_tells_it_once_and_is_silent_or_strict_when_asked(
    option: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["n=1", "max_steps=1", "topology=debate", "agents=heuristic", "--out", str(tmp_path / "runs")]
    words += [option] if option else []
    monkeypatch.setattr(sys, "argv", ["quorum", "run", *words])
    with pytest.raises(SystemExit) as left:
        cli.main()
    reported = capsys.readouterr().err
    assert reported.count("topology=debate changes no decision") == (0 if option == "--quiet" else 1)
    assert left.value.code == (2 if option == "--strict" else 0)
    assert (tmp_path / "runs").exists() is (option != "--strict")

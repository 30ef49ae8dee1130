"""Words of other harnesses: understood, translated once into `KEY=VALUE`, or answered with what to type."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from quorum import cli
from quorum.configuration.cell import Cell
from quorum.configuration.hints import span
from quorum.configuration.shorthand import translated
from quorum.sweeps.plan import plan
from quorum.train.play import Players, Setting
from quorum_base.user_errors import UserError

GPT = "Write llm=openai llm.model=gpt-4o."
MISTAKES = {
    ("show", "llm=gpt-4o"): ("llm: there is no option 'gpt-4o'", GPT),
    ("show", "llm=openai/gpt-4o"): ("llm: 'openai/gpt-4o' is not the name of an option", GPT),
    ("show", "llm=my-model"): ("llm: there is no option 'my-model'", "write llm=PROVIDER llm.model=my-model."),
    ("show", "model=gpt-4o"): ("model: there is no such key", GPT),
    ("show", "model=my-model"): ("model: there is no such key", "Write llm=PROVIDER llm.model=my-model."),
    ("sweep", "n=2", "model=gpt-4o"): ("model: there is no such key", GPT),
    ("show", "agents=gpt-4o"): ("agents: there is no option 'gpt-4o'", GPT),
    ("show", "agents=4"): ("agents: 4 is not the name of an option", "Write n=4."),
    ("show", "agents=2-8"): ("agents: there is no option '2-8'", "Write 'n=range(2,9)'."),
    ("show", "agents=debate"): ("agents: there is no option 'debate'", "Write topology=debate."),
    ("show", "agents=naiv"): ("agents: there is no option 'naiv'", "Did you mean 'naive'?"),
    ("show", "topology=naive"): ("topology: there is no option 'naive'", "Write agents=naive."),
    ("show", "seed=0-9"): ("seed: '0-9' is not a whole number", "To sweep: 'seed=range(0,10)'."),
    ("sweep", "n=2", "seed=0-9"): ("seed: '0-9' is not a whole number", "To sweep: 'seed=range(0,10)'."),
    ("show", "n=2-8"): ("n: '2-8' is not a whole number", "To sweep: 'n=range(2,9)'."),
    ("show", "env.side=8-12"): ("env.side: '8-12' is not a whole number", "To sweep: 'env.side=range(8,13)'."),
    ("show", "seeds=0-9"): ("seeds: there is no such key", "Write 'seed=range(0,10)'."),
    ("sweep", "n=2", "seeds=0-9"): ("seeds: there is no such key", "Write 'seed=range(0,10)'."),
    ("show", "num_agents=3"): ("num_agents: there is no such key", "Write n=3."),
    ("show", "temperature=0"): ("temperature: there is no such key", "Write llm.temperature=0."),
    ("show", "base_url=http://localhost:1/v1"): (
        "base_url: there is no such key",
        "Write llm.base_url=http://localhost:1/v1. Set the provider, too: llm=NAME.",
    ),
    ("show", "--base-url", "http://localhost:1/v1"): ("llm.base_url: there is no such key", "Set the provider, too: "),
    ("run", "--topology", "debate"): ("--topology: there is no such option", "Write topology=debate."),
    ("run", "--topology=debate"): ("--topology: there is no such option", "Write topology=debate."),
    ("run", "n=2", "--topology"): ("--topology: there is no such option", "Write topology=VALUE."),
    ("sweep", "--max-steps", "50"): ("--max-steps: there is no such option", "Write max_steps=50."),
    ("run", "--seed", "3"): ("--seed: there is no such option", "Write seed=3."),
    ("study", "talk", "-n", "4"): ("-n: there is no such option", "Write n=4."),
    ("run", "--temperature", "0"): ("--temperature: there is no such option", "Write llm.temperature=0."),
    ("run", "--agents", "gpt-4o"): ("--agents: there is no such option", GPT),
    ("run", "--model", "gpt-4o"): ("--model gpt-4o: 'gpt-4o' is not a provider", "Write --model openai/gpt-4o."),
    ("run", "--model", "nobody/x"): ("--model nobody/x: 'nobody' is not a provider", "Providers: anthropic, azure, "),
    ("run", "--model", "opena/x"): ("--model opena/x: 'opena' is not a provider", "Did you mean 'openai'"),
    ("sweep", "--model", "openai/a,anthropic/b"): ("--model openai/a,anthropic/b: ", "Run a sweep for each"),
    ("run", "--n", "4", "n=2"): ("--n 4 and n=2 both set n", "Give one of them: n=4 or n=2."),
    ("run", "--model", "openai/gpt-4o", "llm=anthropic"): (
        "--model openai/gpt-4o and llm=anthropic both set llm",
        "Give one of them: llm=openai or llm=anthropic.",
    ),
    ("sweep", "--seeds", "0-9", "seed=3"): ("both set seed", "Give one of them: seed=range(0,10) or seed=3."),
    ("sweep", "--seeds", "9-0"): ("--seeds 9-0: not a list of numbers", "For example: "),
    ("run", "--seeds", "0-9"): ("seed: an episode takes one value", "`quorum sweep` runs once for each value."),
    ("sweep", "quickstart"): ("'quickstart' is not KEY=VALUE", "Write experiment=quickstart."),
    ("run", "debate"): ("'debate' is not KEY=VALUE", "Write topology=debate."),
    ("run", "gpt-4o"): ("'gpt-4o' is not KEY=VALUE", GPT),
    ("run", "my.yaml"): ("'my.yaml' is not KEY=VALUE", "quorum sweep my.yaml"),
    ("sweep", "mine.yaml"): ("mine.yaml: there is no such file", "Did you mean 'my.yaml'?"),
    ("sweep", "bad.yaml"): ("bad.yaml: fixed: 3 is not a list", "An experiment has fixed, grid and arms"),
    ("sweep", "my.yaml", "experiment=quickstart"): ("a sweep has one experiment", "Run a sweep for each."),
    ("compare",): ("runs: there is no sweep in this folder", "quorum sweep experiment=quickstart"),
    ("report",): ("runs: there is no sweep in this folder", "Name the folder of a sweep"),
}
EXPERIMENT = """\
fixed: [max_steps=5]
grid: [n=2, "seed=0,1"]
arms:
  silent: [topology=individual]
  debate: [topology=debate]
  rules: [agents=heuristic, max_steps=6]
"""
Quorum = Callable[..., tuple[str, str]]


@pytest.fixture
def quorum(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Quorum:
    """Type a command in a folder with two files of experiments; the end is its exit code."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my.yaml").write_text(EXPERIMENT)
    (tmp_path / "bad.yaml").write_text("fixed: 3")

    def typed(*words: str, code: int = 0) -> tuple[str, str]:
        monkeypatch.setattr(sys, "argv", ["quorum", *words])
        with pytest.raises(SystemExit) as left:
            cli.main()
        assert (left.value.code or 0) == code
        return capsys.readouterr()

    return typed


@pytest.mark.parametrize("words", MISTAKES, ids=" ".join)
def test_a_mistake_is_answered_with_its_place_and_what_to_type(words: tuple[str, ...], quorum: Quorum) -> None:
    before = sorted(os.walk("."))
    out, reported = quorum(*words, code=2)
    wrong, way_out = MISTAKES[words]
    assert out == ""
    assert wrong in reported.partition("\n")[0]
    assert way_out in reported
    assert reported.lower().count("error: ") == 1
    assert sorted(os.walk(".")) == before


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("3", "3"), ("2,4,8", "2,4,8"), ("0-9", "range(0,10)"), ("0-3,12", "0,1,2,3,12"), ("5-5", "5"),
        ("9-0", ""), ("", ""), ("x", ""), ("1-", ""), ("-1", ""), ("0-2000,1", ""),
    ],
)  # fmt: skip
def test_numbers_and_ranges_are_those_of_a_grid(text: str, values: str) -> None:
    assert span(text) == values


def test_options_become_usual_keys_after_the_arguments() -> None:
    options = {"model": "openrouter/org/name v2", "base_url": "http://localhost:1/v1", "n": "2,4", "seeds": "0-9"}
    assert translated(["topology=debate"], **options) == [
        "topology=debate", "llm=openrouter", 'llm.model="org/name v2"', "llm.base_url=http://localhost:1/v1", "n=2,4",
        "seed=range(0,10)",
    ]  # fmt: skip
    several = translated([], model="openai/a,openai/b", base_url=None, n=None, seeds=None)
    assert several == ["llm=openai", "llm.model=a,b"]
    assert translated([], model="simulated", base_url=None, n=None, seeds=None) == ["llm=simulated"]


def test_a_run_records_the_keys_of_its_options(quorum: Quorum) -> None:
    words = ("--n", "2", "--seeds", "3", "--model", "simulated")
    shown, said = quorum("show", *words)
    assert quorum("show", "n=2", "seed=3", "llm=simulated", "agents=naive") == (shown, "")
    assert said == "notice: agents=naive, because of llm=simulated; for other minds, add agents=NAME\n"


@pytest.mark.parametrize(
    ("words", "minds"),
    [
        ("n=2", "heuristic"), ("topology=individual", "heuristic"), ("budget.calls=3", "heuristic"),
        ("llm=simulated", "naive"), ("llm.poor=0.5", "naive"), ("prompts=terse", "naive"),
        ("topology=debate", "naive"), ("topology=debate agents=heuristic", "heuristic"),
        ("llm=simulated agents.members.agent_1=naive", "heuristic"), ("llm=simulated agents.teams=one", "heuristic"),
    ],
)  # fmt: skip
def test_a_model_or_talk_without_minds_has_minds_that_ask_and_talk(words: str, minds: str) -> None:
    cell = Cell.compose(words.split())
    assert cell.configuration.agents.name == minds
    if "agents" not in words:
        assert cell.hash == Cell.compose([*words.split(), f"agents={minds}"]).hash


def test_arms_that_are_compared_have_the_same_minds_unless_they_name_them(quorum: Quorum) -> None:
    planned = plan(["my.yaml"])
    assert {cell.arm: cell.name.split("-")[2] for cell in planned.cells} == {
        "silent": "naive", "debate": "naive", "rules": "heuristic",
    }  # fmt: skip
    assert planned.notices == ("agents=naive, because of topology=debate; for other minds, add agents=NAME",)
    grid = plan(["n=2", "topology=individual,debate", "max_steps=5"])
    assert {cell.name.split("-")[2] for cell in grid.cells} == {"naive"}
    named = plan(["n=2", "topology=individual,debate", "max_steps=5", "agents=naive"])
    assert ([cell.hash for cell in named.cells], named.notices) == ([cell.hash for cell in grid.cells], ())


def test_a_file_is_an_experiment_that_further_words_override(quorum: Quorum) -> None:
    planned = plan(["my.yaml"])
    assert (planned.name, planned.experiment, len(planned.cells)) == ("my", "my", 6)
    other = plan(["my.yaml", "n=3", "seed=5"])
    assert {cell.name[:8] for cell in other.cells} == {"cube-n3-"}
    assert other.name.startswith("my-")
    out, _ = quorum("sweep", "my.yaml", "--n", "3", "--seeds", "5", "--dry-run", "--names")
    assert "my.yaml n=3 seed=5" in out
    assert "notice         agents=naive, because of topology=debate" in out
    assert all(cell.name in out for cell in other.cells)


def test_a_study_writes_its_minds_into_all_arms(quorum: Quorum, monkeypatch: pytest.MonkeyPatch) -> None:
    def of(request, *, with_keys):
        raise UserError(" ".join(request.words))

    monkeypatch.setattr("quorum.study.study.Study.of", of)
    _, reported = quorum("study", "talk", "topology=debate", "--n", "2", "--plan", code=2)
    assert reported.endswith("error: topology=debate n=2 agents=naive\n")


def test_the_teams_of_rollouts_with_an_idle_seat_have_the_same_minds() -> None:
    setting = Setting(("n=2", "topology=debate", "max_steps=2"), None, difference=True)
    cells = vars(Players(setting))["_idle"].values()
    assert [cell.configuration.team_label for cell in cells] == ["naive+idle@0", "naive+idle@1"]


@pytest.mark.parametrize("option", ["--model", "--llm", "--agents"])
def test_a_key_in_an_option_is_not_shown(option: str, quorum: Quorum) -> None:
    key = "sk-proj-" + "a1b2c3d4" * 5
    out, reported = quorum("run", option, key, code=2)
    assert key not in out + reported


def test_without_a_folder_the_newest_sweep_is_read_and_named(quorum: Quorum) -> None:
    short = ("n=2", "max_steps=2", "--quiet")
    quorum("run", *short)
    assert quorum("results")[1] == "reading runs, which contains no sweep\n"
    for name in ("first", "last"):
        quorum("sweep", *short, "seed=0,1", "agents=heuristic,idle", "--name", name)
    os.utime("runs/first/sweep.json", ns=(0, 0))
    for words in (("results",), ("compare",), ("report",), ("export", "--to", "otlp"), ("view", "--export", "site")):
        out, reported = quorum(*words)
        assert reported.startswith("reading runs/last, the newest sweep in runs\n")
        assert "first" not in out
    assert Path("runs/last/comparison/agents/figure.pdf").is_file()  # as with the folder's name
    assert Path("runs/last/report.html").is_file()
    os.utime("runs/last/sweep.json", ns=(0, 0))
    os.utime("runs/first/sweep.json")
    assert quorum("results", "--csv")[1] == "reading runs/first, the newest sweep in runs\n"


def test_the_parent_of_sweeps_and_a_single_run_are_read(quorum: Quorum) -> None:
    for name in ("one", "two"):
        quorum("sweep", "n=2", "max_steps=2", "seed=0", "--name", name, "--quiet")
    assert quorum("results", "runs")[0].count("1 runs: ") == 2
    assert [line.partition(":")[0] for line in quorum("check", "runs")[0].splitlines()] == ["runs/two", "runs/one"]
    _, reported = quorum("compare", "runs", code=2)
    assert "It contains sweeps: give one or more of them, runs/two, runs/one." in reported
    (run,) = (path for path in Path("runs/one").iterdir() if path.is_dir() and not path.name.startswith("."))
    files = sorted(run.iterdir())
    out, _ = quorum("results", str(run))
    assert run.name in out
    assert sorted(run.iterdir()) == files
    assert quorum("report", str(run))[0] == f"report: {run / 'report.html'}\n"


def test_a_provider_of_the_user_s_folder_is_found(tmp_path: Path) -> None:
    (tmp_path / "llm").mkdir()
    (tmp_path / "llm" / "lab.yaml").write_text("# Ours.\ndefaults: [vllm@_here_, _self_]\n")
    none = {"base_url": None, "n": None, "seeds": None}
    assert translated([], tmp_path, model="lab/m", **none) == ["llm=lab", "llm.model=m"]
    with pytest.raises(UserError, match="'lab' is not a provider"):
        translated([], model="lab/m", **none)

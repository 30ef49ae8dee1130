"""Cells of a sweep may be branches of recorded runs: planned, run, resumed and refused as all others are."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from maeil.trace import comparable, read_trace
from maeil.trace.events import ThoughtStart
from quorum.configuration.cell import Cell
from quorum.episode.runner import run_cell
from quorum.runs import read_results
from quorum.runs.finished import finished_cell
from quorum.runs.run_folder import RunFolder
from quorum.runs.verify import check_folder
from quorum.storage.memory_file import MEMORY_BEFORE, read_memory
from quorum.sweeps.command import choose_engine, run_sweep_command, show_plan
from quorum.sweeps.progress import nothing
from quorum.sweeps.run import SweepRequest, SweepResult, run_sweep
from quorum.sweeps.stopping import Stop
from quorum.what_if.branch.branches import BranchGrid
from quorum.what_if.branch.change import edits_of_minds, read_change
from quorum.what_if.branch.planned_cell import PlannedBranchCell
from quorum_base.user_errors import UserError
from tests.conftest import PATIENCE, Quorum, command, environment
from tests.serving import served
from tests.sweeps.conftest import LOCAL, MODULES, Sweep, leftovers, stamps
from tests.sweeps.test_lines import exchanged
from tests.what_if.branch.test_identity import Counting

TEAM = ("env=squeeze", "n=3", "agents=naive", "topology=debate", "max_steps=4")
POOR = "llm.poor=0.0,1.0"


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Play two runs of a simulated team; nobody changes them."""
    out = tmp_path_factory.mktemp("first")
    run_sweep_command(SweepRequest((*TEAM, "seed=0,1", *LOCAL), out, "first"), quiet=True)
    return out / "first"


@pytest.fixture
def copied(first: Path, tmp_path: Path) -> Path:
    """Give these runs in a folder that may be changed."""
    return Path(shutil.copytree(first, tmp_path / "first"))


def asked(first: Path, out: Path, *words: str, at: Sequence[str] = ("1", "3"), **changes: Any) -> SweepRequest:
    change = read_change(**{name: changes.pop(name) for name in ("says", "plans", "drops") if name in changes})
    own = {name: changes.pop(name) for name in ("draws", "control") if name in changes}
    grid = BranchGrid(changes.pop("folders", (first,)), tuple(at), change, **own)
    minds = edits_of_minds(changes.pop("minds", ()))
    return SweepRequest((*words, *minds, *LOCAL), out, "s", retry_failed=True, planner=grid, **changes)


def swept(first: Path, out: Path, *words: str, **changes: Any) -> SweepResult:
    return run_sweep_command(asked(first, out, *words, **changes), quiet=True)


def branches(folder: Path) -> list[Path]:
    return sorted(meta.parent for meta in folder.glob("*/meta.json") if ".partial-" not in meta.parent.name)


def parts(folder: Path) -> Counter[tuple[str, int, str]]:
    """Return how many branches there are of each run, instant and change."""
    found = [RunFolder(run).meta().origin for run in branches(folder)]
    return Counter((said.run, said.t, said.change) for said in found if said is not None)


def contents(folder: Path) -> dict[str, list[bytes]]:
    return {run.name: list(comparable(run)) for run in branches(folder)}


def test_runs_instants_and_changes_are_crossed_beside_a_control_of_each_instant(first: Path, tmp_path: Path) -> None:
    report = swept(first, tmp_path, POOR, minds=["agent_2=naive,heuristic"])
    runs = [run.name for run in branches(first)]
    mind = "agents.members.agent_2"
    changes = ["", f"llm.poor=0.0 {mind}=heuristic", f"llm.poor=1.0 {mind}=naive", f"llm.poor=1.0 {mind}=heuristic"]
    assert parts(tmp_path / "s") == dict.fromkeys(
        ((run, t, what) for run in runs for t in (1, 3) for what in changes), 1
    )
    assert (report.exit_code, report.planned) == (0, 16)
    assert leftovers(tmp_path / "s") == []
    assert check_folder(tmp_path / "s").damaged == ()


def test_a_control_is_its_run_and_may_be_left_out(first: Path, tmp_path: Path) -> None:
    swept(first, tmp_path / "with", at=["2"])
    for control in branches(tmp_path / "with" / "s"):
        said = RunFolder(control).meta().origin
        assert said is not None
        assert comparable(control)[1:] == comparable(first / said.run)[1:]
    swept(first, tmp_path / "without", "llm.poor=1.0", at=["2"], control=False)
    assert {change for _, _, change in parts(tmp_path / "without" / "s")} == {"llm.poor=1.0"}
    swept(first, tmp_path / "none", at=["2"], control=False)
    assert contents(tmp_path / "none" / "s") == contents(tmp_path / "with" / "s")


def test_what_a_participant_is_told_is_in_every_branch_but_the_control(first: Path, tmp_path: Path) -> None:
    swept(first, tmp_path, "llm.poor=0.5,1.0", at=["1"], says=["agent_1:leave it to me"])
    said = "--say agent_1:leave it to me"
    assert {change for _, _, change in parts(tmp_path / "s")} == {"", f"llm.poor=0.5 {said}", f"llm.poor=1.0 {said}"}


def test_each_change_and_the_control_are_drawn_as_often_as_is_asked(first: Path, tmp_path: Path) -> None:
    result = swept(first, tmp_path, "llm.poor=0.5", at=["1"], draws=3)
    found = [RunFolder(run).meta().origin for run in branches(tmp_path / "s")]
    drawn = Counter((said.run, said.change, said.draw) for said in found if said is not None)
    runs = [run.name for run in branches(first)]
    assert drawn == dict.fromkeys(
        ((run, what, k) for run in runs for what in ("", "llm.poor=0.5") for k in range(3)), 1
    )
    assert len({lines[1] for lines in contents(tmp_path / "s").values()}) <= len(runs)  # one beginning for all draws
    assert (
        result.failed,
        len({cell.kind for cell in BranchGrid((first,), ("1",), draws=3).plan(("llm.poor=0.5",)).cells}),
    ) == ((), 2)


def test_what_is_done_is_not_run_again_and_a_larger_grid_adds_to_it(first: Path, tmp_path: Path) -> None:
    assert len(swept(first, tmp_path, POOR, limit=3).finished) == 3
    earlier = stamps(tmp_path / "s")
    assert len(swept(first, tmp_path, POOR).finished) == 5
    assert earlier.items() < stamps(tmp_path / "s").items()
    again = swept(first, tmp_path, POOR)
    assert (again.before, again.finished, again.left) == (8, (), 0)
    assert len(swept(first, tmp_path, POOR, at=["0", "1", "3"]).finished) == 4


def test_the_command_to_resume_names_what_is_branched(first: Path, tmp_path: Path) -> None:
    report = swept(first, tmp_path, POOR, limit=0, says=["agent_0:go"])
    options = "--at 1 --at 3 --say agent_0:go"
    reported = f"quorum branch {first} {POOR} engine.workers=1 {options} --out {tmp_path} --name s"
    assert report.request.command == reported
    assert "the same command runs them again" in replace(report, failed=(finished_cell(branches(first)[0]),)).complaint
    assert json.loads((tmp_path / "s" / "sweep.json").read_text())["command"] == reported


def test_the_plan_on_disk_names_the_runs_as_seen_from_it(copied: Path, tmp_path: Path) -> None:
    swept(copied, tmp_path, at=["1"])
    plan = json.loads((tmp_path / "s" / "sweep.json").read_text())
    metas = [RunFolder(run).meta().origin for run in branches(tmp_path / "s")]
    assert sorted((parent["run"], parent["at"], parent["prefix"]) for parent in plan["parents"]) == sorted(
        (f"../first/{said.run}", "1", said.prefix) for said in metas if said is not None
    )


@pytest.mark.parametrize("spoiled", ["gone", "changed"])
def test_a_run_that_is_gone_or_changed_is_refused_by_its_name(spoiled: str, copied: Path, tmp_path: Path) -> None:
    swept(copied, tmp_path, "llm.poor=1.0", limit=1)
    run = branches(copied)[1]
    before = {path: path.read_bytes() for path in (tmp_path / "s").rglob("*") if path.is_file()}
    spoil(run, spoiled)
    with pytest.raises(UserError, match=rf"the parent run of a branch (is missing|has changed): .*{run.name}"):
        swept(copied, tmp_path, "llm.poor=1.0")
    assert {path: path.read_bytes() for path in (tmp_path / "s").rglob("*") if path.is_file()} == before


def spoil(run: Path, how: str) -> None:
    if how == "gone":
        shutil.rmtree(run)
        return
    trace, meta = run / "trace.jsonl", json.loads((run / "meta.json").read_text())
    lines = trace.read_text().splitlines(keepends=True)
    place = next(index for index, line in enumerate(lines) if '"thought_end"' in line)
    event = json.loads(lines[place])
    event["cost"] += 1
    lines[place] = json.dumps(event) + "\n"
    trace.write_text("".join(lines))
    (run / "meta.json").write_text(json.dumps({key: value for key, value in meta.items() if key != "files"}))


@pytest.mark.parametrize("spoiled", ["gone", "changed"])
def test_a_run_that_is_spoiled_while_its_branches_wait_stops_the_sweep_and_leaves_no_folder(
    spoiled: str, copied: Path, tmp_path: Path
) -> None:
    request = asked(copied, tmp_path, "llm.poor=1.0", at=["1"], control=False)
    plan = request.planner.plan(("llm.poor=1.0",))
    for run in branches(copied):
        spoil(run, spoiled)
    result = run_sweep(plan, request.folder("s"), choose_engine(LOCAL), request=request, view=nothing)
    assert result.stop is Stop.STUCK
    assert any(run.name in result.reason for run in branches(copied)) or "no such folder" in result.reason
    assert (len(result.finished), branches(tmp_path / "s"), leftovers(tmp_path / "s")) == (0, [], [])


REFUSED: dict[str, tuple[tuple[str, ...], dict[str, Any], str]] = {
    "no instant": ((), {"at": []}, "--at is missing"),
    "no such instant": (("llm.poor=1",), {"at": ["99"]}, "--at 99: the run ends after step 4"),
    "no instant at all": (("llm.poor=1",), {"at": ["soon"]}, "--at soon: give a step"),
    "another world": (("env.rho=1,2",), {}, "env.rho: a branch cannot change this"),
    "no such key": (("llm.pooor=1,2",), {}, "llm.pooor: there is no such key"),
    "no runs": ((), {"folders": (Path(__file__).parent,)}, "it holds no finished run that did not fail"),
    "an experiment": (("experiment=quickstart",), {}, "experiment: branches continue recorded runs"),
    "nobody": ((), {"says": ["agent_7:hello"]}, "there is no participant 'agent_7'"),
    "no plan": ((), {"plans": ["agent_0:[]"]}, "not a list of actions"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_branched_is_refused_before_anything_is_written(case: str, first: Path, tmp_path: Path) -> None:
    words, changes, reported = REFUSED[case]
    with pytest.raises(UserError, match=reported):
        swept(first, tmp_path, *words, **changes)
    assert list(tmp_path.iterdir()) == []


def test_a_mind_that_cannot_take_over_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    run = run_cell(Cell.compose(["n=2", "agents=naive", "topology=debate", "max_steps=8"]), tmp_path / "runs").folder
    with pytest.raises(UserError, match="agents=tom: such a mind cannot take over during an episode"):
        swept(run, tmp_path / "out", minds=["agent_0=tom"], at=["0"])
    assert not (tmp_path / "out").exists()


def test_runs_that_end_before_an_instant_are_left_out_on_request(tmp_path: Path) -> None:
    for words in ("max_steps=2", "max_steps=4"):
        run_cell(Cell.compose([*TEAM[:-1], words]), tmp_path / "runs")
    with pytest.raises(UserError, match=r"(?s)1 of 2 cells cannot be run:.*--at 3: the run ends after step 2"):
        swept(tmp_path / "runs", tmp_path, at=["3"])
    assert swept(tmp_path / "runs", tmp_path, at=["3"], skip_invalid=True).planned == 1


def test_a_failed_run_is_branched_only_where_it_is_given_by_itself(copied: Path, tmp_path: Path) -> None:
    failed = branches(copied)[0]
    meta = json.loads((failed / "meta.json").read_text())
    (failed / "meta.json").write_text(json.dumps({**meta, "outcome": "error"}))
    options = BranchGrid((copied,), ("1",))
    assert [cell.origin.run for cell in options.plan(()).cells if isinstance(cell, PlannedBranchCell)] == [
        branches(copied)[1].name
    ]
    assert len(BranchGrid((copied, failed, failed), ("1",)).plan(()).cells) == 2


def test_the_recorded_beginning_costs_the_sweep_nothing(first: Path, tmp_path: Path) -> None:
    result = swept(first, tmp_path, at=["3"])
    runs = [finished_cell(run) for run in branches(first)]
    # Three agents ask twice in each of four steps, and the last of them is live.
    assert [run.spent.answers for run in runs] == [24, 24]
    assert [done.spent.answers for done in result.finished] == [6, 6]
    assert result.spent.answers == 12
    metrics = [RunFolder(run).metrics() for run in branches(tmp_path / "s")]
    assert [found["model.answers"] for found in metrics] == [24, 24]  # of the whole episode, as in the run
    tokens = max(done.spent.tokens for done in result.finished)
    bounded = swept(first, tmp_path / "bounded", at=["3"], budget_tokens=2 * tokens)
    assert (len(bounded.finished), bounded.stop) == (2, None)


def test_the_estimate_is_of_what_is_left_after_the_instant(first: Path, tmp_path: Path) -> None:
    expected = show_plan(asked(first, tmp_path, POOR))
    assert list(tmp_path.iterdir()) == []
    result = swept(first, tmp_path, POOR)
    assert expected.answers == result.spent.answers == 2 * 2 * (18 + 6)
    assert expected.usd == pytest.approx(result.spent.usd, rel=0.2)
    # A finished branch is evidence for its kind: the run of the other seed is expected to take as much.
    half = show_plan(asked(first, tmp_path, POOR, at=["1", "3", "2"]))
    assert (half.sources, half.answers) == ({"recorded": 4}, 2 * 2 * 12)


def test_the_estimate_of_a_branch_with_another_team_rests_on_pilots(first: Path, tmp_path: Path) -> None:
    def sources(*words: str, **more: Any) -> Mapping[str, int]:
        return show_plan(asked(first, tmp_path, *words, at=["2"], control=False, **more)).sources

    assert sources("llm.temperature=0.3") == {"recorded": 2}
    assert sources("topology=decentralized") == {"played": 2}
    real = show_plan(asked(first, tmp_path, "llm=openai", "llm.model=gpt-5-mini", at=["2"], control=False))
    assert (real.sources, real.simulated, real.to_json()["simulated"]) == ({"recorded": 2}, False, True)
    console = Console(width=200)
    with console.capture() as captured:
        console.print(real.table())
    assert "2 episodes from the rest of their own runs, at 3 s" in captured.get()
    assert sources(minds=["agent_0=heuristic"]) == {"played": 2}
    assert sources("agents=heuristic") == {"played": 2}


def test_the_estimate_in_the_middle_of_the_talk_is_of_what_is_live_from_there_on(first: Path, tmp_path: Path) -> None:
    run = branches(first)[0]
    middle = [s for s in read_trace(run).stamped(ThoughtStart) if s.t == 1][-1]
    at = [f"1:{middle.t_hat}"]
    expected, spent = show_plan(asked(run, tmp_path, at=at)), swept(run, tmp_path, at=at).spent
    assert (expected.answers, round(expected.tokens)) == (spent.answers, spent.tokens)
    assert 12 < spent.answers < 18  # of three steps, the first of them in part


def test_a_team_that_converses_has_its_own_run_as_evidence(tmp_path: Path) -> None:
    run = run_cell(Cell.compose((*TEAM, "agents.memory=conversation")), tmp_path / "runs").folder
    expected = show_plan(asked(run, tmp_path, at=["2"]))
    spent = swept(run, tmp_path, at=["2"]).spent
    assert (expected.sources, expected.answers) == ({"recorded": 1}, spent.answers)
    assert expected.tokens == pytest.approx(spent.tokens, rel=0.02)


def test_the_estimate_of_a_branch_is_what_its_own_run_has_left(tmp_path: Path) -> None:
    runs = [
        run_cell(
            Cell.compose(["n=4", "agents=naive", "topology=debate", "max_steps=60", f"seed={seed}"]), tmp_path / "r"
        )
        for seed in (0, 2)
    ]
    assert len({run.metrics["model.answers"] for run in runs}) == 2
    expected = show_plan(asked(tmp_path / "r", tmp_path, at=["1"]))
    assert expected.sources == {"recorded": 2}
    assert expected.answers == pytest.approx(swept(tmp_path / "r", tmp_path, at=["1"]).spent.answers)


def test_the_estimate_of_a_real_model_has_its_price_on_what_is_left(tmp_path: Path) -> None:
    with served(Counting()) as addresses:
        model = ("llm=openai", "llm.model=simulated", f"llm.base_url={addresses.openai}", "llm.api_key_env=null")
        words = (*TEAM, *model, "llm.prices={input: 1, output: 1}", "llm.cache=false")
        run = run_cell(Cell.compose(words), tmp_path / "runs").folder
        expected = show_plan(asked(run, tmp_path, at=["3"]))
        spent = swept(run, tmp_path, at=["3"], budget_calls=1000).spent
    assert (expected.answers, spent.answers) == (6, 6)
    assert expected.usd == pytest.approx(expected.tokens / 1e6, rel=1e-3)
    assert expected.tokens == pytest.approx(spent.tokens, rel=0.2)


def test_only_what_is_live_reaches_the_server(tmp_path: Path) -> None:
    brain = Counting()
    with served(brain) as addresses:
        model = ("llm=openai", "llm.model=simulated", f"llm.base_url={addresses.openai}", "llm.api_key_env=null")
        words = (*TEAM, *model, "llm.prices={input: 1, output: 2}", "llm.cache=false")
        run = run_cell(Cell.compose(words), tmp_path / "runs").folder
        assert brain.requests == 24
        brain.requests = 0
        with pytest.raises(UserError, match="4 episodes ask paid language models"):
            swept(run, tmp_path, "llm.temperature=0.5", at=["1", "3"])
        assert brain.requests == 0
        result = swept(run, tmp_path, "llm.temperature=0.5", at=["1", "3"], budget_calls=1000)
    # Six in each live step, for the control and for the other temperature.
    assert brain.requests == result.spent.answers == 2 * (18 + 6)


@pytest.mark.conformance
def test_a_sweep_of_branches_that_was_killed_is_the_same_when_it_was_resumed(first: Path, tmp_path: Path) -> None:
    words = ("llm.poor=0.2,0.4", "llm.latency=0.05")
    at = [word for step in "03" for word in ("--at", step)]
    line = command("branch", str(first), *at, *words, *LOCAL, "--out", str(tmp_path), "--name", "s", "--quiet")
    process = subprocess.Popen(line, cwd=tmp_path, env=environment(), stderr=subprocess.PIPE)
    deadline = time.monotonic() + PATIENCE
    while len(branches(tmp_path / "s")) < 2 and time.monotonic() < deadline and process.poll() is None:
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=PATIENCE)
    assert 2 <= len(branches(tmp_path / "s")) < 12
    swept(first, tmp_path, *words, at="03")
    resumed = contents(tmp_path / "s")
    swept(first, tmp_path / "again", *words, at="03")
    assert contents(tmp_path / "again" / "s") == resumed


@pytest.mark.conformance
@pytest.mark.parametrize(
    "engine",
    [
        pytest.param(("engine.workers=2",), id="processes"),
        pytest.param(
            ("engine=slurm", "engine.executor=local", "engine.cells=4", "engine.jobs=2"),
            marks=pytest.mark.skipif(find_spec("submitit") is None, reason="pip install 'quorum-harness[slurm]'"),
            id="slurm",
        ),
        pytest.param(
            ("engine=ray", "engine.actors=1"),
            marks=pytest.mark.skipif(find_spec("ray") is None, reason="pip install 'quorum-harness[ray]'"),
            id="ray",
        ),
    ],
)
def test_branches_are_the_same_with_every_engine(engine: tuple[str, ...], tmp_path: Path, first: Path) -> None:
    line = command("branch", str(first), "--at", "1", "--at", "3", POOR, *engine, "--quiet")
    line += ["--out", str(tmp_path), "--name", "s"]
    done = subprocess.run(line, cwd=tmp_path, env=environment(), check=False, stderr=subprocess.PIPE)
    assert done.returncode == 0, done.stderr[-2000:]
    swept(first, tmp_path / "here", POOR)
    assert contents(tmp_path / "s") == contents(tmp_path / "here" / "s")
    assert len(contents(tmp_path / "s")) == 8


def test_heuristics_in_cube_are_branched_too(tmp_path: Path) -> None:
    run = run_cell(Cell.compose(["n=3", "seed=1", "max_steps=20", "agents=heuristic"]), tmp_path / "runs").folder
    result = swept(run, tmp_path, at=["4"], minds=["agent_0=naive,always_right"])
    assert (len(result.finished), result.failed) == (3, ())
    assert {row.factors["branch"] for row in read_results(tmp_path / "s").rows} == {f"{run.name}:4"}


def test_branches_of_a_line_are_in_no_line_and_each_begins_with_the_memory_of_its_run(
    sweep: Sweep, tmp_path: Path, options: Path
) -> None:
    sweep("agents=counter", "n=1", "env.length=2", "episode=range(0,3)")
    runs = {run.name: run for run in branches(tmp_path / "s")}
    branched = BranchGrid((tmp_path / "s",), ("0",), draws=2)
    request = SweepRequest(LOCAL, tmp_path, "what-if", plugins=MODULES, config_dir=options, planner=branched)
    result = run_sweep_command(request, quiet=True)
    assert (len(result.finished), result.failed, result.held) == (6, (), 0)
    for run in branches(tmp_path / "what-if"):
        said = RunFolder(run).meta().origin
        assert said is not None
        assert read_memory(run, MEMORY_BEFORE) == read_memory(runs[said.run], MEMORY_BEFORE)
        exchanged(run)  # the memory that it leaves differs from that of its run
    assert check_folder(tmp_path / "what-if").damaged == ()
    assert run_sweep_command(request, quiet=True).damaged == {}


def test_a_branch_without_a_run_is_refused(quorum: Quorum) -> None:
    done = quorum("branch", "n=2", "--at", "3")
    assert (done.returncode, "name the folder of a run or of a sweep" in done.stderr) == (2, True)


def test_a_grid_of_branches_needs_the_folders_of_its_runs() -> None:
    with pytest.raises(TypeError, match="folders"):
        BranchGrid()  # type: ignore[call-arg]

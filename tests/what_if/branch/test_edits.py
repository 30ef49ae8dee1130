"""What a branch changes, and what it refuses."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from maeil.trace import Trace, comparable, read_trace
from maeil.trace.events import MessageSent, PlanChange, ThoughtEnd, ThoughtStart
from quorum.configuration.cell import Cell
from quorum.episode.runner import run_cell
from quorum.episode.start import StartRefused
from quorum.runs.run_folder import RunFolder
from quorum.runs.verify import verify_run
from quorum_base.user_errors import UserError
from tests.branching import PLAYED_OUT, plan_branch, plan_draws
from tests.conftest import Quorum
from tests.what_if.branch.test_identity import branched, calls_of

AT = "2"


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    words = "env=squeeze n=3 max_steps=5 agents=naive topology=debate llm.temperature=0"
    return run_cell(Cell.compose(words.split()), tmp_path_factory.mktemp("runs")).folder


def ends(trace: Trace) -> list[tuple[int, int, int]]:
    """Return step, agent and number of calls of each thought."""
    return [(s.t, s.event.agent, len(s.event.calls)) for s in trace.events if isinstance(s.event, ThoughtEnd)]


def beginning(folder: Path) -> list[bytes]:
    """Return the lines of a trace before the first thought of the instant, without the first."""
    trace = read_trace(folder)
    first = next(s.seq for s in trace.events if isinstance(s.event, ThoughtStart) and s.t >= int(AT))
    return comparable(folder)[1:first]


def test_another_mind_thinks_from_the_instant_on_and_not_before(run: Path, tmp_path: Path) -> None:
    branch = branched(run, AT, tmp_path, minds=["agent_2=heuristic"]).folder
    assert beginning(branch) == beginning(run)
    assert {(t >= int(AT), bool(calls)) for t, agent, calls in ends(read_trace(branch)) if agent == 2} == {
        (False, True),
        (True, False),
    }
    assert {bool(calls) for t, agent, calls in ends(read_trace(branch)) if agent != 2} == {True}


@pytest.mark.parametrize("first", [True, False])
def test_a_mind_and_its_values_are_given_in_any_order(first: bool, run: Path) -> None:
    words = ("agents.members.agent_2=heuristic", "agents.members.agent_2.teams=one")
    values = plan_branch(run, AT, edits=words if first else words[::-1]).cell.plain["agents"]["members"]["agent_2"]
    assert values == {"name": "heuristic", "teams": "one"}


def test_other_values_of_a_model_draw_the_answers_from_the_instant_on(run: Path, tmp_path: Path) -> None:
    branch = branched(run, AT, tmp_path, edits=["llm.temperature=0.7", "llm.poor=1.0"]).folder
    drawn = {(call["t"] >= int(AT), call["request"]["sampling"]["temperature"]) for call in calls_of(branch)}
    assert drawn == {(False, 0.0), (True, 0.7)}
    before, after = ([call for call in calls_of(f) if call["t"] < int(AT)] for f in (branch, run))
    assert before == after
    assert beginning(branch) == beginning(run)


def test_other_prompts_reach_what_is_asked_from_the_instant_on(run: Path, tmp_path: Path) -> None:
    branch = branched(run, AT, tmp_path, edits=["prompts=terse"]).folder
    system: dict[bool, set[str]] = {False: set(), True: set()}
    for call in calls_of(branch):
        system[call["t"] >= int(AT)].add(call["request"]["messages"][0]["content"])
    assert all(system.values())
    assert not system[False] & system[True]


def test_who_does_not_talk_is_spared_the_talk_that_begins_with_the_branch(tmp_path: Path) -> None:
    words = ["n=3", "seed=2", "max_steps=40", "topology=debate", "agents=heuristic"]
    run = run_cell(Cell.compose(words), tmp_path / "runs").folder
    starts = [s for s in read_trace(run).events if isinstance(s.event, ThoughtStart)]
    branch = branched(run, f"{starts[len(starts) // 2].t}", tmp_path, minds=["agent_0=naive"])
    assert branch.outcome in PLAYED_OUT
    events = [s.event for s in read_trace(branch.folder).events]
    assert {event.sender for event in events if isinstance(event, MessageSent)} == {0}
    given_up = [e for e in events if isinstance(e, PlanChange) and e.status in ("interrupted", "replaced")]
    assert not [event for event in given_up if event.agent]


TAKEN = {
    "cube negotiator": ("n=4 agents=naive topology=debate max_steps=40", ["agent_1=negotiator", "agent_2=heuristic"]),
    "cube always_right": ("n=3 agents=heuristic max_steps=30", ["agent_1=always_right", "agent_2=naive"]),
    "crafter": ("env=crafter_coop n=3 agents=naive max_steps=25", ["agent_0=heuristic"]),
    "transport": ("env=transport n=3 agents=naive max_steps=20 topology=dialogue", ["agent_1=heuristic"]),
    "squeeze": ("env=squeeze n=3 agents=heuristic max_steps=6", ["agent_1=naive"]),
}


@pytest.mark.parametrize("cell", TAKEN)
def test_minds_take_over_in_the_middle_in_every_world(cell: str, tmp_path: Path) -> None:
    words, minds = TAKEN[cell]
    run = run_cell(Cell.compose(words.split()), tmp_path / "runs").folder
    starts = [s for s in read_trace(run).events if isinstance(s.event, ThoughtStart)]
    middle = starts[len(starts) // 2]
    branch = branched(run, f"{middle.t}:{middle.t_hat}", tmp_path, minds=minds)
    assert branch.outcome in PLAYED_OUT
    assert not any(s.event.refused for s in read_trace(branch.folder).events if isinstance(s.event, ThoughtEnd))


def test_the_folder_of_a_branch_names_its_run_the_instant_and_the_edit(run: Path, tmp_path: Path) -> None:
    branch = branched(run, "1:0", tmp_path, minds=["agent_0=heuristic"]).folder
    meta = json.loads((branch / "meta.json").read_text())
    said = meta["branch"]
    assert (said["run"], said["t"], said["t_hat"]) == (run.name, 1, 0)
    assert said["edits"] == ["agents.members.agent_0=heuristic"]
    assert read_trace(branch).start.branch == said
    assert "branch" not in json.loads((run / "meta.json").read_text())
    found = verify_run(branch)
    assert (found.problems, found.unverified) == ([], [])
    assert "-at1-" in branch.name
    row = RunFolder(branch).row()
    assert row.factors["branch"] == f"{run.name}:1:0"


def test_a_branch_is_a_separate_cell_by_its_instant_and_its_configuration(run: Path) -> None:
    cells = [plan_branch(run, at).cell for at in ("0", "1", "1")]
    other = plan_branch(run, "1", minds=["agent_0=heuristic"]).cell
    assert cells[1].hash == cells[2].hash
    assert len({cell.hash for cell in (*cells, other)} | {RunFolder(run).meta().hash}) == 4


def test_an_edit_that_changes_nothing_is_reported(run: Path) -> None:
    assert plan_branch(run, AT, edits=["llm.tries=3"]).idle
    assert not plan_branch(run, AT, edits=["llm.poor=0.5"]).idle
    assert not plan_branch(run, AT).idle


REFUSED = {
    "no step": ("x", {}, "--at x: give a step, or a step and a cognitive time"),
    "negative": ("-1", {}, "--at -1: give a step"),
    "after the end": ("99", {}, "--at 99: the run ends after step 5"),
    "after the last thought": ("5", {}, "--at 5: no thought begins at 5 or later; the last one begins at 4:"),
    "another world": (AT, {"edits": ["env.rho=1"]}, "env.rho: a branch cannot change this"),
    "the team's size": (AT, {"edits": ["n=4"]}, "n: a branch cannot change this"),
    "no such key": (AT, {"edits": ["llm.pooor=1"]}, r"llm.pooor: there is no such key(.|\n)*Did you mean 'poor'"),
    "no such option": (AT, {"edits": ["llm=openia"]}, r"llm: there is no option 'openia'(.|\n)*openai"),
    "no value": (AT, {"edits": ["llm=openai"]}, "llm.model: missing mandatory value"),
    "added": (AT, {"edits": ["+llm.more=1"]}, "write KEY=VALUE"),
    "several values": (AT, {"edits": ["llm.poor=0,1"]}, "an episode takes one value"),
    "no such mind": (AT, {"minds": ["agent_1=heuristc"]}, r"there is no option 'heuristc'(.|\n)*heuristic"),
    "no such key of a mind": (
        AT,
        {"edits": ["agents.members.agent_1=tom", "agents.members.agent_1.hypothesis=9"]},
        r"agents.members.agent_1.hypothesis: there is no such key(.|\n)*Did you mean 'hypotheses'",
    ),
    "no mind": (AT, {"minds": ["heuristic"]}, "--mind heuristic: give AGENT=MIND"),
    "no such agent": (AT, {"minds": ["agent_9=heuristic"]}, "agents.members.agent_9: there is no such participant"),
    "secret": (AT, {"edits": ["agents.max_actions=${oc.env:HOME}"]}, "environment"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_done_is_refused_before_anything_is_written(case: str, run: Path, tmp_path: Path) -> None:
    at, edits, message = REFUSED[case]
    with pytest.raises(UserError, match=message):
        branched(run, at, tmp_path / "out", **edits)
    assert not (tmp_path / "out").exists()


def test_a_mind_that_has_grown_from_its_own_beginning_cannot_take_over(tmp_path: Path) -> None:
    run = run_cell(Cell.compose(["env=transport", "n=3", "max_steps=6", "agents=naive"]), tmp_path / "runs").folder
    with pytest.raises(UserError, match=r"agents=tom: such a mind cannot take over(.|\n)*These can: .*heuristic"):
        branched(run, "2", tmp_path / "out", minds=["agent_1=tom"])
    assert not (tmp_path / "out").exists()


def test_runs_that_cannot_be_brought_back_are_refused(run: Path, tmp_path: Path) -> None:
    timed = run_cell(Cell.compose(["env=squeeze", "n=2", "max_steps=3", "clock=seconds"]), tmp_path / "runs").folder
    with pytest.raises(UserError, match="its thoughts took real time"):
        plan_branch(timed, "1")
    with pytest.raises(UserError, match="there is no such folder"):
        plan_branch(tmp_path / "nowhere", "1")


def test_a_run_of_recorded_answers_is_branched_with_them_or_with_a_model(run: Path, tmp_path: Path) -> None:
    words = ["env=squeeze", "n=3", "max_steps=5", "agents=naive", "topology=debate", "llm=replay", f"llm.run={run}"]
    again = run_cell(Cell.compose(words), tmp_path / "runs").folder
    assert comparable(branched(again, AT, tmp_path / "out").folder)[1:] == comparable(again)[1:]
    other = {"minds": ["agent_2=heuristic"], "edits": ["llm=simulated", "llm.temperature=0"]}
    assert branched(again, AT, tmp_path / "out", **other).outcome == "truncated"
    assert plan_branch(again, AT, **other).notice == ""
    assert "llm=replay answers only" in plan_branch(again, AT, minds=["agent_2=heuristic"]).notice
    assert plan_branch(again, AT).notice == ""
    with pytest.raises(UserError, match="--draws with llm=replay: a recording has only one answer"):
        list(plan_draws(again, AT, 2))


def tampered(run: Path, folder: Path, file: str, old: str, new: str) -> Path:
    """Copy a run, change a text in a file of it, and take the digests away by which that would be found."""
    shutil.copytree(run, folder)
    text = (folder / file).read_text()
    assert old in text
    (folder / file).write_text(text.replace(old, new, 1))
    meta = json.loads((folder / "meta.json").read_text())
    del meta["files"]
    (folder / "meta.json").write_text(json.dumps(meta))
    return folder


DAMAGES = {
    "an event": ("trace.jsonl", '"to_stage":"W"', '"to_stage":"X"', r"event \d+ at 0:\d+: it was stage"),
    "an answer": ("calls.jsonl", '"completion":', '"completion":1', r"event \d+ at 0:\d+: it was thought_end"),
    "a prompt": ("meta.json", '"max_actions": 8', '"max_actions": 7', "this call was not recorded"),
    "a board": ("trace.jsonl", '"best_x":', '"best_x":1', "event 0 at 0:0: it was episode_start"),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_beginning_that_comes_out_otherwise_is_reported_and_leaves_nothing(
    damage: str, run: Path, tmp_path: Path
) -> None:
    file, old, new, message = DAMAGES[damage]
    changed = tampered(run, tmp_path / "run", file, old, new)
    with pytest.raises(StartRefused, match=rf"cannot be replayed up to the branch point: (.|\n)*{message}"):
        branched(changed, AT, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_run_without_its_calls_is_refused(run: Path, tmp_path: Path) -> None:
    folder = tampered(run, tmp_path / "run", "meta.json", "", "")
    (folder / "calls.jsonl").unlink()
    with pytest.raises(UserError, match=r"the answers of its models: .*calls.jsonl cannot be read"):
        plan_branch(folder, AT)


def test_a_changed_file_is_found_by_its_digest(run: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(run, tmp_path / "run")
    with (folder / "trace.jsonl").open("a") as file:
        file.write("\n")
    with pytest.raises(UserError, match="trace"):
        plan_branch(folder, AT)


def test_the_command_prints_a_summary_and_ends_with_2_at_a_mistake(run: Path, quorum: Quorum) -> None:
    done = quorum("branch", str(run), "--at", AT, "--mind", "agent_1=heuristic", "--json")
    assert done.returncode == 0
    assert json.loads(done.stdout)["outcome"] == "truncated"
    wrong = quorum("branch", str(run), "--at", "99")
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert wrong.stderr.startswith("error: --at 99: the run ends after step 5")

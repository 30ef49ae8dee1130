"""Changes of the loop at a branch point: its topology, its step limit, its budget, its memory."""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from maeil import LoopSettings, Plan, Thought, run_episode
from maeil.component import ComponentConfig, Handover, TopologyContext
from maeil.messages import Draft
from maeil.trace import Instant, Prefix, Recorder, Stamped, Trace, comparable, read_trace
from maeil.trace.events import MessageSent, StepTaken, ThoughtStart
from quorum.configuration.cell import Cell
from quorum.configuration.registry import topologies
from quorum.episode.runner import run_cell
from quorum.methods.dytopo.events import Routed
from quorum.runs.verify import verify_run
from quorum.topologies.plain import Decentralized, DecentralizedConfig
from quorum.what_if.extensions.branch import Branch, LaterSettings
from quorum_base.user_errors import UserError
from tests.branching import PLAYED_OUT, plan_branch
from tests.maeil.corridor import Corridor, Walk
from tests.maeil.scripted import Scripted, walk
from tests.what_if.branch.test_identity import branched, calls_of

AT = 2
NAMES = ("debate", "chain")


def run_config(topology: str) -> ComponentConfig:
    return Cell.compose(["n=3", f"topology={topology}"]).configuration.topology


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    words = "env=squeeze n=3 max_steps=5 agents=naive topology=debate llm.poor=0.3"
    return run_cell(Cell.compose(words.split()), tmp_path_factory.mktemp("runs")).folder


def beginning(folder: Path, at: int = AT) -> list[bytes]:
    """Return the lines of a trace before the first thought of a step, without the first."""
    trace = read_trace(folder)
    first = next(s.seq for s in trace.events if isinstance(s.event, ThoughtStart) and s.t >= at)
    return comparable(folder)[1:first]


def steps(folder: Path) -> int:
    return len(read_trace(folder).stamped(StepTaken))


WORLDS = {
    "squeeze": "env=squeeze n=3 agents=naive topology=debate max_steps=5",
    "cube": "n=4 agents=naive topology=debate max_steps=5",
    "crafter": "env=crafter_coop n=3 agents=naive max_steps=5",
    "transport": "env=transport n=3 agents=naive topology=centralized max_steps=5",
    "transport large": "env=transport n=32 agents=heuristic max_steps=5",
}


@pytest.mark.parametrize("world", WORLDS)
@pytest.mark.parametrize("limit", [4, 8])
def test_a_run_is_made_longer_or_shorter_in_every_world(world: str, limit: int, tmp_path: Path) -> None:
    run = run_cell(Cell.compose(WORLDS[world].split()), tmp_path / "runs").folder
    started = [s.t for s in read_trace(run).events if isinstance(s.event, ThoughtStart) and s.t < 4]
    at = max(started)
    branch = branched(run, str(at), tmp_path / "branches", edits=[f"max_steps={limit}"])
    assert branch.outcome in PLAYED_OUT
    trace, extra = read_trace(branch.folder), read_trace(run).start.board["max_steps"] - 5
    assert steps(branch.folder) == limit or world == "transport large"
    assert trace.start.board["max_steps"] == limit + extra
    assert beginning(branch.folder, at) == beginning(run, at)
    assert verify_run(branch.folder).problems == []
    reported = [call["request"]["messages"][-1]["content"] for call in calls_of(branch.folder) if call["t"] >= at]
    if world in ("cube", "transport"):
        assert reported
        assert all(f'"max_steps":{limit}' in text for text in reported)


def test_a_run_that_is_made_longer_goes_on_as_the_long_one_would_have(tmp_path: Path) -> None:
    short, long = (
        run_cell(Cell.compose(f"n=4 seed=2 max_steps={limit}".split()), tmp_path / "runs").folder for limit in (12, 30)
    )
    last = max(s.t for s in read_trace(short).events if isinstance(s.event, ThoughtStart))
    branch = branched(short, str(last), tmp_path / "branches", edits=["max_steps=30"]).folder
    assert comparable(branch)[1:] == comparable(long)[1:]


def test_another_topology_gives_the_turns_from_the_instant_on(run: Path, tmp_path: Path) -> None:
    branch = branched(run, str(AT), tmp_path, edits=["topology=individual"]).folder
    assert beginning(branch) == beginning(run)
    trace = read_trace(branch)
    assert {s.t for s in trace.stamped(MessageSent)} == set(range(AT))
    acts = [tuple(s.event.acts) for s in trace.events if isinstance(s.event, ThoughtStart) and s.t >= AT]
    assert set(acts) == {("plan",)}
    assert trace.start.topology == "individual"
    assert verify_run(branch).problems == []


def test_minds_are_told_the_topology_that_there_is(run: Path, tmp_path: Path) -> None:
    branch = branched(run, str(AT), tmp_path, edits=["topology=chain"]).folder
    words = {name: topologies.get(name).build(run_config(name), TopologyContext(3)).describe("") for name in NAMES}
    for call in calls_of(branch):
        reported = " ".join(message["content"] for message in call["request"]["messages"])
        assert [name for name in NAMES if words[name] in reported] == ["chain" if call["t"] >= AT else "debate"]


@pytest.mark.parametrize("topology", ["centralized", "decentralized", "dytopo", "random", "hybrid"])
def test_every_topology_with_the_same_participants_takes_over(topology: str, run: Path, tmp_path: Path) -> None:
    name, *more = topology.split()
    branch = branched(run, "1", tmp_path, edits=[f"topology={name}", *more])
    assert branch.outcome in PLAYED_OUT
    assert beginning(branch.folder, 1) == beginning(run, 1)


def test_a_value_of_the_topology_is_another_from_the_instant_on(tmp_path: Path) -> None:
    words = "env=squeeze n=3 agents=naive topology=dytopo max_steps=4"
    run = run_cell(Cell.compose(words.split()), tmp_path / "runs").folder
    branch = branched(run, "1", tmp_path / "out", edits=["topology.rounds=2"]).folder
    assert beginning(branch, 1) == beginning(run, 1)
    rounds = Counter(s.t for s in read_trace(branch).stamped(Routed))
    assert rounds == {0: 1, 1: 2, 2: 2, 3: 2}


def test_a_budget_counts_the_calls_of_the_beginning(run: Path, tmp_path: Path) -> None:
    before = len([call for call in calls_of(run) if call["t"] < AT])
    branch = branched(run, str(AT), tmp_path, edits=[f"budget.calls={before + 4}"])
    assert branch.outcome == "budget"
    assert branch.metrics["model.answers"] == before + 4
    less = branched(run, str(AT), tmp_path, edits=["budget.calls=1"])
    assert less.outcome == "budget"
    assert less.metrics["model.answers"] == before


def test_a_run_that_its_budget_has_ended_goes_on_with_a_larger_one(tmp_path: Path) -> None:
    words = "env=squeeze n=3 max_steps=5 agents=naive topology=debate"
    run, whole = (run_cell(Cell.compose([*words.split(), *more]), tmp_path / "r") for more in (["budget.calls=15"], []))
    assert run.outcome == "budget"
    last = max(s.t for s in read_trace(run.folder).events if isinstance(s.event, ThoughtStart))
    branch = branched(run.folder, str(last), tmp_path / "out", edits=["budget.calls=null"])
    assert comparable(branch.folder)[1:] == comparable(whole.folder)[1:]


@pytest.mark.parametrize("later", [0, 1, 6])
def test_as_many_earlier_messages_are_seen_as_hold_from_the_instant_on(later: int) -> None:
    def episode(changed: LaterSettings | None, listener: Prefix | None) -> tuple[list[Stamped], Scripted]:
        heard: list[Stamped] = []
        talks, listens = (
            Scripted(lambda view: Thought(Plan((Walk(),)), (Draft((1,), f"{view.t}"),))),
            Scripted(walk(1)),
        )
        topology = Decentralized(DecentralizedConfig(name="decentralized", budget=1))
        with Recorder(None, [heard.append, *([listener] if listener is not None else [])]) as recorder:
            asyncio.run(
                run_episode(
                    Corridor(2, length=9),
                    [talks, listens],
                    topology,
                    seed=1,
                    settings=LoopSettings(memory_messages=2),
                    recorder=recorder,
                    extensions=[Branch(None, [changed])] if changed is not None else [],
                )
            )
        return heard, listens

    events, _ = episode(None, None)
    prefix = Prefix(Trace(tuple(events)), Instant(5))
    _, listens = episode(LaterSettings(prefix, LoopSettings(memory_messages=later)), prefix)
    seen = {view.t: len(view.memory) for view in listens.views if not view.unread}
    assert [seen[t] for t in range(1, 5)] == [1, 2, 2, 2]
    assert {seen[t] for t in range(7, 9)} <= {later}


def test_messages_take_as_long_as_the_branch_says(run: Path, tmp_path: Path) -> None:
    branch = branched(run, str(AT), tmp_path, edits=["clock.delivery=500"]).folder
    waits = {(s.t >= AT, s.event.delivered_at - s.t_hat) for s in read_trace(branch).stamped(MessageSent)}
    assert waits == {(False, 0), (True, 500)}


COORDINATED = ["topology=centralized", "topology.leader=coordinator"]
REFUSED = {
    "a conversation under way": ("talk", ["topology=individual"], r"at 2:\d+ a conversation is under way"),
    "a coordinator comes": (
        "2",
        COORDINATED,
        "it has a coordinator, and the team had none",
    ),
    "no such topology": ("2", ["topology=centralised"], "topology: there is no option 'centralised'"),
    "a shorter run than there is": ("2", ["max_steps=2"], "max_steps=2: the branch starts at step 2"),
    "no steps": ("2", ["max_steps=0"], "max_steps"),
    "a part of the world": ("2", ["env.max_steps=9"], r"env.max_steps: (.|\n)*Set only max_steps"),
    "a group of values": ("2", ["budget=large"], r"budget: this is a group(.|\n)*budget.calls"),
    "the seed": ("2", ["seed=4"], "seed: .*selects the board"),
    "the team": ("2", ["n=4"], "n: .*the team stays the same"),
    "the clock": ("2", ["clock=fixed"], "clock: .*counted in two ways"),
    "memory that is kept": ("2", ["memory.keep=false"], "memory.keep: .*set when an episode begins"),
    "extensions": ("2", ["extension=repair"], "extension: .*from the start"),
    "repairs of answers": (
        "2",
        ["max_repairs=3"],
        "max_repairs: .*minds are built with it",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_another_is_refused_with_the_reason(case: str, run: Path, tmp_path: Path) -> None:
    at, sets, message = REFUSED[case]
    if at == "talk":
        instants = [s.t_hat for s in read_trace(run).stamped(ThoughtStart) if s.t == 2]
        at = f"2:{next(t_hat for t_hat in instants if t_hat > instants[0])}"
    with pytest.raises(UserError, match=message) as refused:
        branched(run, at, tmp_path / "out", edits=sets)
    assert str(refused.value)
    assert not (tmp_path / "out").exists()


def test_minds_that_cannot_take_over_keep_the_topology(tmp_path: Path) -> None:
    words = "env=transport n=3 agents=tom topology=debate max_steps=4"
    run = run_cell(Cell.compose(words.split()), tmp_path / "runs").folder
    with pytest.raises(UserError, match="agents=tom: such a mind cannot take over"):
        branched(run, "1", tmp_path / "out", edits=["topology=individual"])


def test_a_topology_that_does_not_say_that_it_can_take_over_is_refused(
    run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = replace(topologies.get("individual"), handover=Handover.NEVER)
    get = topologies.get
    monkeypatch.setattr(topologies, "get", lambda name: other if name == "individual" else get(name))
    with pytest.raises(UserError, match="topology=individual: it does not declare that it can take over"):
        plan_branch(run, "2", edits=["topology=individual"])

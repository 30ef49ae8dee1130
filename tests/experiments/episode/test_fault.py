"""One fault of one participant: what it does, what it leaves as it is, and where it is told."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import orjson
import pytest

from maeil.trace import comparable, read_trace
from maeil.trace.events import MessageSent, PlanChange, Stamped, ThoughtStart
from maeil.user_errors import UserError
from quorum.experiments.configuration.cell import Cell
from quorum.experiments.configuration.fault import FaultKind
from quorum.experiments.episode import runner
from quorum.experiments.episode.fault import FAULT, Fault, Label, read_label
from quorum.experiments.results.verify import verify_run

PLANNED = "n=4 max_steps=80 seed=5"
TALKED = "n=4 agents=naive topology=debate max_steps=30 seed=1"
FAILING = {
    "cube": "n=4 max_steps=60 seed=0",
    "transport": "env=transport n=4 max_steps=6 seed=1",
    "talk": "env=transport n=4 agents=naive topology=debate max_steps=10",
}


def played(words: str, out: Path, *more: str) -> Path:
    return runner.run_cell(Cell.compose([*words.split(), *more]), out).folder


def played_with(fault: Fault, words: str, out: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Play a cell with a fault of our choice."""

    async def chosen(*_: object) -> Label:
        return Label(fault, "", 1, 1)

    monkeypatch.setattr(runner, "plant", chosen)
    return played(words, out, "fault=one")


def turns(folder: Path, act: str) -> list[Stamped]:
    events = read_trace(folder).events
    return [s for s in events if isinstance(s.event, ThoughtStart) and act in s.event.acts]


def committed(folder: Path, agent: int) -> list[tuple[int, Sequence[dict[str, object]]]]:
    """Return step and actions of each plan of an agent."""
    events = read_trace(folder).events
    plans = [s for s in events if isinstance(s.event, PlanChange) and s.event.agent == agent]
    return [(s.t, list(s.event.actions)) for s in plans if isinstance(s.event, PlanChange) and s.event.actions]


def fault_at(turn: Stamped, kind: FaultKind) -> Fault:
    assert isinstance(turn.event, ThoughtStart)
    return Fault(f"agent_{turn.event.agent}", turn.t, turn.t_hat, kind, 7, 5)


@pytest.fixture(scope="module")
def clean(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return played(PLANNED, tmp_path_factory.mktemp("clean"))


@pytest.fixture(scope="module")
def talk(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return played(TALKED, tmp_path_factory.mktemp("talk"))


@pytest.mark.parametrize("cell", FAILING)
def test_an_episode_with_its_fault_fails_and_the_same_one_without_it_succeeds(cell: str, tmp_path: Path) -> None:
    clean, faulty = played(FAILING[cell], tmp_path), played(FAILING[cell], tmp_path, "fault=one")
    success = [json.loads((folder / "metrics.json").read_text())["outcome.success"] for folder in (clean, faulty)]
    assert success == [True, False]
    label = read_label(faulty)
    assert label is not None
    assert label.fault is not None
    found = verify_run(faulty)
    assert (found.problems, found.unverified) == ([], [])
    agent = int(label.fault.agent.rpartition("_")[2])
    begun = [s for s in read_trace(faulty).events if isinstance(s.event, ThoughtStart) and s.event.agent == agent]
    assert (label.fault.t, label.fault.t_hat) in {(s.t, s.t_hat) for s in begun}


def test_the_fault_of_a_cell_is_the_same_whenever_it_is_run(tmp_path: Path) -> None:
    labels = {(played(FAILING["cube"], tmp_path, "fault=one") / FAULT).read_bytes() for _ in range(2)}
    assert len(labels) == 1


def test_an_episode_that_fails_by_itself_has_no_fault_and_says_why(tmp_path: Path) -> None:
    words = "n=4 max_steps=10 seed=0"
    clean, faulty = played(words, tmp_path), played(words, tmp_path, "fault=one")
    label = read_label(faulty)
    assert label is not None
    assert (label.fault, label.tries) == (None, 0)
    assert label.reason == "without a fault it does not succeed within 10 steps"
    assert comparable(faulty) == comparable(clean)


def test_an_episode_that_no_fault_makes_fail_is_played_without_one(tmp_path: Path) -> None:
    words, more = "n=4 seed=0", ("fault=one", "fault.kinds=[late]", "fault.delay=1", "fault.tries=2")
    faulty = played(words, tmp_path, *more)
    label = read_label(faulty)
    assert label is not None
    assert (label.fault, label.reason) == (None, "none of 2 faults makes it fail")
    assert comparable(faulty) == comparable(played(words, tmp_path))


def test_nothing_but_its_own_file_tells_the_fault(clean: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    some = turns(clean, "plan")
    faults = [fault_at(some[1], FaultKind.WRONG_PLAN), fault_at(some[-2], FaultKind.LATE)]
    folders = [played_with(fault, PLANNED, tmp_path, monkeypatch) for fault in faults]
    assert {folder.name.removesuffix(".2") for folder in folders} == {folders[0].name}
    files = [sorted(file.name for file in folder.iterdir()) for folder in folders]
    assert files[0] == files[1]
    assert (folders[0] / "config.yaml").read_bytes() == (folders[1] / "config.yaml").read_bytes()
    traces = [comparable(folder) for folder in (clean, *folders)]
    same = next(i for i, lines in enumerate(zip(*traces, strict=False)) if len(set(lines)) > 1)
    first = json.loads(traces[0][same])
    assert (first["t"], first["t_hat"]) >= (faults[0].t, faults[0].t_hat)
    for folder in folders:
        meta = json.loads((folder / "meta.json").read_text())
        del meta["configuration"]  # it names all kinds that there are
        for text in (json.dumps(meta), (folder / "trace.jsonl").read_text(), (folder / "metrics.json").read_text()):
            assert not [kind for kind in FaultKind if f'"{kind}"' in text]
        assert not [key for key in meta if key not in json.loads((clean / "meta.json").read_text())]


def test_a_wrong_plan_is_another_one_that_the_world_takes(
    clean: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    turn = turns(clean, "plan")[2]
    assert isinstance(turn.event, ThoughtStart)
    faulty = played_with(fault_at(turn, FaultKind.WRONG_PLAN), PLANNED, tmp_path, monkeypatch)
    right, wrong = (dict(reversed(committed(folder, turn.event.agent)))[turn.t] for folder in (clean, faulty))
    assert right != wrong
    assert [action["action"] for action in right] == [action["action"] for action in wrong]


def test_a_late_plan_waits_and_is_then_carried_out(
    clean: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    turn = turns(clean, "plan")[2]
    assert isinstance(turn.event, ThoughtStart)
    faulty = played_with(fault_at(turn, FaultKind.LATE), PLANNED, tmp_path, monkeypatch)
    right, late = (dict(reversed(committed(folder, turn.event.agent)))[turn.t] for folder in (clean, faulty))
    assert late == [{"action": "idle", "steps": 1}] * 5 + list(right)


def test_a_stubborn_agent_commits_its_earlier_plan_again_or_waits(
    clean: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    turn = next(found for found in turns(clean, "plan") if found.t > 0)
    assert isinstance(turn.event, ThoughtStart)
    agent = turn.event.agent
    faulty = played_with(fault_at(turn, FaultKind.STUBBORN), PLANNED, tmp_path, monkeypatch)
    (_, kept), *before = reversed([plan for plan in committed(clean, agent) if plan[0] < turn.t])
    assert not before
    later = [plan for t, plan in committed(faulty, agent) if t >= turn.t]
    right = dict(reversed(committed(clean, agent)))[turn.t]
    assert later[0] != right
    assert {orjson.dumps(plan) for plan in later} <= {
        orjson.dumps(kept),
        orjson.dumps([{"action": "idle", "steps": 1}]),
    }


def test_what_is_labelled_is_the_turn_in_which_somebody_first_does_something_else(tmp_path: Path) -> None:
    """Not one before it: a turn in which all was right is no mistake."""
    for kind in FaultKind:
        words = f"n=4 agents=negotiator topology=debate max_steps=55 fault.kinds=[{kind}]"
        for seed in range(12):
            faulty = played(words, tmp_path, "fault=one", f"seed={seed}")
            label = read_label(faulty)
            assert label is not None
            if label.fault is not None:
                break
        else:
            raise AssertionError(f"no {kind} makes one of them fail")
        clean = played(words.rpartition(" ")[0], tmp_path, f"seed={seed}")
        other = next(
            json.loads(one)
            for one, two in zip(comparable(faulty)[1:], comparable(clean)[1:], strict=False)
            if one != two
        )
        begun = [
            s
            for s in read_trace(faulty).events
            if isinstance(s.event, ThoughtStart)
            and f"agent_{s.event.agent}" == label.fault.agent
            and s.seq < other["seq"]
        ]
        assert (begun[-1].t, begun[-1].t_hat) == (label.fault.t, label.fault.t_hat)


def said(folder: Path, agent: int) -> list[tuple[int, int | float, str]]:
    sent = [(s, s.event) for s in read_trace(folder).events if isinstance(s.event, MessageSent)]
    return [(s.t, s.t_hat, event.content) for s, event in sent if event.sender == agent]


def test_what_is_withheld_is_not_sent_and_the_thought_takes_its_time(
    talk: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    turn = turns(talk, "speak")[0]
    assert isinstance(turn.event, ThoughtStart)
    faulty = played_with(fault_at(turn, FaultKind.WITHHELD), TALKED, tmp_path, monkeypatch)
    before, after = (said(folder, turn.event.agent) for folder in (talk, faulty))
    assert before[0] not in after
    calls = [(folder / "calls.jsonl").read_bytes().splitlines()[0] for folder in (talk, faulty)]
    assert orjson.loads(calls[0])["request"] == orjson.loads(calls[1])["request"]


def test_a_false_message_names_another_thing_in_the_same_words(
    talk: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    turn = turns(talk, "speak")[0]
    assert isinstance(turn.event, ThoughtStart)
    faulty = played_with(fault_at(turn, FaultKind.FALSE_MESSAGE), TALKED, tmp_path, monkeypatch)
    (_, _, true), (_, _, false) = (said(folder, turn.event.agent)[0] for folder in (talk, faulty))
    assert true != false
    assert [word for word in true.split() if "block" not in word] == [
        word for word in false.split() if "block" not in word
    ]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("agents=naive llm=openai llm.model=m", "fault=one: llm=openai: its episode is played many times"),
        ("clock=seconds", "fault=one: clock=seconds"),
        ("limits.episode_seconds=5", "fault=one: limits"),
        ("n=3 agents=drwell topology=negotiation", "fault=one: agents=drwell takes a memory along"),
        ("fault.kinds=[]", "there must be one at least"),
        ("fault.kinds=[late,late]", "late is there twice"),
        ("fault.kinds=[lazy]", "fault.kinds"),
        ("fault.tries=0", "fault.tries"),
    ],
)
def test_what_cannot_have_a_fault_is_refused_before_anything_is_played(words: str, told: str) -> None:
    with pytest.raises(UserError) as error:
        Cell.compose(["fault=one", *words.split()])
    assert told in str(error.value)

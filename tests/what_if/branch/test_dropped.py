"""A message that is dropped is not sent, and nothing else of the thought that writes it changes."""

from __future__ import annotations

from pathlib import Path

import pytest

from maeil import Plan, Thought
from maeil.messages import Draft
from maeil.mind import View
from maeil.trace import Instant, Prefix, Trace, comparable, read_trace
from maeil.trace.events import MessageSent, ThoughtEnd, ThoughtStart
from quorum.configuration.cell import Cell
from quorum.episode.runner import run_cell
from quorum.runs.verify import verify_run
from quorum.topologies.plain import Decentralized, DecentralizedConfig
from quorum.what_if.branch.branch_minds import DroppedMessage, DroppingMind
from quorum.what_if.branch.change import find_messages
from quorum_base.user_errors import UserError
from tests.branching import PLAYED_OUT, plan_branch
from tests.conftest import Quorum
from tests.maeil.corridor import Walk
from tests.maeil.scripted import Scripted, play, walk
from tests.serving import served
from tests.what_if.branch.test_identity import Counting, branched, calls_of


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    words = "env=squeeze n=3 max_steps=5 agents=naive topology=debate llm.temperature=0"
    return run_cell(Cell.compose(words.split()), tmp_path_factory.mktemp("runs")).folder


def sent(folder: Path) -> list[tuple[int, int, str]]:
    """Return step, sender and text of each message."""
    found = read_trace(folder).stamped(MessageSent)
    return [(s.t, s.event.sender, s.event.content) for s in found if isinstance(s.event, MessageSent)]


def plans_told(folder: Path, t: int, text: str) -> dict[str, int]:
    """Return how often a text stands in the prompt to plan of each agent, in a step."""
    calls = [call for call in calls_of(folder) if call["t"] == t and "plan" in call["turn"]]
    return {call["agent"]: call["request"]["messages"][-1]["content"].count(text) for call in calls}


def costs(folder: Path, t: int) -> list[tuple[int, float]]:
    ends = [s for s in read_trace(folder).events if isinstance(s.event, ThoughtEnd) and s.t == t]
    return [(s.event.agent, s.event.cost) for s in ends if isinstance(s.event, ThoughtEnd)]


def test_a_message_that_is_dropped_reaches_no_prompt_and_its_thought_costs_what_it_did(
    run: Path, tmp_path: Path
) -> None:
    branch = branched(run, None, tmp_path, drops=[7]).folder
    before, after = sent(run), sent(branch)
    assert after[:7] == before[:7]
    t, sender, text = before[7]
    assert (t, sender, text) not in after
    assert [m for m in after if m[0] == t] == [m for m in before if m[0] == t and m[1] != sender]
    reported, untold = (plans_told(folder, t, text) for folder in (run, branch))
    assert reported == {f"agent_{agent}": untold[f"agent_{agent}"] + 1 for agent in range(3)}
    assert costs(branch, t)[:3] == costs(run, t)[:3]
    assert verify_run(branch).problems == []


def test_later_messages_are_numbered_without_the_one_that_is_dropped(run: Path, tmp_path: Path) -> None:
    branch = read_trace(branched(run, None, tmp_path, drops=[7]).folder)
    assert [event.message for event in branch.of(MessageSent)] == list(range(len(list(branch.of(MessageSent)))))


def test_the_instant_is_the_start_of_the_thought_that_sends_it_and_only_what_starts_then_is_asked(
    tmp_path: Path,
) -> None:
    brain = Counting()
    with served(brain) as addresses:
        model = ["llm=openai", "llm.model=simulated", f"llm.base_url={addresses.openai}", "llm.api_key_env=null"]
        words = ["env=squeeze", "n=3", "max_steps=4", "agents=naive", "topology=debate", "llm.cache=false"]
        run = run_cell(Cell.compose([*words, *model]), tmp_path).folder
        trace = read_trace(run)
        ((_, instant),) = find_messages(trace.story, [4])
        brain.requests = 0
        branch = branched(run, None, tmp_path / "branches", drops=[4]).folder
        asked = brain.requests
    beginning = [s for s in trace.events if isinstance(s.event, ThoughtStart) and not instant.has_come(s.t, s.t_hat)]
    started = [s for s in read_trace(branch).events if isinstance(s.event, ThoughtStart)]
    first = next(s.seq for s in started if instant.has_come(s.t, s.t_hat))
    assert asked == len(started) - len(beginning) > 0
    assert comparable(branch)[1:first] == comparable(run)[1:first]


TEAMS = {
    "a directive": ("env=transport n=3 agents=naive topology=centralized max_steps=6", "directive"),
    "an acknowledgement": ("env=transport n=3 agents=naive topology=centralized max_steps=6", "ack"),
    "of minds that remember": ("n=3 agents=drwell topology=negotiation max_steps=12", "propose"),
    "in a repair": ("n=4 agents=naive topology=individual extension=repair max_steps=30 llm.poor=0.3", "inform"),
}


@pytest.mark.parametrize("team", TEAMS)
def test_messages_of_every_kind_can_be_dropped(team: str, tmp_path: Path) -> None:
    words, kind = TEAMS[team]
    run = run_cell(Cell.compose(words.split()), tmp_path / "runs").folder
    message = next(event.message for event in read_trace(run).of(MessageSent) if event.what == kind)
    planned = plan_branch(run, drops=[message])
    branch = run_cell(planned.cell, tmp_path / "out", start=planned.start)
    assert branch.outcome in PLAYED_OUT
    assert planned.start.undone == []
    before, after = sent(run), sent(branch.folder)
    assert after[:message] == before[:message]
    assert len([m for m in after if m == before[message]]) < len([m for m in before if m == before[message]])


def test_an_instant_before_the_thought_that_sends_it_is_taken_as_it_is(run: Path, tmp_path: Path) -> None:
    early, late = (branched(run, at, tmp_path, drops=[7]).folder for at in ("1", None))
    assert comparable(early)[1:] == comparable(late)[1:]


def test_a_message_that_is_not_written_again_is_known(run: Path, tmp_path: Path) -> None:
    planned = plan_branch(run, "1", minds=["agent_1=heuristic"], drops=[7])
    run_cell(planned.cell, tmp_path / "out", start=planned.start)
    assert [str(what) for what in planned.start.undone] == ["--drop 7"]


def test_what_is_dropped_names_the_cell(run: Path) -> None:
    cells = [plan_branch(run, "1", drops=drops).cell for drops in ([], [7], [8], [7, 8], [8, 7, 8])]
    assert [cell.origin.told for cell in cells if cell.origin is not None] == [
        (),
        ("--drop 7",),
        ("--drop 8",),
        ("--drop 7", "--drop 8"),
        ("--drop 7", "--drop 8"),
    ]
    assert len({cell.hash for cell in cells}) == 4


REFUSED = {
    "no such message": (None, [99], r"--drop 99: the run has no such message(.|\n)*Its messages are 0 to 14"),
    "too late": ("3", [7], r"--drop 7: the thought that sends it starts at 2:\d+, before --at 3"),
    "no instant": (None, [], "--at is missing"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_dropped_is_refused(case: str, run: Path, tmp_path: Path) -> None:
    at, drops, message = REFUSED[case]
    with pytest.raises(UserError, match=message) as refused:
        branched(run, at, tmp_path / "out", drops=drops)
    assert refused.value.message
    assert not (tmp_path / "out").exists()


def test_a_silent_run_says_that_nothing_can_be_dropped(tmp_path: Path) -> None:
    run = run_cell(Cell.compose(["env=squeeze", "n=2", "max_steps=2"]), tmp_path / "runs").folder
    with pytest.raises(UserError, match="has no such message") as refused:
        plan_branch(run, drops=[0])
    assert "Nobody said anything" in refused.value.hint


def speaking(view: View) -> Thought:
    """Say two things in each step; the first answer of each has no valid plan."""
    plan = Plan((Walk(),)) if view.problems else Plan(())
    return Thought(plan, (Draft((1,), f"a{view.t}"), Draft((1,), f"b{view.t}")))


@pytest.mark.parametrize(
    ("drops", "left", "undone"),
    [
        ([(0, 1)], ["a0", "a1", "b1", "a2", "b2"], 0),
        ([(0, 0), (2, 0), (2, 1)], ["b0", "a1", "b1"], 0),
        ([(1, 0), (1, 2)], ["a0", "b0", "b1", "a2", "b2"], 1),
    ],
)
def test_a_message_is_known_by_its_place_among_those_that_its_sender_sends_in_its_step(
    drops: list[tuple[int, int]], left: list[str], undone: int
) -> None:
    topology = Decentralized(DecentralizedConfig(name="decentralized", budget=2))
    prefix = Prefix(Trace(tuple(play([Scripted(walk(1))]))), Instant(0))
    prefix.live = True
    wanted = [DroppedMessage(number, 0, *drop) for number, drop in enumerate(drops)]
    dropping = DroppingMind(Scripted(speaking), wanted, prefix)
    events = play([dropping, Scripted(walk(1))], topology=topology, listener=dropping)
    assert [s.event.content for s in events if isinstance(s.event, MessageSent)] == left
    assert len(dropping.undone) == undone
    refused = [s.event for s in events if isinstance(s.event, ThoughtEnd) and s.event.refused]
    assert len(refused) == 3


def test_the_command_needs_no_instant_to_drop_a_message(run: Path, quorum: Quorum) -> None:
    done = quorum("branch", str(run), "--drop", "7", "--json")
    assert done.returncode == 0, done.stderr
    wrong = quorum("branch", str(run), "--drop", "99")
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert wrong.stderr.startswith("error: --drop 99: the run has no such message")

"""Control arms: what is read is replaced; who thinks when, who is woken and what it costs stays the treatment's."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace

import pytest

from maeil import Act, Call, Plan, Task, Thought, View
from maeil.component import TopologyContext
from maeil.errors import ContractError
from maeil.extension import Extension
from maeil.messages import Ask, Draft, Message, MessageKind
from maeil.seeds import Seeds
from maeil.trace.events import Event, MessagesRead, Stamped, ThoughtEnd
from quorum.study.control.arms import Control, Mute, Null, Own, Shuffled, Truth
from quorum.study.control.events import ControlRead
from quorum.study.donors import Donor, read_donors
from quorum.topologies.centralized import Centralized, CentralizedConfig, Hybrid, HybridConfig
from quorum.topologies.hierarchy import Hierarchy, HierarchyConfig
from quorum.topologies.plain import Debate, DebateConfig, Decentralized, DecentralizedConfig
from tests.maeil.corridor import Corridor, Walk
from tests.maeil.scripted import Scripted, lines, play
from tests.maeil.test_feedback import ON, Reported, centralized, team


def debate(rounds: int = 2) -> Debate:
    return Debate(DebateConfig(name="debate", rounds=rounds))


def talkers(agents: int) -> list[Scripted]:
    """Minds that ignore all content: they say who they are and how often they have thought, and walk a step."""

    def answer(view: View) -> Thought:
        said = Draft(view.turn.recipients, f"{view.name} in {view.t}", MessageKind.PROPOSE, ON)
        talks = {Act.SPEAK, Act.ACKNOWLEDGE} & view.turn.acts and view.turn.recipients
        plan = Plan((Walk(steps=1 + view.agent % 2),)) if Act.PLAN in view.turn.acts else None
        return Thought(plan, (said,) if talks else (), (Call(7 + view.agent, {}),))

    return [Scripted(answer) for _ in range(agents)]


def say_where(messages: Sequence[Message], plans: Sequence[Plan | None]) -> list[tuple[str, Task]]:
    planned = sum(plan is not None for plan in plans)
    return [(f"truth of {message.sender}, {planned} planned", Task("go", "on")) for message in messages]


DONORS = [Donor(0, 1, "one at 0"), Donor(0, 9, "nine at 0"), Donor(3, 0, "zero at 3", MessageKind.ACK)]


def arms() -> dict[str, Control]:
    return {
        "mute": Mute(),
        "null": Null(),
        "own": Own(),
        "shuffled": Shuffled(DONORS, Seeds(1, "extension")),
        "truth": Truth(say_where),
    }


def said(mind: Scripted) -> list[list[tuple[int, str]]]:
    """Of each turn of a mind, who has said what that is new."""
    return [[(message.sender, message.content) for message in view.unread] for view in mind.views]


def run(arm: Control | None, agents: int = 2, rounds: int = 2) -> tuple[list[Scripted], list[Stamped]]:
    minds = talkers(agents)
    events = play(minds, Corridor(agents, length=2), topology=debate(rounds), extensions=[arm] if arm else [])
    return minds, events


def test_the_treatment_reads_what_was_said():
    minds, _ = run(None)
    assert said(minds[0])[:3] == [[], [(1, "agent_1 in 0")], [(1, "agent_1 in 0")]]


def test_mute_delivers_nothing_and_says_so():
    minds, events = run(Mute())
    assert all(not view.unread for mind in minds for view in mind.views)
    assert {m.sender for mind in minds for view in mind.views for m in view.memory if m.sender != view.agent} == set()
    read = [s.event for s in events if isinstance(s.event, MessagesRead | ControlRead)]
    assert read[:2] == [MessagesRead(1, [0]), ControlRead(0, 1, None)]


@pytest.mark.parametrize("name", list(arms()))
def test_what_a_message_claims_and_asks_is_content_that_no_arm_lets_through(name: str):
    """It reaches readers as a part of the text, of which an arm leaves nothing, and stands nowhere else."""
    secret = Task("go", "secret_7")

    def answer(view: View) -> Thought:
        other = 1 - view.agent
        draft = Draft((other,), "Mine.", MessageKind.PROPOSE, secret, (Ask(other, secret),))
        talks = {Act.SPEAK, Act.ACKNOWLEDGE} & view.turn.acts and view.turn.recipients
        plan = Plan((Walk(),)) if Act.PLAN in view.turn.acts else None
        return Thought(plan, (draft,) if talks else (), (Call(7, {}),))

    def received(arm: Control | None) -> list[Message]:
        minds = [Scripted(answer) for _ in range(2)]
        play(minds, Corridor(2, length=2), topology=debate(), extensions=[arm] if arm else [])
        views = [view for mind in minds for view in mind.views]
        return [m for view in views for m in (*view.unread, *view.memory) if m.id not in own(view)]

    def own(view: View) -> set[int]:
        return {message.id for message in view.memory if message.sender == view.agent and message.asks is not None}

    treated = received(None)
    texts = {f"Mine. My task: go secret_7. agent_{reader}: go secret_7." for reader in range(2)}
    assert {(m.content, m.task) for m in treated} == {(text, secret) for text in texts}
    replaced = received(arms()[name])
    if name != "own":  # who reads what it has said itself
        assert "secret" not in " ".join(f"{m.content} {m.task} {m.asks} {m.constraints}" for m in replaced)
    assert all(m.asks is None and m.task in (None, Task("go", "on")) for m in replaced)


def test_null_delivers_messages_without_content_and_without_their_structured_parts():
    minds, events = run(Null())
    (message,) = minds[1].views[0].unread
    assert (message.content, message.task, message.constraints) == ("", None, ())
    assert (message.id, message.sender, message.kind, message.t) == (0, 0, MessageKind.PROPOSE, 0)
    assert ControlRead(0, 1, "") in [stamped.event for stamped in events]
    (remembered,) = (earlier for earlier in minds[1].views[1].memory if earlier.sender == 0)
    assert remembered == message, "it remembers what it has read"


def test_own_gives_back_what_the_reader_has_said_last_in_the_name_of_the_sender():
    minds, _ = run(Own(), agents=3)
    assert said(minds[0])[:2] == [[], [(1, ""), (2, "agent_0 in 0")]], "two messages, and it has said one"
    assert said(minds[1])[0] == [(0, "")], "it has said nothing yet"
    assert said(minds[1])[1] == [(2, ""), (0, "agent_1 in 0")]


def test_shuffled_takes_the_step_and_the_sender_then_the_step_then_the_nearest_step():
    shuffled = Shuffled(DONORS, Seeds(1, "extension"))

    def read(t: int, sender: int, number: int = 5) -> tuple[int, str]:
        message = Message(number, sender, (2,), "said", MessageKind.INFORM, t, 0, 0)
        (found,) = shuffled.instead(2, [message])
        return found.sender, found.content

    assert {read(0, 1, number) for number in range(20)} == {(1, "one at 0")}
    assert read(0, 0) in ((0, "one at 0"), (0, "nine at 0"))
    assert read(2, 1) == (1, "zero at 3")
    assert read(1, 9) in ((9, "one at 0"), (9, "nine at 0")), "of two steps that are as near the earlier one"


def test_shuffled_draws_the_same_for_all_readers_and_from_its_seeds_alone():
    many = [Donor(0, 0, str(number)) for number in range(50)]
    message = Message(5, 0, (1, 2), "said", MessageKind.INFORM, 0, 0, 0)

    def read(seed: int, reader: int) -> str:
        (found,) = Shuffled(many, Seeds(seed, "extension")).instead(reader, [message])
        return found.content

    assert read(1, 1) == read(1, 2)
    assert len({read(seed, 1) for seed in range(20)}) > 5
    others = [replace(message, id=number) for number in range(20)]
    assert len({found.content for found in Shuffled(many, Seeds(1, "extension")).instead(1, others)}) > 5


def test_shuffled_prefers_its_kind_and_gives_the_kind_of_what_is_read():
    donors = [Donor(0, 0, "yes", MessageKind.ACK), Donor(0, 0, "go", MessageKind.DIRECTIVE)]
    shuffled = Shuffled(donors, Seeds(1, "extension"))
    for kind, text in ((MessageKind.ACK, "yes"), (MessageKind.DIRECTIVE, "go")):
        (found,) = shuffled.instead(1, [Message(5, 0, (1,), "said", kind, 0, 0, 0)])
        assert (found.kind, found.content) == (kind, text)


def test_truth_says_what_is_true_when_it_is_read_with_a_task_where_the_message_has_one():
    minds, _ = run(Truth(say_where))
    (message,) = minds[1].views[0].unread
    assert (message.content, message.task) == ("truth of 0, 0 planned", ON)
    (silent,) = Truth.instead(_begun(Truth(say_where)), 1, [Message(5, 0, (1,), "", MessageKind.INFORM, 0, 0, 0)])
    assert silent.task is None


def _begun(truth: Truth) -> Truth:
    play(talkers(2), Corridor(2, length=1), topology=debate(), extensions=[truth])
    return truth


@pytest.mark.parametrize("name", arms())
def test_what_came_attached_to_a_directive_is_not_read_either(name):
    """A follower sees the tasks as they are, by the loop, and not those that its leader attached."""
    seen = {}
    for arm in (None, arms()[name]):
        minds = team("go back")
        play(minds, Reported(3, length=2), topology=centralized("constraints"), extensions=[arm] if arm else [])
        seen[arm is None] = [[task.task.target for task in view.constraints] for view in minds[1].views][:2]
    assert seen == {True: [["on", "back"], ["on", "back"]], False: [[], ["on"]]}


TOPOLOGIES = {
    "debate": debate,
    "decentralized": lambda: Decentralized(DecentralizedConfig(name="decentralized", budget=2)),
    "centralized": lambda: Centralized(CentralizedConfig(name="centralized", leader=0, rounds=1, feedback="none")),
    "hierarchy": lambda: Hierarchy(HierarchyConfig(name="hierarchy", branching=2)),
    "hybrid": lambda: Hybrid(
        HybridConfig(name="hybrid", leader=0, rounds=1, feedback="none", peers="ring", radius=6), TopologyContext(4)
    ),
}


@pytest.mark.parametrize("name", arms())
@pytest.mark.parametrize("topology", TOPOLOGIES)
def test_where_minds_ignore_content_the_trace_is_that_of_the_treatment(topology, name):
    """Turns, wake-ups, interruptions, thoughts and steps at the same instants; only what is read is something else."""

    def trace(*extensions: Extension) -> list[Stamped]:
        minds, world = talkers(4), Corridor(4, length=4)
        events = play(minds, world, topology=TOPOLOGIES[topology](), extensions=extensions)
        return [replace(one, seq=0, wall=0.0, event=_timeless(one.event)) for one in events if not is_read(one)]

    def is_read(stamped: Stamped) -> bool:
        return isinstance(stamped.event, ControlRead)

    treatment = trace()
    assert any(isinstance(stamped.event, MessagesRead) for stamped in treatment)
    if topology == "decentralized":
        assert any("->I message" in line for line in lines(treatment, "stage")), "messages wake and interrupt"
    assert trace(arms()[name]) == treatment


def _timeless(event: Event) -> Event:
    return replace(event, seconds=0) if isinstance(event, ThoughtEnd) else event


def test_a_mind_that_uses_what_it_reads_does_something_else():
    def follow(view: View) -> Thought:
        heard = any("agent_0" in message.content for message in (*view.unread, *view.memory))
        speaks = Act.SPEAK in view.turn.acts and view.turn.recipients
        plan = Plan((Walk(steps=2 if heard else 1),)) if Act.PLAN in view.turn.acts else None
        return Thought(plan, (Draft(view.turn.recipients, view.name),) if speaks else ())

    planned = {}
    for name, arm in (("treatment", None), *arms().items()):
        minds = [Scripted(follow), Scripted(follow)]
        events = play(minds, Corridor(2, length=2), topology=debate(), extensions=[arm] if arm else [])
        first = next(s.event for s in events if s.event.kind == "plan" and s.event.agent == 1)
        planned[name] = first.actions[0]["steps"]
    assert planned == {"treatment": 2, "mute": 1, "null": 1, "own": 1, "shuffled": 1, "truth": 1}


class Wrong(Extension):
    """Gives no messages to read."""

    name = "wrong"

    def reads(self, participant, messages):
        return ["no message"]


def test_what_an_extension_gives_to_read_has_to_be_messages():
    with pytest.raises(ContractError, match="reads"):
        play(talkers(2), Corridor(2), topology=debate(), extensions=[Wrong()])


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("{", "not a list of messages"), ("[]", "not a list of messages"), ('{"t": 1}', "not a list of messages"),
        ('[{"t": 0, "sender": 0}]', "0.content"), ('[{"t": -1, "sender": 0, "content": ""}]', "0.t"),
        ('[{"t": 0, "sender": 0, "content": "", "more": 1}]', "0.more"),
    ],
)  # fmt: skip
def test_a_file_that_holds_no_messages_is_refused(tmp_path, text, reason):
    file = tmp_path / "donors.json"
    file.write_text(text)
    with pytest.raises(ValueError, match=rf"donors: .*donors\.json.*{reason}"):
        read_donors(file)


def test_donors_are_read_with_and_without_their_kinds(tmp_path):
    file = tmp_path / "donors.json"
    file.write_text(
        json.dumps([{"t": 0, "sender": 1, "content": "a"}, {"t": 2, "sender": 0, "content": "b", "kind": "ack"}])
    )
    assert read_donors(file) == [Donor(0, 1, "a"), Donor(2, 0, "b", MessageKind.ACK)]
    with pytest.raises(ValueError, match="there is no such file"):
        read_donors(tmp_path)

"""Healers in the loop: whom they interrupt and when, what a mind sees of it, and what is recorded."""

from __future__ import annotations

import pytest
from healers.events import HealerActed, HealerHeard
from healers.healing import Healing, HealSettings

from maeil import Act, LoopSettings, Plan, Resume, Task, Thought, Turn, View
from maeil.dig.patterns import PUBLISHED, Pattern, Thresholds
from maeil.messages import Draft, MessageKind
from maeil.metrics import compute_metrics
from maeil.metrics.costs import costs_per_message
from maeil.topology import Topology
from maeil.trace import Trace
from quorum.topologies.plain import Chain, Debate, DebateConfig, Decentralized, DecentralizedConfig, Individual
from tests.maeil.corridor import Corridor, Rest, Walk
from tests.maeil.scripted import Scripted, lines, play, walk
from tests.topologies.test_timelines import centralized

DEADLOCK = HealSettings((Pattern.DEADLOCK,), Thresholds(5, 2, 10, 2), 3)
"""Speaks up in the third step without progress."""


def resting(steps: int = 9) -> Thought:
    return Thought(Plan((Rest(steps=steps),)))


def sleeper() -> Scripted:
    """Rests until a healer speaks, then walks."""
    return Scripted(lambda view: walk(3) if view.notes else resting())


def events(found, *kinds):
    return [stamped.event for stamped in found if isinstance(stamped.event, kinds)]


def test_who_is_at_work_is_interrupted_and_sees_the_note_and_the_world_stands_still():
    minds = [sleeper(), sleeper()]
    found = play(minds, extensions=[Healing(DEADLOCK)])
    assert lines(found, "stage", "heal", "heal_read", "step")[4:13] == [
        "t=0 t^=1: step [0, 0]",
        "t=1 t^=1: step [0, 0]",
        "t=2 t^=1: step [0, 0]",
        "t=3 t^=1: heal",
        "t=3 t^=1: agent 0 X->I heal",
        "t=3 t^=1: agent 1 X->I heal",
        "t=3 t^=1: heal_read",
        "t=3 t^=1: heal_read",
        "t=3 t^=2: agent 0 I->W replaced",
    ]
    ((note,),) = minds[1].views[1].noted("heal")
    assert (note.healer, note.number, note.messages) == (Pattern.DEADLOCK, 0, ())
    assert note.text.startswith("Nothing has come off for 3 steps.")
    (acted,) = events(found, HealerActed)
    assert (acted.action, acted.recipients, acted.healer) == ("create", (0, 1), "deadlock")
    assert events(found, HealerHeard) == [HealerHeard(0, 0), HealerHeard(0, 1)]


def test_a_note_stands_in_every_turn_until_the_agent_has_decided_and_in_none_after():
    seen: list[tuple[bool, int]] = []

    def answer(view: View) -> Thought:
        seen.append((Act.PLAN in view.turn.acts, len(view.notes)))
        if Act.PLAN not in view.turn.acts:
            return Thought(messages=(Draft(view.turn.recipients, "?"),) if view.notes else ())
        if view.notes and not view.problems:
            return Thought(Plan((Walk(steps=9),)))  # refused: too far
        return walk(1) if view.notes else resting()

    play(
        [Scripted(answer), sleeper()],
        topology=Debate(DebateConfig(name="debate", rounds=1)),
        extensions=[Healing(DEADLOCK)],
    )
    first = seen.index((False, 1))
    assert seen[first : first + 3] == [(False, 1), (True, 1), (True, 1)], "to speak, to plan, and once more"
    assert seen[first + 3][1] == 0


def test_who_goes_on_all_the_same_is_left_alone():
    calm = Scripted(lambda view: Thought(Resume.RESUME) if view.plan is not None else resting(12))
    found = play([calm], Corridor(1, max_steps=12), extensions=[Healing(DEADLOCK)])
    assert len(events(found, HealerActed)) == 1, "once in each time without progress"
    assert len(calm.views) == 2


@pytest.mark.parametrize(
    "topology",
    [
        Individual(),
        Chain(),
        Debate(DebateConfig(name="debate", rounds=1)),
        centralized(0, 1),
        Decentralized(DecentralizedConfig(name="decentralized", budget=2)),
    ],
    ids=lambda topology: topology.name,
)
def test_healers_reach_those_who_plan_in_every_topology(topology: Topology):
    def answer(view: View) -> Thought:
        if Act.PLAN not in view.turn.acts:
            return Thought(messages=(Draft(view.turn.recipients, "hm"),) if view.turn.recipients else ())
        return walk(3) if view.notes else resting()

    minds = [Scripted(answer) for _ in range(3)]
    found = play(minds, topology=topology, extensions=[Healing(DEADLOCK)])
    for mind in minds:
        assert any(view.notes and Act.PLAN in view.turn.acts for view in mind.views)
    assert found[-1].event.outcome == "success"


class Once(Topology):
    """Gives each agent one turn in an episode, and nobody another."""

    name = "once"

    def turns(self, conversation):
        return [Turn(agent, frozenset({Act.PLAN})) for agent in conversation.undecided] if conversation.t == 0 else []


def test_who_gets_no_turn_of_the_topology_gets_one_to_plan():
    mind = sleeper()
    found = play([mind], topology=Once(), extensions=[Healing(DEADLOCK)])
    assert found[-1].event.outcome == "success"


def test_a_note_on_messages_stands_in_the_very_turn_that_reads_them():
    hall, room = Task("walk", "hall"), Task("walk", "room")

    def asked(view: View) -> Thought:
        return Thought(Plan((Walk(),), hall if view.notes else room))

    def ask(view: View) -> Thought:
        draft = Draft((2,), f"Come to the {'hall' if view.agent == 0 else 'room'}.", MessageKind.DIRECTIVE)
        return Thought(Plan((Walk(steps=2),), hall), (draft,) if view.turn.recipients and view.t else ())

    minds = [Scripted(ask), Scripted(ask), Scripted(asked)]
    heal = HealSettings((Pattern.MISSING_DEPENDENCY,), PUBLISHED, 3)
    topology = Decentralized(DecentralizedConfig(name="decentralized", budget=1))
    found = play(minds, Corridor(3, length=4), topology=topology, extensions=[Healing(heal)])
    acted = events(found, HealerActed)
    assert acted, "both asked, from equally far, for different things"
    assert (acted[0].action, list(acted[0].recipients), len(acted[0].messages)) == ("annotate", [2], 2)
    view = next(view for view in minds[2].views if view.notes)
    assert [m.content for m in view.unread] == [text for _, text in view.noted("heal")[0][0].messages], (
        "in the very same turn"
    )


def test_notes_do_not_let_an_agent_think_more_than_it_may():
    restless = Scripted(lambda view: Thought(Plan((Rest(),))))
    heal = HealSettings((Pattern.DEADLOCK,), Thresholds(5, 2, 10, 0), 3)
    found = play(
        [restless, restless],
        Corridor(2, max_steps=4),
        settings=LoopSettings(max_thoughts_per_step=1),
        extensions=[Healing(heal)],
    )
    assert found[-1].event.steps == 4


def test_a_trace_without_healers_says_nothing_of_them():
    found = play([sleeper()], Corridor(1, max_steps=6))
    assert not lines(found, "heal", "heal_read")


def test_an_interruption_by_a_healer_is_the_cost_of_no_message():
    def answer(view: View) -> Thought:
        messages = (Draft((1 - view.agent,), "hm"),) if Act.SPEAK in view.turn.acts and not view.t else ()
        return Thought(resting().decision if Act.PLAN in view.turn.acts else None, messages)

    topology = Debate(DebateConfig(name="debate", rounds=1))
    trace = Trace(tuple(play([Scripted(answer), Scripted(answer)], topology=topology, extensions=[Healing(DEADLOCK)])))
    assert [row.interrupted for row in costs_per_message(trace)] == [0, 0]
    assert compute_metrics(trace)["dig.deadlock"] == 0, "the published number is 40"

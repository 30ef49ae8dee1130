import random
from dataclasses import replace

import pytest

from maeil import Act, ClockUnit, LoopSettings, Plan, Resume, Thought, Turn, end_of
from maeil.errors import ContractError, IllegalTransition, StalledConversation
from maeil.messages import Draft
from maeil.trace import comparable
from tests.maeil.corridor import Corridor, Rest, Walk
from tests.maeil.scripted import Scripted, lines, play, walk


def test_two_agents_alone_written_out_event_by_event():
    slow_start = Scripted(walk(1, tokens=5), walk(2, tokens=2))
    steady = Scripted(walk(3, tokens=3))
    events = play([slow_start, steady])
    assert lines(events, "stage", "plan", "action", "step", "thought_end") == [
        "t=0 t^=3: agent 1 thought 3",
        "t=0 t^=3: P1.1 committed",
        "t=0 t^=3: agent 1 R->W plan_committed",
        "t=0 t^=5: agent 0 thought 5",
        "t=0 t^=5: P0.1 committed",
        "t=0 t^=5: agent 0 R->W plan_committed",
        "t=0 t^=5: agent 0 W->X all_ready",
        "t=0 t^=5: agent 1 W->X all_ready",
        "t=0 t^=5: P0.1 running",
        "t=0 t^=5: P0.1 walk started",
        "t=0 t^=5: P1.1 running",
        "t=0 t^=5: P1.1 walk started",
        "t=0 t^=5: step [1, 1]",
        "t=1 t^=5: P0.1 walk success",
        "t=1 t^=5: P0.1 succeeded",
        "t=1 t^=5: agent 0 X->R plan_ended",
        "t=1 t^=7: agent 0 thought 2",
        "t=1 t^=7: P0.2 committed",
        "t=1 t^=7: agent 0 R->W plan_committed",
        "t=1 t^=7: agent 0 W->X all_ready",
        "t=1 t^=7: P0.2 running",
        "t=1 t^=7: P0.2 walk started",
        "t=1 t^=7: step [1, 1]",
        "t=2 t^=7: step [1, 1]",
        "t=3 t^=7: P0.2 walk success",
        "t=3 t^=7: P0.2 succeeded",
        "t=3 t^=7: agent 0 X->R plan_ended",
        "t=3 t^=7: P1.1 walk success",
        "t=3 t^=7: P1.1 succeeded",
        "t=3 t^=7: agent 1 X->R plan_ended",
    ]
    end = events[-1].event
    assert (end.kind, end.outcome, end.steps) == ("episode_end", "success", 3)


@pytest.mark.parametrize(
    ("said", "outcome"),
    [
        ({"success": True, "truncated": True}, "success"),
        ({"success": False, "failure": True, "truncated": True}, "failure"),
        ({"success": False, "truncated": True}, "truncated"),
    ],
)
def test_an_episode_ends_as_its_world_says(said, outcome):
    class Ending(Corridor):
        def step(self, joint):
            return replace(super().step(joint), end=end_of(**said))

    end = play([Scripted(walk(3))], Ending(1))[-1].event
    assert (end.outcome, end.steps) == (outcome, 1)


def test_a_plan_that_ends_before_its_first_step_makes_its_agent_think_again_while_the_world_stands_still():
    mind = Scripted(Thought(Plan((Walk(steps=2, fails_at=0),))), walk(3))
    events = play([mind])
    assert lines(events, "stage", "step")[:5] == [
        "t=0 t^=1: agent 0 R->W plan_committed",
        "t=0 t^=1: agent 0 W->X all_ready",
        "t=0 t^=1: agent 0 X->R plan_ended",
        "t=0 t^=2: agent 0 R->W plan_committed",
        "t=0 t^=2: agent 0 W->X all_ready",
    ]
    failed = mind.views[1].outcomes[-1]
    assert (failed.status, failed.reason) == ("failed", "walk: stumbled")


def test_an_agent_that_uses_up_its_thoughts_is_made_ready_with_an_idle_plan():
    stubborn = Scripted(Thought(Plan((Walk(fails_at=0),))))
    events = play([stubborn], Corridor(1, max_steps=2), settings=LoopSettings(max_thoughts_per_step=3))
    assert lines(events, "forced_ready", "step") == [
        "t=0 t^=3: agent 0 forced",
        "t=0 t^=3: step [0]",
        "t=1 t^=6: agent 0 forced",
        "t=1 t^=6: step [0]",
    ]
    assert "t=0 t^=3: P0.4 committed [forced_ready]" in lines(events, "plan")


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (Thought(), "a plan"),
        (Thought(Plan(())), "no actions"),
        (Thought(Resume.RESUME), "no plan to resume"),
        (Thought(Plan((Walk(steps=99),))), "too far"),
        (Thought(walk(1).decision, (Draft((1,), "hello"),)), "does not allow messages"),
    ],
)
def test_a_refused_thought_is_asked_for_again_with_the_reasons_and_never_made_up(answer, reason):
    mind = Scripted(lambda view: answer)
    events = play([mind], Corridor(1, max_steps=1), settings=LoopSettings(max_repairs=2))
    assert [bool(view.problems) for view in mind.views] == [False, True, True]
    assert reason in mind.views[1].problems[0]
    assert lines(events, "plan", "step") == [
        "t=0 t^=3: P0.1 committed [invalid_plan]",
        "t=0 t^=3: P0.1 running",
        "t=0 t^=3: step [0]",
        "t=1 t^=3: P0.1 succeeded",
    ]


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ("walk", "Scripted.think.. returned a str, 'walk'; it must return a maeil.Thought"),
        (None, "returned None"),
        (Thought("walk"), "the decision of its Thought is a str, 'walk'; it must be a maeil.Plan"),
        (Thought(walk(1).decision, ("hello",)), "a message of its Thought is a str"),
        (Thought(walk(1).decision, (Draft((1,), 7),)), "the content of a message is an int, 7"),
    ],
)
def test_what_no_mind_may_answer_ends_the_episode_and_blames_the_mind(answer, reason):
    events = []
    with pytest.raises(ContractError, match=reason) as error:
        play([Scripted(lambda view: answer)], Corridor(1, max_steps=1), listener=events.append)
    assert error.value.blamed.__func__ is Scripted.think
    assert events[-1].event.outcome == "error"


def test_a_mind_that_is_not_async_is_told_so():
    class Prompt:
        def think(self, view):
            return walk(1)

    with pytest.raises(ContractError, match=r"Prompt.think\(\) is not async: it returned a Thought"):
        play([Prompt()], Corridor(1))


def test_an_action_outside_the_vocabulary_is_refused_with_the_names_of_the_others():
    class Fly(Rest):
        pass

    mind = Scripted(Thought(Plan((Fly(),))), walk(3))
    play([mind])
    assert "the actions are: walk, rest" in mind.views[1].problems[0]


def test_a_thought_takes_effect_whole_or_not_at_all():
    topology = Turns({0: [Turn(0, frozenset({Act.PLAN, Act.SPEAK}), (1,)), Turn(1, frozenset({Act.PLAN}))]})
    half_wrong = Thought(Plan((Walk(steps=99),)), (Draft((1,), "hello"),))
    events = play([Scripted(half_wrong, walk(3)), Scripted(walk(3))], topology=topology)
    assert not lines(events, "message_sent")


def test_every_plan_has_exactly_one_final_status_also_at_the_end_of_the_episode():
    world = Corridor(2, length=5, max_steps=3)
    events = play([Scripted(walk(2)), Scripted(walk(5))], world)
    final = [e.event for e in events if e.event.kind == "plan" and e.event.status not in ("committed", "running")]
    assert [(p.plan, p.status, p.reason) for p in final] == [
        ("P0.1", "succeeded", ""),
        ("P0.2", "cancelled", "episode_end"),
        ("P1.1", "cancelled", "episode_end"),
    ]
    assert all(controller.closed == 1 for controller in world.controllers)
    assert events[-1].event.outcome != "success"


def test_a_mind_that_raises_ends_the_trace_with_an_error_and_keeps_its_traceback():
    def fail(view):
        raise ZeroDivisionError("no idea")

    events = []
    with pytest.raises(ZeroDivisionError, match="no idea"):
        play([Scripted(walk(1)), Scripted(fail, delays=[0.01])], listener=events.append)
    end = events[-1].event
    assert (end.outcome, end.reason) == ("error", "ZeroDivisionError: no idea")


def test_as_many_minds_as_agents_are_needed():
    with pytest.raises(ValueError, match="2 agents need as many minds, not 1"):
        play([Scripted(walk(1))], Corridor(2))


def test_the_real_order_in_which_thoughts_return_changes_nothing(tmp_path):
    traces = []
    for run in range(4):
        rng = random.Random(run)
        minds = [
            Scripted(*(walk(1, tokens=3 + i) for _ in range(3)), delays=[rng.random() / 50 for _ in range(3)])
            for i in range(5)
        ]
        path = tmp_path / f"{run}.jsonl"
        play(minds, path=path)
        traces.append(comparable(path))
    assert all(trace == traces[0] for trace in traces)


def test_the_clock_in_seconds_is_measured():
    events = play([Scripted(walk(3), delays=[0.02])], settings=LoopSettings(clock_unit=ClockUnit.SECONDS))
    [end] = [e.event for e in events if e.event.kind == "thought_end"]
    assert end.cost == pytest.approx(end.seconds, abs=1e-5)
    assert end.cost >= 0.02


class Turns:
    """A topology for tests: in each step these turns at once, then planning for whoever is undecided."""

    name = "turns"
    coordinated = False

    def __init__(self, first):
        self.first = first

    def turns(self, floor):
        if not floor.quiet:
            return []
        if not floor.taken and floor.t in self.first:
            return self.first[floor.t]
        return [Turn(agent, frozenset({Act.PLAN})) for agent in floor.undecided]


SPEAK = frozenset({Act.SPEAK})


def test_a_thought_reads_all_that_has_arrived_in_one_event():
    topology = Turns({0: [Turn(0, SPEAK, (2,)), Turn(1, SPEAK, (2,)), Turn(2, frozenset({Act.PLAN}))]})
    say = [Thought(None, (Draft((2,), word),), walk(3, tokens=4).calls) for word in ("left", "right")]
    reader = Scripted(walk(1, tokens=6), walk(3))
    events = play([Scripted(say[0], walk(3)), Scripted(say[1], walk(3)), reader], topology=topology)
    assert lines(events, "messages_read") == ["t=0 t^=6: agent 2 reads 0, 1"]
    assert [message.id for message in reader.views[1].unread] == [0, 1]


def test_a_message_interrupts_an_agent_that_waits_and_one_that_thinks_at_the_instant_it_is_ready():
    topology = Turns(
        {0: [Turn(0, frozenset({Act.SPEAK, Act.PLAN}), (1, 2)), *(Turn(i, frozenset({Act.PLAN})) for i in (1, 2))]}
    )
    speaker = Scripted(Thought(walk(3).decision, (Draft((1, 2), "come"),), walk(3, tokens=4).calls))
    waiting = Scripted(walk(1, tokens=2), Thought(Resume.RESUME), walk(2))
    thinking = Scripted(walk(1, tokens=6), walk(3, tokens=1))
    events = play([speaker, waiting, thinking], topology=topology)
    assert lines(events, "stage", "message_sent", "messages_read", "plan", "step")[:20] == [
        "t=0 t^=2: P1.1 committed",
        "t=0 t^=2: agent 1 R->W plan_committed",
        "t=0 t^=4: agent 0 says 'come' to [1, 2]",
        "t=0 t^=4: P0.1 committed",
        "t=0 t^=4: agent 0 R->W plan_committed",
        "t=0 t^=4: agent 1 W->I message",
        "t=0 t^=6: P2.1 committed",
        "t=0 t^=6: agent 2 R->W plan_committed",
        "t=0 t^=6: agent 2 W->I message",
        "t=0 t^=6: agent 1 reads 0",
        "t=0 t^=6: agent 2 reads 0",
        "t=0 t^=7: agent 1 I->W resumed",
        "t=0 t^=7: P2.1 replaced (new_plan)",
        "t=0 t^=7: P2.2 committed",
        "t=0 t^=7: agent 2 I->W replaced",
        "t=0 t^=7: agent 0 W->X all_ready",
        "t=0 t^=7: agent 1 W->X all_ready",
        "t=0 t^=7: agent 2 W->X all_ready",
        "t=0 t^=7: P0.1 running",
        "t=0 t^=7: P1.1 running",
    ]
    assert [message.content for message in waiting.views[1].unread] == ["come"]


def test_a_topology_that_gives_an_agent_in_wait_a_turn_or_leaves_one_undecided_is_an_error():
    both = Turns({0: [Turn(0, frozenset({Act.PLAN})), Turn(1, frozenset({Act.PLAN}))]})

    class GivesTurnsToTheReady(Turns):
        def turns(self, floor):
            return super().turns(floor) if not floor.taken else [Turn(0, SPEAK, (1,))]

    with pytest.raises(IllegalTransition, match="agent_0 gets a turn in stage W"):
        play([Scripted(walk(3)), Scripted(walk(3))], topology=GivesTurnsToTheReady(both.first))

    class Silent(Turns):
        def turns(self, floor):
            return []

    with pytest.raises(StalledConversation, match="gives no turn to agent_0, agent_1"):
        play([Scripted(walk(3)), Scripted(walk(3))], topology=Silent({}))


@pytest.mark.parametrize(
    ("recipients", "reason"),
    [((), "no recipient"), ((0,), "its own sender"), ((2,), "this turn allows: 1"), ((9,), "goes to 9")],
)
def test_messages_to_nobody_to_oneself_and_to_outsiders_are_refused(recipients, reason):
    topology = Turns({0: [Turn(0, SPEAK, (1,))]})
    speaker = Scripted(Thought(messages=(Draft(recipients, "hello"),)), Thought(), walk(3))
    events = play([speaker, Scripted(walk(3)), Scripted(walk(3))], topology=topology)
    assert reason in speaker.views[1].problems[0]
    assert not lines(events, "message_sent")

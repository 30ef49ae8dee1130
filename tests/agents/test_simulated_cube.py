"""The simulated speaker in CUBE uses what it hears, and knows only what it sees."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from cube_env import CubeEnv, Layout
from maeil.messages import Message, MessageKind
from maeil.metrics import compute_metrics
from maeil.mind import Act, PlanView, Resume, Thought, Turn, View
from maeil.plans import PlanStatus, Task
from maeil.tasks import OpenTask
from maeil.trace.reader import Trace
from quorum.agents.skills import Chooser
from quorum.agents.skills.cube.plans import EMCOOP
from quorum.agents.skills.cube.speaker import CubeSpeaker
from tests.agents.naive_team import episode

LIGHT = Layout(8, [(1, 0), (3, 0)], [(1, (2, 3)), (1, (6, 2))])
"""Two agents, and two blocks of weight 1: both are nearer to block 0."""
HEAVY = Layout(10, [(0, 0), (9, 0)], [(2, (1, 3)), (2, (7, 3))])
"""Two agents and two blocks of weight 2: each is near one of them."""
THREE = Layout(10, [(1, 3), (2, 0), (9, 0)], [(1, (1, 4)), (2, (7, 3))])
"""Agent 0 stands at the light block 0, agent 1 is on its way there, agent 2 near the heavy block 1."""


def answer(layout: Layout, agent: int, speaker: CubeSpeaker | None = None, *, acts=(Act.PLAN,), **changes) -> Thought:
    env = CubeEnv(layout=layout)
    env.reset(seed=0)
    names = tuple(f"agent_{index}" for index in range(len(layout.agents)))
    turn = Turn(agent, frozenset(acts), changes.pop("recipients", ()), role=changes.pop("role", ""))
    view = View(agent, names[agent], names, turn, 0, 0, env.symbolic_observation(agent), **changes)
    return (speaker or CubeSpeaker()).answer(view, Chooser(np.random.default_rng(0)))


def said(sender: int, text: str, kind: MessageKind = MessageKind.PROPOSE) -> Message:
    return Message(0, sender, (), text, kind, 0, 0, 0)


def target(thought: Thought) -> str:
    return thought.decision.task.target


def names(thought: Thought) -> list[str]:
    return [action.action for action in thought.decision.actions]


def in_vain(block: int) -> PlanView:
    return PlanView("", Task("deliver", f"block_{block}"), (), 1, PlanStatus.TIMED_OUT, "push_block: moved_too_little")


def task(block: int, needs: int, in_place=(), planned=()) -> OpenTask:
    more = max(0, needs - len(in_place))
    return OpenTask(Task("push", f"block_{block}/left"), needs, more, tuple(in_place), planned=tuple(planned))


def test_two_who_hear_nothing_take_the_same_block_and_a_message_sends_the_second_to_another() -> None:
    assert [target(answer(LIGHT, agent)) for agent in (0, 1)] == ["block_0", "block_0"]
    claim = answer(LIGHT, 0, acts=[Act.SPEAK], recipients=(1,)).messages[0].content
    assert target(answer(LIGHT, 1, unread=(said(0, claim),))) == "block_1"
    assert target(answer(LIGHT, 1, memory=(said(0, claim),))) == "block_1"


def test_who_has_heard_nobody_waits_for_nobody_and_who_is_told_meets() -> None:
    alone = answer(HEAVY, 1).decision
    assert [str(action) for action in alone.actions] == [
        "move_to_block(block=1, face=left, timeout=null)",
        "push_block(block=1, steps=1, timeout=3)",
        "push_block(block=1, steps=4, timeout=null)",
    ]
    order = said(0, "agent_1: block_0.", MessageKind.DIRECTIVE)
    led = answer(HEAVY, 1, unread=(order,), role="follower")
    assert target(led) == "block_0"
    assert str(led.decision.actions[1]) == "rendezvous(block=0, face=left, count=2, timeout=20)"


def test_who_says_where_it_goes_waits_there_for_those_whom_it_has_told() -> None:
    thought = answer(HEAVY, 1, acts=[Act.SPEAK, Act.PLAN], recipients=(0,))
    assert thought.messages[0].content == "I take block_1, 3 steps away."
    assert names(thought) == ["move_to_block", "rendezvous", "push_block"]


def test_in_the_words_of_emcoop_too_it_gives_up_soon_only_as_long_as_it_is_alone() -> None:
    alone, led = (answer(HEAVY, 1, CubeSpeaker(EMCOOP), unread=heard) for heard in ((), (said(0, "I take block_1."),)))
    assert [str(action) for action in alone.decision.actions[1:]] == [
        "push(block=1, steps=3)",
        "push(block=1, steps=4)",
    ]
    assert [str(action) for action in led.decision.actions[1:]] == ["push(block=1, steps=25)"]


def test_those_who_gave_up_in_silence_choose_alike_and_so_they_meet() -> None:
    assert [target(answer(HEAVY, agent)) for agent in (0, 1)] == ["block_0", "block_1"]
    both = Layout(10, [(1, 2), (7, 2)], [(2, (1, 3)), (2, (7, 3))])
    assert [target(answer(both, agent, outcomes=(in_vain(agent),))) for agent in (0, 1)] == ["block_0", "block_0"]


def test_what_it_sees_counts_in_silence_too() -> None:
    staffed = Layout(8, [(1, 2), (2, 0)], [(1, (1, 3)), (1, (6, 2))])
    assert target(answer(staffed, 1)) == "block_1"  # agent 0 stands at block 0, which takes one


def test_a_message_turns_an_attempt_into_a_meeting_and_leaves_a_meeting_as_it_is() -> None:
    heard = (said(0, "I take block_1, 9 steps away."),)
    alone = answer(HEAVY, 1).decision
    live = PlanView("P1.1", alone.task, tuple(map(str, alone.actions)), 1, PlanStatus.RUNNING)
    joined = answer(HEAVY, 1, unread=heard, plan=live)
    assert names(joined) == ["move_to_block", "rendezvous", "push_block"]
    live = PlanView("P1.2", alone.task, tuple(map(str, joined.decision.actions)), 1, PlanStatus.RUNNING)
    assert answer(HEAVY, 1, unread=heard, plan=live).decision is Resume.RESUME


def test_a_directive_is_followed_and_its_feedback_says_how_many_it_takes() -> None:
    order = said(0, "agent_1: block_1.", MessageKind.DIRECTIVE)
    led = answer(THREE, 1, unread=(order,), role="follower", constraints=(task(1, 3), task(0, 1, in_place=[0])))
    assert target(led) == "block_1"
    assert led.decision.actions[1].count == 3


def test_a_follower_objects_where_feedback_says_that_it_is_too_early_or_that_others_are_enough() -> None:
    order = said(0, "agent_1: block_1.", MessageKind.DIRECTIVE)
    led = {"acts": [Act.ACKNOWLEDGE], "unread": (order,), "role": "follower", "recipients": (0,)}
    early = replace(task(1, 2), before=("agent_2", "block_0"))
    found = [
        answer(THREE, 1, **led, constraints=said)
        for said in ((), (early,), (task(1, 2, planned=[0, 2]),), (task(1, 2),))
    ]
    assert [thought.messages[0].content for thought in found] == [
        "I take block_1, 7 steps away.",
        "I cannot take block_1: block_0 is ahead of it.",
        "I cannot take block_1: others are enough there.",
        "I take block_1, 7 steps away.",
    ]


def test_by_feedback_a_leader_moves_whoever_is_one_too_many_and_without_it_nobody_who_has_a_block() -> None:
    heard = tuple(said(agent, "I take block_0, 3 steps away.") for agent in (0, 1, 2))
    lead = {"acts": [Act.SPEAK], "role": "leader", "recipients": (1, 2), "memory": heard}
    live = PlanView("P0.1", Task("deliver", "block_0"), ("idle(steps=1)",), 0, PlanStatus.RUNNING)
    assert answer(THREE, 0, **lead, plan=live).messages == ()
    crowd = (task(0, 1, in_place=[0], planned=[0, 1, 2]), task(1, 2))
    assert (
        answer(THREE, 0, **lead, plan=live, constraints=crowd).messages[0].content
        == "agent_1: block_1; agent_2: block_1."
    )


def test_a_leader_orders_by_the_plans_that_feedback_shows_and_not_by_what_was_said_long_ago() -> None:
    heard = (said(2, "I take block_1, 3 steps away."),)
    lead = {"acts": [Act.SPEAK], "role": "leader", "recipients": (1, 2), "memory": heard}
    old = [Message(0, m.sender, (), m.content, m.kind, -1, 0, 0) for m in heard]
    without = answer(THREE, 0, **lead | {"memory": tuple(old)})
    states = (task(1, 2), task(0, 1, in_place=[0]))
    informed = answer(THREE, 0, **lead | {"memory": tuple(old)}, constraints=states)
    assert "agent_2" not in without.messages[0].content
    assert "agent_2: block_1" in informed.messages[0].content


def test_of_agents_whom_a_prompt_leaves_out_nothing_is_known() -> None:
    env = CubeEnv(layout=THREE)
    env.reset(seed=0)
    seen = env.symbolic_observation(0)
    alone = replace(seen, agents=seen.agents[:1])
    team = ("agent_0", "agent_1", "agent_2")
    view = View(0, team[0], team, Turn(0, frozenset({Act.PLAN})), 0, 0, alone)
    speaker = CubeSpeaker()
    assert speaker.prospects(view, 2) == []
    expected = {2: Task("deliver", "block_0")}
    plans = [
        speaker.anticipate(view, expected, Chooser(np.random.default_rng(0))),
        speaker.answer(view, Chooser(np.random.default_rng(0))),
    ]
    assert plans[0] == plans[1]


def test_silence_costs_pushes_in_vain_and_steps() -> None:
    silent, talking = (
        [compute_metrics(Trace(tuple(episode(name, 2, seed)))) for seed in (0, 1)] for name in ("individual", "debate")
    )
    for alone, together in zip(silent, talking, strict=True):
        assert alone["outcome.completion"] == together["outcome.completion"] == 1
        assert alone["constraints.attempt_success_rate"] < together["constraints.attempt_success_rate"]
    assert sum(run["outcome.steps"] for run in silent) > sum(run["outcome.steps"] for run in talking)

"""Worlds in which agents take turns, die, differ in what they may do, count for, and get: the loop, traces, metrics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import pytest

from maeil import (
    Act,
    ActionEnd,
    Attempt,
    Outcome,
    Plan,
    Resume,
    SymbolicAction,
    Task,
    TaskState,
    Thought,
    Transition,
    View,
    Vocabulary,
    end_of,
)
from maeil.controllers import SUCCESS, Repeat
from maeil.errors import ContractError
from maeil.messages import Draft
from maeil.metrics import compute_metrics
from maeil.tasks import fewest
from maeil.testing import BrokenContract, check_world
from maeil.trace import read_trace, replay
from maeil.trace.events import ConstraintChange, PlanChange, StageChange, StepTaken, ThoughtEnd, ThoughtStart
from quorum.topologies.plain import Decentralized, DecentralizedConfig
from tests.maeil.corridor import Corridor, Rest, Walk
from tests.maeil.scripted import Scripted, lines, play, walk


class Alternating(Corridor):
    """The corridor, in which one agent acts at a time and whoever has arrived is gone; who moves takes the other's."""

    def acting(self) -> Sequence[int]:
        left = [agent for agent, cell in enumerate(self.cells) if cell < self.length]
        return [left[self.t % len(left)]] if left else [0]

    def step(self, joint: Sequence[Any]) -> Transition:
        taken = super().step([primitive or 0 for primitive in joint])
        rewards = tuple(
            float(primitive or 0) * (2 if primitive else 0) - sum(p or 0 for p in joint) for primitive in joint
        )
        return replace(taken, reward=0.0, rewards=rewards)


def test_a_mind_off_turn_is_not_asked_and_does_nothing() -> None:
    asked: list[tuple[int, int]] = []

    class Asked(Scripted):
        async def think(self, view: View) -> Thought:
            asked.append((view.t, view.agent))
            return await super().think(view)

    events = play([Asked(walk(1), walk(1)), Asked(walk(1), walk(1))], Alternating(2, length=2))
    assert asked == [(0, 0), (1, 1), (2, 0), (3, 1)]
    joints = [stamped.event.joint for stamped in events if isinstance(stamped.event, StepTaken)]
    assert joints == [[1, None], [None, 1], [1, None], [None, 1]]


def test_a_plan_is_kept_while_its_agent_is_off_turn() -> None:
    events = play([Scripted(walk(2)), Scripted(walk(2))], Alternating(2, length=2))
    assert [s.event.agent for s in events if isinstance(s.event, ThoughtStart)] == [0, 1]
    stages = [(s.t, s.event.to_stage) for s in events if isinstance(s.event, StageChange) and s.event.agent == 1]
    assert stages == [(0, "O"), (1, "R"), (1, "W"), (1, "X"), (2, "O"), (3, "X"), (4, "R")]
    ends = [s.event for s in events if isinstance(s.event, PlanChange) and s.event.status == "succeeded"]
    assert [end.agent for end in ends] == [0, 1]


def test_mail_that_comes_off_turn_interrupts_when_the_turn_comes() -> None:
    """Agent 0 has not acted in step 2 when it writes, so the plan of agent 1 goes on, and is thought over first."""

    def speak(view: View) -> Thought:
        may = Act.SPEAK in view.turn.acts and view.t == 2
        return Thought(walk(1).decision if Act.PLAN in view.turn.acts else None, (Draft((1,), "go on"),) if may else ())

    def answer(view: View) -> Thought:
        plan = Resume.RESUME if view.may_resume else walk(2).decision
        return Thought(plan if Act.PLAN in view.turn.acts else None)

    topology = Decentralized(DecentralizedConfig(name="decentralized", budget=1))
    events = play([Scripted(speak), Scripted(answer)], Alternating(2, length=3), topology=topology)
    read = next(line for line in lines(events, "messages_read"))
    woken = next(line for line in lines(events, "stage") if "agent 1 X->I message" in line)
    assert (read[:4], woken[:4]) == ("t=3 ", "t=3 ")


@pytest.mark.parametrize("acting", [[], [2], [-1]])
def test_a_turn_of_nobody_is_a_mistake_of_the_world(acting: list[int]) -> None:
    class Silent(Corridor):
        def acting(self) -> Sequence[int]:
            return acting

    world = Silent(2)
    with pytest.raises(ContractError, match=r"acting\(\) returned .*; it must return at least one index"):
        play([Scripted(walk(1)), Scripted(walk(1))], world)


def test_rewards_of_each_agent_are_on_the_trace_and_in_metrics(tmp_path: Path) -> None:
    path = tmp_path / "trace.jsonl"
    play([Scripted(walk(2)), Scripted(walk(2))], Alternating(2, length=2), path=path)
    trace = read_trace(path)
    steps = list(trace.of(StepTaken))
    assert [tuple(step.rewards or ()) for step in steps] == [(1.0, -1.0), (-1.0, 1.0), (1.0, -1.0), (-1.0, 1.0)]
    steps_of_one = play([Scripted(walk(2)), Scripted(walk(2))], Corridor(2, length=2), path=tmp_path / "same.jsonl")
    assert b"rewards" not in (tmp_path / "same.jsonl").read_bytes()
    assert steps_of_one
    found = compute_metrics(trace)
    assert (found["outcome.return"], found["outcome.lowest_return"], found["outcome.highest_return"]) == (0, 0, 0)
    assert compute_metrics(read_trace(tmp_path / "same.jsonl"))["outcome.lowest_return"] is None
    list(replay(trace, Alternating(2, length=2)))


def test_a_zero_sum_game_shows_who_won(tmp_path: Path) -> None:
    class Duel(Corridor):
        def step(self, joint: Sequence[int]) -> Transition:
            return replace(super().step(joint), reward=0.0, rewards=(1.0, -1.0))

    play([Scripted(walk(3)), Scripted(walk(3))], Duel(2, length=3), path=tmp_path / "trace.jsonl")
    found = compute_metrics(read_trace(tmp_path / "trace.jsonl"))
    assert (found["outcome.return"], found["outcome.lowest_return"], found["outcome.highest_return"]) == (0, -3, 3)


class Shout(SymbolicAction):
    """Shout."""

    action: Literal["shout"] = "shout"


class Divided(Corridor):
    vocabulary = Vocabulary(Walk, Rest, Shout, only={"shout": [1]})

    def start_action(self, agent: int, action: SymbolicAction) -> Any:
        return Repeat({"how": [0.5, "loud"]}, 1) if isinstance(action, Shout) else super().start_action(agent, action)

    def step(self, joint: Sequence[Any]) -> Transition:
        return super().step([primitive if isinstance(primitive, int) else 0 for primitive in joint])


def test_an_agent_may_use_its_own_actions_alone() -> None:
    shout = Thought(Plan((Shout(),)))
    events = play([Scripted(shout, walk(2)), Scripted(shout, walk(2))], Divided(2, length=2))
    refused = [s.event for s in events if isinstance(s.event, ThoughtEnd) and s.event.refused]
    assert [(end.agent, end.refused) for end in refused] == [
        (0, ("shout() is not in the vocabulary; the actions are: walk, rest",))
    ]
    check_world(Divided(2))


def test_a_vocabulary_says_which_action_it_lacks() -> None:
    with pytest.raises(ValueError, match="only: unknown action 'sing'; the actions are: walk"):
        Vocabulary(Walk, only={"sing": [0]})


def test_structured_primitives_come_back_from_the_trace(tmp_path: Path) -> None:
    path = tmp_path / "trace.jsonl"
    play([Scripted(walk(1)), Scripted(Thought(Plan((Shout(), Walk(steps=1)))))], Divided(2, length=1), path=path)
    trace = read_trace(path)
    assert next(step.joint for step in trace.of(StepTaken)) == [1, {"how": [0.5, "loud"]}]
    list(replay(trace, Divided(2, length=1)))


class Heavy(Corridor):
    """A load that takes weight 3 to be lifted: the second agent alone, or the other two with it."""

    WEIGHTS = (1.0, 3.0, 1.0)

    def reset(self, seed: int) -> Mapping[str, Any]:
        self.seen: TaskState | None = None
        return super().reset(seed)

    def constraints(self, joint: Sequence[int], plans: Sequence[Plan | None]) -> Sequence[TaskState]:
        lifting = sum(weight for weight, primitive in zip(self.WEIGHTS, joint, strict=True) if primitive)
        state = TaskState(Task("lift", "load"), 3.0, 5.0, lifting, 5.0, lifting, True, weights=self.WEIGHTS)
        before, self.seen = self.seen, state
        return () if state == before else (state,)

    def step(self, joint: Sequence[int]) -> Transition:
        lifted = sum(weight for weight, primitive in zip(self.WEIGHTS, joint, strict=True) if primitive) >= 3
        those = tuple(agent for agent, primitive in enumerate(joint) if primitive)
        attempts = (Attempt(Task("lift", "load"), those, lifted),) if those else ()
        return replace(super().step(joint), attempts=attempts)


def test_a_task_with_weights_counts_them(tmp_path: Path) -> None:
    path = tmp_path / "trace.jsonl"
    rest = Thought(Plan((Rest(steps=1),)))
    play(
        [Scripted(walk(1), walk(1)), Scripted(rest, walk(2)), Scripted(walk(1), walk(1))], Heavy(3, length=2), path=path
    )
    trace = read_trace(path)
    attempts = list(trace.story.attempts)
    assert tuple(attempts[0].missing) == ("temporal",)
    assert attempts[0].needs == 1
    assert not attempts[1].missing
    first = next(iter(trace.of(ConstraintChange)))
    assert (first.threshold, first.temporal, first.weights) == (3.0, 2.0, [1.0, 3.0, 1.0])
    check_world(Heavy(3))


@pytest.mark.parametrize(
    ("threshold", "weights", "agents"),
    [(2, None, 2), (3, (1, 3, 1), 1), (4, (1, 3, 1), 2), (5, (1, 3, 1), 3), (6, (1, 3, 1), 4), (0.5, (1, 3), 1)],
)
def test_the_fewest_agents_that_reach_a_threshold(threshold: float, weights: Any, agents: int) -> None:
    assert fewest(threshold, weights) == agents


@pytest.mark.parametrize(
    ("success", "failure", "truncated", "end"),
    [
        (True, True, True, Outcome.SUCCESS),
        (False, True, True, Outcome.FAILURE),
        (False, False, True, Outcome.TRUNCATED),
        (False, False, False, None),
    ],
)
def test_the_first_reason_ends_an_episode(success: bool, failure: bool, truncated: bool, end: Outcome | None) -> None:
    assert end_of(success=success, failure=failure, truncated=truncated) is end


class Lazy(Repeat):
    def status(self) -> ActionEnd | None:
        return None if self._left > 0 else SUCCESS

    def act(self) -> Any:
        super().act()
        return None


def fickle(self: Any) -> Sequence[int]:
    self.calls = getattr(self, "calls", 0) + 1
    return [self.calls % 2]


MISTAKES = {
    "acting() returns the indices": {"acting": lambda self: []},
    "acting() returns the same twice": {"acting": fickle},
    "act() of a controller returns a primitive": {"start_action": lambda self, agent, action: Lazy(0, 1)},
    "idle is an action of the vocabulary of every agent": {"vocabulary": Vocabulary(Walk, Rest, only={"rest": [0]})},
    "rewards has one number for each agent": {
        "step": lambda self, joint: replace(Corridor.step(self, joint), rewards=(1.0,)),
    },
}  # fmt: skip


@pytest.mark.parametrize("rule", MISTAKES)
def test_a_mistake_is_named(rule: str) -> None:
    with pytest.raises(BrokenContract) as caught:
        check_world(type("Mistaken", (Corridor,), MISTAKES[rule])(2))
    assert rule in caught.value.rule


def test_weights_of_too_few_agents_are_named() -> None:
    class Light(Heavy):
        WEIGHTS = (1.0, 3.0)

        def constraints(self, joint: Sequence[int], plans: Sequence[Plan | None]) -> Sequence[TaskState]:
            if self.seen is not None:
                return ()
            self.seen = TaskState(Task("lift", "load"), 3.0, 1.0, 0.0, 1.0, 0.0, True, weights=self.WEIGHTS)
            return (self.seen,)

        def step(self, joint: Sequence[int]) -> Transition:
            return Corridor.step(self, joint)

    with pytest.raises(BrokenContract, match="weights has a positive number for each agent"):
        check_world(Light(3))


def test_a_reset_that_depends_on_what_was_played_is_blamed_itself() -> None:
    class Worn(Corridor):
        worn = 0

        def reset(self, seed: int) -> Mapping[str, Any]:
            board = super().reset(seed)
            self.worn += 1
            return {**board, "worn": self.worn}

    with pytest.raises(BrokenContract, match=r"reset\(\) depends on its seed alone"):
        check_world(Worn(2))

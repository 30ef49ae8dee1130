"""What minds expect of each other: what the loop takes, when it is recorded, and how the metrics score it."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from itertools import count

import pytest

from maeil import Act, Task, Thought, View
from maeil.errors import ContractError
from maeil.metrics import METRICS, compute_metrics
from maeil.trace import SCHEMA, Stamped, Trace
from maeil.trace.events import (
    EpisodeStart,
    MessageSent,
    PlanChange,
    ThoughtEnd,
    ThoughtStart,
)
from quorum.methods.predictions import Prediction, Predictions
from quorum.methods.predictions.events import Predicted
from tests.agents.naive_team import topology
from tests.maeil.corridor import Corridor
from tests.maeil.scripted import Scripted, walk
from tests.maeil.scripted import play as play_without

play = partial(play_without, extensions=[Predictions()])

A, B, C = ({"kind": "deliver", "target": f"block_{i}"} for i in range(3))
START = EpisodeStart(SCHEMA, 0, "cube", "individual", ["agent_0", "agent_1", "agent_2"], [], "tokens", {})


def seeing(*predictions: Prediction, steps: int = 2) -> Thought:
    return replace(walk(steps), answers={"predictions": predictions})


def of(events: list[Stamped], kind: type) -> list:
    return [stamped.event for stamped in events if isinstance(stamped.event, kind)]


def trace(*events: object) -> Trace:
    whole = (START, *events)
    return Trace(tuple(Stamped(seq, 0, 0, 0.0, event) for seq, event in enumerate(whole)))  # type: ignore[arg-type]


think = partial(ThoughtStart, acts=["plan"], problems=[])


_NUMBERS = count(1)


def thought(agent: int, refused: tuple[str, ...] = ()) -> ThoughtEnd:
    return ThoughtEnd(agent, 1, [], refused, 0)


def plan(agent: int, task: dict | None, flag: str = "") -> PlanChange:
    return PlanChange(f"P{agent}.{next(_NUMBERS)}", agent, "committed", task=task, actions=[], flag=flag)


def says(agent: int, **of: dict | None) -> Predicted:
    return Predicted(agent, [{"agent": int(name[1:]), "task": task} for name, task in of.items()])


def test_what_a_thought_expects_is_recorded_before_it_takes_effect_and_told_to_nobody() -> None:
    other = Scripted(walk(2))
    events = play([Scripted(seeing(Prediction(1, Task("walk", "2")), Prediction(2, None))), other, other])
    kinds = [type(stamped.event) for stamped in events]
    first = of(events, Predicted)[0]
    assert first == Predicted(0, [{"agent": 1, "task": {"kind": "walk", "target": "2"}}, {"agent": 2, "task": None}])
    assert kinds[kinds.index(Predicted) - 1] is ThoughtEnd
    assert kinds[kinds.index(Predicted) + 1] is PlanChange
    assert not of(events, MessageSent)


@pytest.mark.parametrize(
    ("predictions", "reported"),
    [
        ((Prediction(0, None),), "a prediction is of 0, which is no other agent"),
        ((Prediction(2, None),), "a prediction is of 2, which is no other agent"),
        ((Prediction(1, None), Prediction(1, None)), "there are two predictions of agent 1"),
    ],
)
def test_a_prediction_of_nobody_is_refused_with_the_whole_thought(predictions: tuple, reported: str) -> None:
    events = play([Scripted(seeing(*predictions), walk(2)), Scripted(walk(2))], Corridor(2))
    refused = [end.refused for end in of(events, ThoughtEnd) if end.refused]
    assert refused == [(reported,)]
    assert not of(events, Predicted)


def test_a_mind_that_does_not_require_the_extension_may_not_predict() -> None:
    with pytest.raises(ContractError, match="no such extension"):
        play_without([Scripted(seeing(Prediction(1, None))), Scripted(walk(2))])


def test_a_prediction_is_held_against_the_next_plan_after_its_thought_has_started() -> None:
    # Agent 1 has committed B before agent 0 is done with its thought, but not before it began: that is what counts.
    found = trace(
        plan(1, A),
        think(0), think(1),
        thought(1), plan(1, B),
        thought(0), says(0, _1=B, _2=C), plan(0, A),
        plan(1, C), plan(2, A),
    )  # fmt: skip
    values = compute_metrics(found)
    assert values["tom.predictions"] == 2
    assert values["tom.accuracy"] == 0.5  # B of agent 1 is right, C of agent 2 is wrong


def test_what_is_not_followed_by_a_plan_of_the_others_own_accord_is_not_scored() -> None:
    found = trace(think(0), thought(0), says(0, _1=A, _2=None), plan(1, None, "invalid_plan"), plan(2, None))
    values = compute_metrics(found)
    assert values["tom.predictions"] == 2
    assert values["tom.accuracy"] == 1  # of agent 2 alone: its plan serves no task, as was said
    late = trace(think(0), thought(0), says(0, _1=A))
    assert compute_metrics(late)["tom.accuracy"] is None


def test_the_baselines_are_the_task_that_the_other_had_and_the_same_predictions_dealt_out_at_random() -> None:
    found = trace(
        plan(1, A), plan(2, B),
        think(0), thought(0), says(0, _1=B, _2=B),
        plan(1, B), plan(2, B),
        think(0), thought(0), says(0, _1=A, _2=A),
        plan(1, A), plan(2, C),
    )  # fmt: skip
    values = compute_metrics(found)
    assert values["tom.accuracy"] == 3 / 4
    assert values["tom.persistence"] == 1 / 4  # agent 2 with B alone has gone on
    assert values["tom.chance"] == (2 * 2 + 2 * 1) / 16  # said B twice, done twice; said A twice, done once


def test_coverage_counts_the_turns_that_could_plan_of_those_who_predict() -> None:
    speak = ThoughtStart(0, ["speak"], [])
    found = trace(
        think(1), thought(1),
        speak, thought(0), think(0), thought(0, ("no",)), think(0), thought(0), says(0, _1=A),
        think(0), thought(0),
    )  # fmt: skip
    assert compute_metrics(found)["tom.coverage"] == 1 / 4


def test_a_trace_without_predictions_has_none_of_these_metrics() -> None:
    assert not [name for name in compute_metrics(trace(plan(1, A))) if name.startswith("tom.")]
    assert {name for name in METRICS if name.startswith("tom.")} == {
        "tom.predictions", "tom.accuracy", "tom.persistence", "tom.chance", "tom.coverage",
    }  # fmt: skip


def test_a_turn_for_talk_alone_takes_no_predictions() -> None:
    def eager(view: View) -> Thought:
        return (
            walk(3) if Act.PLAN in view.turn.acts else Thought(answers={} if view.problems else {"predictions": (one,)})
        )

    one = Prediction(1, None)
    quiet = Scripted(lambda view: walk(3) if Act.PLAN in view.turn.acts else Thought())
    events = play([Scripted(eager), quiet], Corridor(2), topology=topology("debate", 2))
    assert [end.refused for end in of(events, ThoughtEnd) if end.refused] == [
        ("this turn is for speaking, not for predictions",)
    ]

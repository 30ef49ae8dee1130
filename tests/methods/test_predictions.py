"""`agents.predict=true`: what a turn asks of others' next plans, what is read of it, and that it is off by default."""

from __future__ import annotations

from typing import Any

import pytest

from maeil import Act, Task, Thought
from maeil.errors import InvalidThought
from quorum.agents.naive import build, render_prompt
from quorum.agents.naive.answers import AnswerTypes, write
from quorum.agents.prompting.blocks import read_blocks
from quorum.agents.skills import Prospect, skills_of
from quorum.configuration.cell import Cell
from quorum.episode.parts import build as build_parts
from quorum.methods.predictions import Prediction, Predictions
from quorum.methods.predictions.events import Predicted
from quorum.methods.tom.simulated import NEAREST, RULES, foresee
from quorum_base.user_errors import UserError
from tests.agents.naive_team import Dictated, config, context, cube, topology, view
from tests.maeil.scripted import play

PREDICT = ("agents=naive", "n=3", "agents.predict=true")


@pytest.fixture(scope="module")
def world() -> Any:
    found = cube(3)
    found.reset(1)
    return found


@pytest.fixture(scope="module")
def types(world: Any) -> AnswerTypes:
    return AnswerTypes(world.vocabulary, 8, ("predictions",))


@pytest.fixture(scope="module")
def cells() -> dict[str, Cell]:
    return {"off": Cell.compose(PREDICT[:2]), "on": Cell.compose(PREDICT)}


def prompt(world: Any, predict: bool, *acts: Act) -> str:
    seen = view(world, 1, acts or (Act.PLAN,))
    return render_prompt(config(predict=predict), context(world, topology("individual", 3)), seen)[-1].content


def test_only_a_turn_that_plans_asks_for_predictions_and_says_of_whom(world: Any) -> None:
    asked = prompt(world, True)
    assert '"predict":["agent_0","agent_2"]' in read_blocks(asked)["turn"]
    answer = asked.partition("# Your answer")[2].partition("# Your turn")[0]
    assert '"predictions"' in answer  # among the keys, and in the example
    assert asked.endswith("they are compared with what the agents do.")
    for other in (prompt(world, False), prompt(world, True, Act.SPEAK)):
        assert "predict" not in other


def test_the_system_message_does_not_tell_whether_predictions_are_asked_for(world: Any) -> None:
    seen = view(world, 1)
    of = [
        render_prompt(config(predict=predict), context(world, topology("individual", 3)), seen)[0].content
        for predict in (False, True)
    ]
    assert of[0] == of[1]


def test_predictions_come_before_what_is_decided_by_them(types: AnswerTypes, world: Any) -> None:
    seen = view(world, 1, (Act.SPEAK, Act.PLAN), recipients=(0, 2))
    assert types.keys(seen) == ("thoughts", "predictions", "messages", "plan")
    assert list(types.wanted(seen, grounded=True).schema["properties"]) == list(types.keys(seen))


def test_an_answer_is_read_back_as_it_was_written(types: AnswerTypes, world: Any) -> None:
    seen = view(world, 1)
    plan = _example(world).plan
    thought = Thought(plan, answers={"predictions": (Prediction(0, Task("deliver", "block_2")), Prediction(2, None))})  # type: ignore[arg-type]
    assert types.read(write(thought, seen, types.parts(seen)), seen) == thought


def test_who_may_be_predicted_is_in_the_grounded_schema_alone(types: AnswerTypes, world: Any) -> None:
    seen = view(world, 1)
    agent = [types.wanted(seen, grounded=g).schema["$defs"]["PredictionAnswer"]["properties"]["agent"] for g in (0, 1)]
    assert agent == [{"type": "string"}, {"type": "string", "enum": ["agent_0", "agent_2"]}]


@pytest.mark.parametrize(
    ("entries", "reported"),
    [
        (["agent_1"], "there is no 'agent_1' to predict; there are: agent_0, agent_2"),
        (["agent_7"], "there is no 'agent_7' to predict"),
        (["agent_0", "agent_0"], "'agent_0' is predicted twice"),
    ],
)
def test_a_prediction_of_nobody_is_asked_for_again(
    types: AnswerTypes, world: Any, entries: list, reported: str
) -> None:
    seen = view(world, 1)
    value = types.example(seen, _example(world)) | {"predictions": [{"agent": a, "task": None} for a in entries]}
    with pytest.raises(InvalidThought, match=reported):
        types.read(value, seen)


def test_what_the_model_predicts_is_on_the_trace() -> None:
    found = cube(2, max_steps=3)
    found.reset(7)
    model = Dictated(
        AnswerTypes(found.vocabulary, 8, ("predictions",)).example(view(found), _example(found))
        | {"predictions": [{"agent": "agent_1", "task": {"kind": "deliver", "target": "block_1"}}]}
        | {"plan": {"rationale": "", "task": None, "actions": [found.idle.model_dump(mode="json")]}}
    )
    still = Dictated({"thoughts": "", "predictions": [], "plan": model.values[0]["plan"]})
    given = context(found, topology("individual", 2), lambda name: model if name == "agent_0" else still)
    events = play(
        build(config(predict=True), given), found, topology=topology("individual", 2), extensions=[Predictions()]
    )
    said = [stamped.event for stamped in events if isinstance(stamped.event, Predicted)]
    assert said[0] == Predicted(0, [{"agent": 1, "task": {"kind": "deliver", "target": "block_1"}}])


def test_without_predictions_a_cell_has_the_name_that_it_had_before_there_were_any(cells: dict[str, Cell]) -> None:
    off, on = cells["off"], cells["on"]
    assert "predict" not in off.configuration.identity()["agents"]
    assert on.configuration.identity()["agents"]["predict"] is True
    assert on.hash != off.hash
    assert "prompts/common/predict.jinja" in on.inputs
    assert "prompts/common/predict.jinja" not in off.inputs


def test_a_world_with_one_task_is_refused_with_those_that_have_several() -> None:
    cell = Cell.compose(["env=squeeze", *PREDICT])
    with pytest.raises(
        UserError,
        match=r"agents\.predict=true predicts .* 'squeeze' .*: cube, transport, crafter, foraging, overcooked",
    ):
        build_parts(cell, lambda name: None)


def test_each_rule_of_the_simulated_model_foresees_by_what_it_says() -> None:
    near, heavy, last, done = (Task("deliver", f"block_{i}") for i in range(4))
    prospects = [Prospect(near, 2, 2, 9), Prospect(heavy, 5, 3, 9), Prospect(last, 7, 2, 9), Prospect(done, 9, 1, 1)]
    nearest, keeps, heaviest, lightest, ending = RULES
    assert [foresee(rule, prospects, last) for rule in RULES] == [near, last, heavy, done, done]
    assert (nearest, foresee("in words of one's own", prospects)) == (NEAREST, near)
    assert foresee(keeps, prospects, None) == near
    assert foresee(nearest, [*prospects, Prospect(Task("deliver", "block_9"), 30, said=True)]) == Task(
        "deliver", "block_9"
    )
    assert foresee(heaviest, ()) is foresee(lightest, ()) is foresee(ending, ()) is None


def _example(world: Any) -> Any:
    return skills_of(world.name).example(world)

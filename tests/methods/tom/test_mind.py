"""A mind with hypotheses: in which order it asks, what the deciding turn sees, what is left when answers fail."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import orjson
import pytest

from maeil import Act, Resume, Task, Thought, View
from maeil.mind import PlanView
from maeil.plans import PlanStatus
from maeil.trace import comparable, read_trace
from maeil.trace.events import ThoughtEnd
from quorum.agents.llm.protocol import Finish, Reply, Request, Usage
from quorum.agents.llm.structured import Structuring
from quorum.agents.prompting.blocks import read_blocks
from quorum.agents.simulated.model import SimulatedModel
from quorum.agents.skills import skills_of
from quorum.configuration.cell import Cell
from quorum.episode.parts import build as build_parts
from quorum.episode.runner import run_cell
from quorum.methods.predictions import Prediction
from quorum.methods.tom import TomConfig, TomMind, TomRole, build
from quorum.methods.tom.answers import FORMS, example_of
from quorum.methods.tom.simulated import NEAREST
from quorum_base.user_errors import UserError
from tests.agents.naive_team import context, cube, prompts, settings, shipped, topology, view

A, B = Task("deliver", "block_0"), Task("deliver", "block_1")
OBSERVER, HYPOTHESIZER, PREDICTOR = TomRole


def of(task: Task | None) -> dict[str, str] | None:
    return {"kind": task.kind, "target": task.target} if task is not None else None


class Cast:
    """A model that answers by role, and keeps what it was asked; a list of answers is used up, the last one stays."""

    def __init__(self, **answers: Any) -> None:
        self.answers = {role: value if isinstance(value, list) else [value] for role, value in answers.items()}
        self.requests: list[Request] = []

    async def complete(self, request: Request) -> Reply:
        self.requests.append(request)
        left = self.answers[request.origin.role or "turn"]  # type: ignore[union-attr]
        value = left.pop(0) if len(left) > 1 else left[0]
        text = orjson.dumps(value).decode()
        return Reply(text, Finish.STOP, Usage(10, 5), None, 0.0, "cast", value=value)

    @property
    def roles(self) -> list[str]:
        return [request.origin.role or "turn" for request in self.requests]  # type: ignore[union-attr]

    def blocks(self, role: str, nth: int = -1) -> Mapping[str, Any]:
        found = [request for request in self.requests if (request.origin.role or "turn") == role]  # type: ignore[union-attr]
        return {name: orjson.loads(text) for name, text in read_blocks(found[nth].messages[-1].content).items()}


def forecasts(*entries: tuple[str, int, Task | None]) -> dict[str, Any]:
    reported = [{"agent": agent, "hypothesis": number, "task": of(task)} for agent, number, task in entries]
    return {"thoughts": "", "predictions": reported}


def hypotheses(**reported: str) -> dict[str, Any]:
    return {"thoughts": "", "hypotheses": [{"agent": a, "hypothesis": text} for a, text in reported.items()]}


def acts(**reported: Task) -> dict[str, Any]:
    return {"thoughts": "", "acts": [{"agent": agent, "task": of(task)} for agent, task in reported.items()]}


@pytest.fixture(scope="module")
def world() -> Any:
    found = cube(3)
    found.reset(1)
    return found


def plan_of(world: Any) -> dict[str, Any]:
    return {"thoughts": "", "plan": {"rationale": "", "task": None, "actions": [world.idle.model_dump(mode="json")]}}


def config(**changes: Any) -> TomConfig:
    return TomConfig(**{**shipped("agents", "tom"), "prompts": prompts(), "repairs": 2, **changes})


def mind_of(world: Any, model: Any, **changes: Any) -> TomMind:
    found = build(config(**changes), context(world, topology("individual", 3), lambda _: model))[0]
    assert isinstance(found, TomMind)
    return found


def cast(world: Any, **changes: Any) -> Cast:
    both = hypotheses(agent_1="goes near", agent_2="goes far")
    first = forecasts(("agent_1", 1, A), ("agent_2", 1, None))
    return Cast(**{"turn": plan_of(world), "hypothesizer": both, "predictor": first, "observer": acts(), **changes})


def predicted(thought: Thought) -> tuple[Prediction, ...]:
    return thought.answers.get("predictions", ())


def think(mind: TomMind, seen: View) -> Any:
    return asyncio.run(mind.think(seen))


def test_a_first_turn_asks_for_hypotheses_then_for_predictions_and_then_for_the_plan(world: Any) -> None:
    model = cast(world)
    thought = think(mind_of(world, model), view(world))
    assert model.roles == ["hypothesizer", "predictor", "turn"]
    assert [call.record.get("role") for call in thought.calls] == ["hypothesizer", "predictor", None]
    assert model.blocks("hypothesizer")["others"] == {
        name: {"acts": [], "hypotheses": []} for name in ("agent_1", "agent_2")
    }
    assert model.blocks("predictor")["others"]["agent_1"] == {"last": None, "hypotheses": {"1": "goes near"}}


def test_what_is_expected_is_in_the_prompt_of_the_turn_that_decides_and_in_the_thought(world: Any) -> None:
    model = cast(world)
    thought = think(mind_of(world, model), view(world))
    asked = model.requests[-1].messages[-1].content
    assert orjson.loads(read_blocks(asked)["expected"]) == {"agent_1": of(A), "agent_2": None}
    assert "# What you expect the others to do" in asked
    assert predicted(thought) == (Prediction(1, A), Prediction(2, None))
    assert thought.decision is not None


def test_all_questions_of_a_turn_begin_with_the_same_system_message(world: Any) -> None:
    model = cast(world)
    mind = mind_of(world, model)
    think(mind, view(world))
    think(mind, view(world))
    assert set(model.roles) == {*TomRole, "turn"}
    assert len({request.messages[0].content for request in model.requests}) == 1


def test_the_next_turn_observes_first_and_scores_by_it(world: Any) -> None:
    model = cast(world, observer=acts(agent_1=A, agent_2=B))
    mind = mind_of(world, model)
    think(mind, view(world))
    think(mind, view(world, t=7))
    assert model.roles[3:] == ["observer", "hypothesizer", "predictor", "turn"]
    reported = model.blocks("hypothesizer")["others"]
    assert reported["agent_1"] == {"acts": [[7, of(A)]], "hypotheses": [{"hypothesis": "goes near", "value": 0.3}]}
    assert reported["agent_2"] == {"acts": [[7, of(B)]], "hypotheses": []}  # it was wrong: it is not shown
    assert model.blocks("predictor")["others"]["agent_2"]["hypotheses"] == {"1": "goes far", "2": "goes far"}


def test_a_valid_hypothesis_is_reused_and_nobody_is_asked_for_another(world: Any) -> None:
    right = forecasts(("agent_1", 1, A), ("agent_2", 1, A))
    model = cast(world, predictor=right, observer=acts(agent_1=A, agent_2=A))
    mind = mind_of(world, model, alpha=0.8)
    think(mind, view(world))
    think(mind, view(world, t=1))
    assert model.roles[3:] == ["observer", "predictor", "turn"]
    assert model.blocks("predictor")["others"]["agent_1"] == {"last": of(A), "hypotheses": {"1": "goes near"}}


def test_those_of_whom_nothing_is_observed_keep_their_values(world: Any) -> None:
    model = cast(world, observer=acts(agent_1=A))
    mind = mind_of(world, model)
    think(mind, view(world))
    think(mind, view(world, t=1))
    assert model.blocks("hypothesizer")["others"]["agent_2"] == {"acts": [], "hypotheses": []}
    assert [one.value for one in mind.partners["agent_2"].hypotheses] == [0, 0]


def test_a_turn_for_talk_and_one_that_could_go_on_take_one_call(world: Any) -> None:
    model = cast(world)
    mind = mind_of(world, model)
    think(mind, view(world))
    model.requests.clear()
    model.answers["turn"] = [{"thoughts": "", "messages": []}, {"thoughts": "", "decision": {"choice": "resume"}}]
    talk = think(mind, view(world, 0, (Act.SPEAK,), recipients=(1,)))
    plan = PlanView("P0.1", A, ("idle(steps=1)",), 0, PlanStatus.RUNNING)
    resumed = think(mind, view(world, plan=plan))
    assert model.roles == ["turn", "turn"]
    assert "expected" not in model.blocks("turn", 0)
    assert model.blocks("turn", 1)["expected"] == {"agent_1": of(A), "agent_2": None}
    assert (predicted(talk), predicted(resumed), resumed.decision) == ((), (), Resume.RESUME)


def test_a_refused_plan_is_asked_for_again_without_asking_about_the_others_again(world: Any) -> None:
    model = cast(world)
    mind = mind_of(world, model)
    first = think(mind, view(world))
    model.requests.clear()
    second = think(mind, view(world, problems=("there is no block 99",)))
    assert model.roles == ["turn"]
    assert predicted(second) == predicted(first)


def test_a_wrong_answer_is_asked_for_again_with_the_reasons_at_most_so_often_and_then_left(world: Any) -> None:
    of_itself = hypotheses(agent_0="me")
    good = hypotheses(agent_1="goes near", agent_2="goes far")
    fixed = cast(world, hypothesizer=[of_itself, good])
    think(mind_of(world, fixed), view(world))
    assert fixed.roles[:2] == ["hypothesizer"] * 2
    assert fixed.blocks("hypothesizer")["problems"] == ["there is no 'agent_0' to tell of; there are: agent_1, agent_2"]
    hopeless = cast(world, hypothesizer=of_itself)
    thought = think(mind_of(world, hopeless), view(world))
    assert hopeless.roles == ["hypothesizer"] * 3 + ["turn"]  # nobody predicts without a hypothesis
    assert thought.decision is not None
    assert predicted(thought) == ()
    assert sum(call.record.get("parse_failure", False) for call in thought.calls) == 3


@pytest.mark.parametrize(
    ("wrong", "reported"),
    [
        (forecasts(("agent_1", 2, A)), "there is no hypothesis 2 about 'agent_1'"),
        (forecasts(("agent_7", 1, A)), "there is no hypothesis 1 about 'agent_7'"),
        (forecasts(("agent_1", 1, A), ("agent_1", 1, B)), "there are two by hypothesis 1 about 'agent_1'"),
    ],
)
def test_a_prediction_by_no_hypothesis_is_refused(world: Any, wrong: dict[str, Any], reported: str) -> None:
    model = cast(world, predictor=[wrong, forecasts(("agent_1", 1, A))])
    think(mind_of(world, model), view(world))
    assert reported in model.blocks("predictor")["problems"][0]


def test_the_example_of_each_role_is_of_its_form_and_about_another_board(world: Any) -> None:
    for role in TomRole:
        example = example_of(role, skills_of("cube").example(world))
        assert list(example) == list(FORMS[role].schema["properties"])
        assert "agent_62" in str(example)
        assert "block_60" in str(example) or role is HYPOTHESIZER


def test_an_agent_without_others_asks_its_turn_alone() -> None:
    alone = cube(1)
    alone.reset(0)
    model = Cast(turn=plan_of(alone))
    mind = build(config(), context(alone, topology("individual", 1), lambda _: model))[0]
    thought = asyncio.run(mind.think(view(alone)))
    assert (model.roles, predicted(thought)) == (["turn"], ())


def test_the_simulated_model_plans_by_what_it_expects(world: Any) -> None:
    asked: list[Request] = []

    class Kept(SimulatedModel):
        async def complete(self, request: Request) -> Reply:
            asked.append(request)
            return await super().complete(request)

    model = Structuring(Kept(settings()), 1)
    seen = view(world)
    thought = think(mind_of(world, model), seen)
    assert set(
        orjson.loads(read_blocks(asked[1].messages[-1].content)["others"])["agent_1"]["hypotheses"].values()
    ) == {NEAREST}
    mates = {prediction.agent: prediction.task for prediction in predicted(thought)}
    assert set(mates) == {1, 2}
    blocks = {block.id: block for block in world.global_observation().blocks}
    for target in blocks.values():
        if target.ahead or target.weight != 2:
            continue
        # It joins those whom it expects at a block that lacks one; expecting nothing there, it takes what is nearest.
        reported = {1: Task("deliver", f"block_{target.id}")}
        decided = _decide(world, asked[-1], reported)
        assert decided["task"] == {"kind": "deliver", "target": f"block_{target.id}"}
        assert any(action["action"] == "rendezvous" for action in decided["actions"])


def _decide(world: Any, request: Request, expected: Mapping[int, Task]) -> dict[str, Any]:
    """Ask the simulated model the turn again, with other expectations in its prompt."""
    message = request.messages[-1]
    before = read_blocks(message.content)["expected"]
    reported = orjson.dumps({f"agent_{agent}": of(task) for agent, task in expected.items()}).decode()
    changed = replace(message, content=message.content.replace(before, reported), marks=())
    reply = asyncio.run(
        SimulatedModel(settings()).complete(replace(request, messages=(*request.messages[:-1], changed)))
    )
    answer: dict[str, Any] = orjson.loads(reply.text)["plan"]
    return answer


@pytest.mark.parametrize(
    "words",
    [
        ["env=cube", "n=3", "max_steps=25", "llm=simulated_faults"],
        ["env=transport", "n=3", "max_steps=5", "topology=debate"],
        ["env=crafter_coop", "n=2", "max_steps=10", "topology=centralized", "topology.leader=coordinator"],
    ],
    ids=["cube", "transport", "crafter"],
)
def test_a_team_plays_in_each_world_with_tasks_and_twice_the_same(words: list[str], tmp_path: Any) -> None:
    cell = Cell.compose(["agents=tom", *words])
    one, other = (run_cell(cell, tmp_path / name) for name in "ab")
    assert comparable(one.folder) == comparable(other.folder)
    assert one.metrics["tom.predictions"] > 0
    assert {"hypothesizer", "predictor"} <= {
        call.get("role") for thought in read_trace(one.folder).of(ThoughtEnd) for call in thought.calls
    }


def test_a_world_with_one_task_is_refused_with_those_that_have_several() -> None:
    with pytest.raises(
        UserError, match=r"agents=tom predicts .* 'squeeze' .*: cube, transport, crafter, foraging, overcooked"
    ):
        build_parts(Cell.compose(["env=squeeze", "n=3", "agents=tom"]), lambda name: None)


def test_a_value_out_of_its_range_is_reported_by_its_key() -> None:
    for word in ("alpha=0", "alpha=1.5", "threshold=1", "hypotheses=0"):
        with pytest.raises(UserError, match=f"agents.{word.partition('=')[0]}"):
            Cell.compose(["agents=tom", f"agents.{word}"])

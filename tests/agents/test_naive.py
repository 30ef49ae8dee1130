"""The zero-shot mind: what it asks for, what it makes of answers, and what it does when there is none."""

from __future__ import annotations

import asyncio
import random

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cube_env import Face, Idle, MoveToBlock, Navigate, PushBlock
from maeil import Act, Plan, Resume, Task, Thought, Vocabulary
from maeil.errors import InvalidThought
from maeil.messages import Draft, MessageKind
from maeil.metrics import compute_metrics
from maeil.mind import PlanView
from maeil.plans import PlanStatus
from maeil.trace import comparable, read_trace
from maeil.trace.reader import Trace
from quorum.agents.llm.errors import BudgetReached, InfrastructureFailed, UnknownModel
from quorum.agents.llm.protocol import Origin
from quorum.agents.llm.providers.chat import is_strict
from quorum.agents.llm.validation import Validator, validator_of
from quorum.agents.naive import build
from quorum.agents.naive.answers import AnswerTypes, write
from quorum.agents.simulated.model import SimulatedModel
from tests.agents.naive_team import (
    TOPOLOGIES,
    Delayed,
    Dictated,
    config,
    context,
    cube,
    episode,
    no_answer,
    prompts,
    settings,
    topology,
    view,
)
from tests.maeil.corridor import Rest
from tests.maeil.scripted import play

RUNNING = PlanView("P0.1", Task("deliver", "block_0"), ("idle(steps=1)",), 0, PlanStatus.RUNNING)
PUSH = {
    "rationale": "near",
    "task": {"kind": "deliver", "target": "block_0"},
    "actions": [{"action": "idle", "steps": 2}],
}
SAY = {"recipients": ["agent_1"], "kind": "inform", "content": "hello"}


@pytest.fixture
def world():
    world = cube(4)
    world.reset(0)
    return world


def thinking(value):
    """An answer that begins with thoughts, as every one has to."""
    return {"thoughts": "Let me see.", **value} if isinstance(value, dict) else value


def mind(world, *values, **changes):
    model = Dictated(*map(thinking, values))
    return build(config(**changes), context(world, topology("debate", len(world.agents)), lambda _: model))[0], model


def think(world, value, repairs=0, **changes):
    return asyncio.run(mind(world, value, repairs=repairs)[0].think(view(world, **changes)))


def test_a_plan_is_read_with_its_task_its_reason_and_its_typed_actions(world):
    actions = [
        {"action": "move_to_block", "block": 1, "face": "left"},
        {"action": "push_block", "block": 1, "steps": 3},
    ]
    thought = think(world, {"plan": {**PUSH, "actions": actions}})
    assert thought.decision == Plan(
        (MoveToBlock(block=1, face=Face.left), PushBlock(block=1, steps=3)), Task("deliver", "block_0"), "near"
    )
    assert (thought.messages, thought.failure) == ((), "")


def test_names_become_indices_and_all_means_everybody_of_the_turn(world):
    talk = {"acts": (Act.SPEAK,), "recipients": (1, 3)}
    thought = think(world, {"messages": [SAY, {**SAY, "recipients": ["all"], "kind": "propose"}]}, **talk)
    assert thought.messages == (Draft((1,), "hello"), Draft((1, 3), "hello", MessageKind.PROPOSE))
    assert thought.decision is None
    assert think(world, {"messages": []}, **talk).messages == ()


def test_an_interrupted_agent_resumes_or_replaces(world):
    assert think(world, {"decision": {"choice": "resume"}}, plan=RUNNING).decision is Resume.RESUME
    replaced = think(world, {"decision": {"choice": "replace", "plan": PUSH}}, plan=RUNNING).decision
    assert replaced == Plan((Idle(steps=2),), Task("deliver", "block_0"), "near")


def test_a_turn_that_may_do_both_is_one_answer_with_both(world):
    thought = think(world, {"messages": [SAY], "plan": PUSH}, acts=(Act.SPEAK, Act.PLAN), recipients=(1,))
    assert thought.decision is not None
    assert len(thought.messages) == 1


def test_every_kind_of_turn_makes_exactly_one_request(world):
    forms = set()
    for acts, plan, value in [
        ((Act.PLAN,), None, {"plan": PUSH}),
        ((Act.PLAN,), RUNNING, {"decision": {"choice": "resume"}}),
        ((Act.SPEAK,), None, {"messages": []}),
        ((Act.ACKNOWLEDGE,), RUNNING, {"messages": [{**SAY, "kind": "ack"}]}),
        ((Act.SPEAK, Act.PLAN), RUNNING, {"messages": [], "decision": {"choice": "resume"}}),
    ]:
        one, model = mind(world, value)
        thought = asyncio.run(one.think(view(world, acts=acts, plan=plan, recipients=(1,))))
        assert thought.failure == ""
        assert len(model.requests) == len(thought.calls) == 1
        forms.add((model.requests[0].answer.name, orjson.dumps(model.requests[0].answer.schema)))
        [asked] = [
            line for line in model.requests[0].messages[-1].content.splitlines() if line.startswith("Use the keys ")
        ]
        assert all(f'"{key}"' in asked for key in value)
    assert len(forms) == 1  # a provider reads the form first: turns with others would share no beginning


def test_the_form_of_a_team_has_what_its_turns_can_ask_for_and_no_more(world):
    alone = AnswerTypes(world.vocabulary, 8, talks=False)
    describing = AnswerTypes(world.vocabulary, 8, ("describe", "predictions"))
    of_team = [list(types.wanted(view(world)).schema["properties"]) for types in (alone, describing)]
    assert of_team == [
        ["thoughts", "plan"],
        ["thoughts", "predictions", "messages", "offers", "needs", "plan", "decision"],
    ]
    assert alone.wanted(view(world)).schema["properties"]["plan"] == {"$ref": "#/$defs/PlanAnswer"}
    interrupted = alone.wanted(view(world, plan=RUNNING)).schema["properties"]  # by an extension
    assert list(interrupted) == ["thoughts", "plan", "decision"]


def test_what_a_turn_does_not_ask_for_may_be_null_or_left_out_and_nothing_else(world):
    form = AnswerTypes(world.vocabulary, 8).wanted(view(world)).schema
    plan = {"thoughts": "", "plan": PUSH}
    for rest in ({}, {"messages": None}, {"messages": None, "decision": None}, {"messages": []}):
        assert validator_of(form).reasons({**plan, **rest}) == ()
        assert think(world, {**plan, **rest}).failure == ""
    refused = think(world, {"messages": [SAY], "decision": {"choice": "resume"}}).failure
    assert refused == (
        "no valid answer: messages: this turn does not ask for it; it asks for thoughts, plan; "
        "decision: this turn does not ask for it; it asks for thoughts, plan; plan: this turn asks for it"
    )


def test_a_grounded_form_is_that_of_the_very_turn(world):
    for acts, keys in (((Act.PLAN,), ["thoughts", "plan"]), ((Act.SPEAK,), ["thoughts", "messages"])):
        schema = wanted(world, True, acts=acts, recipients=(1,)).schema
        assert list(schema["properties"]) == schema["required"] == keys
        assert validator_of(schema).reasons({"thoughts": ""}) == (f"{keys[1]}: is missing",)


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (None, "answer: Input should be an object"),
        ([], "answer: Input should be an object"),
        ({}, "plan: this turn asks for it"),
        ({"plan": None}, "plan: this turn asks for it"),
        ({"plan": {**PUSH, "actions": []}}, "plan.actions: List should have at least 1 item"),
        ({"plan": {**PUSH, "actions": [{"action": "idle"}] * 9}}, "plan.actions: List should have at most 8 items"),
        ({"plan": {**PUSH, "actions": [{"action": "fly"}]}}, "plan.actions.0: Input tag 'fly' found using 'action'"),
        ({"plan": {**PUSH, "actions": [{"steps": 1}]}}, "plan.actions.0: Unable to extract tag"),
        ({"plan": {**PUSH, "actions": [{"action": "idle", "steps": 0}]}}, "plan.actions.0.idle.steps: Input should be"),
        (
            {"plan": {**PUSH, "actions": [{"action": "idle", "steps": "2"}]}},
            "plan.actions.0.idle.steps: Input should be",
        ),
        ({"plan": {**PUSH, "actions": [{"action": "idle", "speed": 2}]}}, "plan.actions.0.idle.speed: Extra inputs"),
        (
            {"plan": PUSH, "decision": {"choice": "resume"}},
            "decision: this turn does not ask for it; it asks for thoughts, plan",
        ),
    ],
)
def test_an_answer_of_other_types_is_no_plan_but_a_failure_with_its_reason(world, value, reason):
    thought = think(world, value)
    assert reason in thought.failure
    assert (thought.decision, thought.messages) == (None, ())
    assert thought.calls[0].record["parse_failure"] is True


@pytest.mark.parametrize(
    ("message", "acts", "reason"),
    [
        ({**SAY, "recipients": ["agent_9"]}, Act.SPEAK, "there is no 'agent_9'; this turn allows: agent_1"),
        ({**SAY, "recipients": []}, Act.SPEAK, "messages.0.recipients: List should have at least 1 item"),
        ({**SAY, "kind": "shout"}, Act.SPEAK, "messages.0.kind: Input should be"),
        ({**SAY, "content": ""}, Act.SPEAK, "messages.0.content: String should have at least 1 character"),
        (SAY, Act.ACKNOWLEDGE, "messages.0.kind: this turn is for acknowledging: 'ack'"),
    ],
)
def test_a_message_of_other_types_is_refused_with_its_reason(world, message, acts, reason):
    assert reason in think(world, {"messages": [message]}, acts=(acts,), recipients=(1,)).failure


def test_a_wrong_answer_is_asked_for_again_with_the_reasons_in_the_prompt(world):
    one, model = mind(world, {"plan": 5}, {"plan": PUSH}, repairs=1)
    thought = asyncio.run(one.think(view(world, problems=("an earlier one",))))
    assert thought.decision is not None
    assert [call.record.get("parse_failure", False) for call in thought.calls] == [True, False]
    assert [call.record["repairs"] for call in thought.calls] == [0, 1]
    assert "an earlier one" in model.requests[1].messages[-1].content
    assert "plan: Input should be an object" in model.requests[1].messages[-1].content
    assert "plan: Input should be an object" not in model.requests[0].messages[-1].content


def test_a_request_says_who_asks_and_when(world):
    one, model = mind(world, {"plan": PUSH})
    asyncio.run(one.think(view(world, t=3)))
    assert model.requests[0].origin == Origin("agent_0", 3, turn=("plan",))


def test_the_same_prompt_again_is_another_sample(world):
    one, model = mind(world, {"plan": 5}, repairs=2)
    asyncio.run(one.think(view(world)))
    assert [request.sample for request in model.requests] == [0, 0, 1]
    assert model.requests[1].messages == model.requests[2].messages


def test_no_valid_answer_is_a_failure_with_the_record_of_its_call(world):
    thought = think(world, no_answer("no JSON", "cut off"))
    assert thought.failure == "no valid answer: no JSON; cut off"
    assert thought.decision is None
    [call] = thought.calls
    assert call.completion_tokens == 5
    assert call.record["parse_failure"] is True
    assert (call.record["model"], call.record["prompt_tokens"], call.record["repairs"]) == ("dictated", 100, 1)


@pytest.mark.parametrize("error", [BudgetReached("usd", 2, 1), InfrastructureFailed("gone"), UnknownModel("x")])
def test_what_no_answer_can_mend_passes_through(world, error):
    with pytest.raises(type(error)):
        think(world, error)


def test_the_record_of_a_call_has_what_the_metrics_read(world):
    [call] = think(world, {"plan": PUSH}).calls
    assert call.completion_tokens == 7
    assert call.record == {
        "model": "dictated", "prompt_tokens": 100, "completion_tokens": 7, "cached_tokens": 3, "usd": None,
        "seconds": 0.25, "attempts": 1, "retries": 0, "repairs": 0, "finish": "stop", "cache_hit": False,
        "simulated": False,
    }  # fmt: skip


# The schema of an answer.


def wanted(world, grounded=False, **changes):
    return AnswerTypes(world.vocabulary, 8).wanted(view(world, **changes), grounded=grounded)


@pytest.mark.parametrize("grounded", [False, True])
@pytest.mark.parametrize("plan", [None, RUNNING])
@pytest.mark.parametrize("acts", [(Act.PLAN,), (Act.SPEAK,), (Act.ACKNOWLEDGE,), (Act.SPEAK, Act.PLAN)])
def test_every_answer_begins_with_bounded_thoughts(world, acts, plan, grounded):
    schema = wanted(world, grounded, acts=acts, recipients=(1, 2), plan=plan).schema
    assert next(iter(schema["properties"])) == schema["required"][0] == "thoughts"
    assert schema["properties"]["thoughts"]["maxLength"] == 4000


def test_thoughts_have_the_length_that_the_prompts_say(world):
    model = Dictated({"plan": PUSH})
    values = config(prompts={**prompts(), "thoughts": 80})
    asyncio.run(build(values, context(world, topology("debate", 4), lambda _: model))[0].think(view(world)))
    system = model.requests[0].messages[0].content
    assert model.requests[0].answer.schema["properties"]["thoughts"] == {"type": "string", "maxLength": 80}
    assert '"thoughts", always first: what you see and what follows from it, in at most 80 characters. Nobody' in system


def test_prompts_without_thoughts_neither_ask_for_them_nor_show_them(world):
    model = Dictated({"plan": PUSH})
    values = config(prompts={**prompts(), "thoughts": False})  # YAML's off
    [one] = build(values, context(world, topology("debate", 4), lambda _: model))[:1]
    assert asyncio.run(one.think(view(world))).decision is not None
    [request] = model.requests
    assert "thoughts" not in request.answer.schema["properties"]
    assert "thoughts" not in request.answer.schema["required"]
    assert "thoughts" not in " ".join(message.content for message in request.messages)


def test_the_form_of_an_answer_is_the_same_for_every_agent_and_every_size_of_a_team(world):
    talk = {"acts": (Act.SPEAK, Act.PLAN)}
    large = _reset(cube(8))
    forms = [wanted(world, recipients=(1, 2, 3), **talk), wanted(world, agent=2, recipients=(0,), **talk)]
    forms.append(wanted(large, agent=5, recipients=(0, 1, 2, 3, 4, 6, 7), **talk))
    assert len({orjson.dumps(form.schema) for form in forms}) == 1


def test_no_form_says_in_words_what_the_prompt_has_said(world):
    assert b'"description"' not in orjson.dumps(wanted(world, acts=(Act.SPEAK, Act.PLAN), recipients=(1,)).schema)


def test_more_messages_than_the_turn_takes_are_refused(world):
    answer = {"messages": [SAY, SAY]}
    talk = {"acts": (Act.SPEAK,), "recipients": (1,)}
    assert "there are 2, and this turn takes at most 1" in think(world, answer, **talk).failure
    assert "there are 2, and this turn takes at most 1" in think(world, answer, limit=1, **talk).failure


def test_grounded_recipients_are_names_of_the_turn_and_the_number_of_messages_is_its_limit(world):
    schema = wanted(world, True, acts=(Act.SPEAK,), recipients=(1, 3), limit=2).schema
    assert schema["$defs"]["MessageAnswer"]["properties"]["recipients"]["items"]["enum"] == [
        "agent_1",
        "agent_3",
        "all",
    ]
    assert schema["properties"]["messages"]["maxItems"] == 2
    alone = wanted(world, True, acts=(Act.SPEAK,), recipients=(2,)).schema
    assert alone["$defs"]["MessageAnswer"]["properties"]["recipients"]["items"]["enum"] == ["agent_2"]
    assert alone["properties"]["messages"]["maxItems"] == 1


def test_an_acknowledgement_is_of_the_kind_ack(world):
    schema = wanted(world, True, acts=(Act.ACKNOWLEDGE,), recipients=(0,)).schema
    assert schema["$defs"]["MessageAnswer"]["properties"]["kind"]["const"] == "ack"


def test_the_actions_are_those_of_the_vocabulary_with_their_ranges(world):
    schema = wanted(world).schema
    options = [
        option["$ref"].rpartition("/")[2]
        for option in schema["$defs"]["PlanAnswer"]["properties"]["actions"]["items"]["anyOf"]
    ]
    names = [schema["$defs"][option]["properties"]["action"]["const"] for option in options]
    assert names == list(world.vocabulary.names)
    for steps in (0, 10_001):
        plan = {"rationale": "", "task": None, "actions": [{"action": "move", "direction": "up", "steps": steps}]}
        assert "steps" in think(world, {"plan": plan}).failure


@pytest.mark.parametrize("vocabulary", ["cube", "emcoop"])
@pytest.mark.parametrize("plan", [None, RUNNING])
def test_openais_strict_mode_takes_every_schema(vocabulary, plan):
    world = _reset(cube(4, vocabulary=vocabulary))
    for acts in ((Act.PLAN,), (Act.SPEAK,), (Act.ACKNOWLEDGE,), (Act.SPEAK, Act.PLAN)):
        for schema in (
            wanted(world, g, acts=acts, recipients=(1, 2), limit=1, plan=plan).schema for g in (True, False)
        ):
            assert is_strict(schema)
            assert Validator(schema).reasons({}) != ()
            assert b'"discriminator"' not in orjson.dumps(schema)


def test_one_turn_does_not_change_the_schema_of_the_next(world):
    types = AnswerTypes(world.vocabulary, 8)
    talk = {"acts": (Act.SPEAK,), "recipients": (1, 2)}
    before = orjson.dumps(types.wanted(view(world, **talk)).schema)
    types.wanted(view(world, acts=(Act.SPEAK,), recipients=(3,), limit=1))
    types.wanted(view(world, acts=(Act.ACKNOWLEDGE,), recipients=(0,)))
    assert orjson.dumps(types.wanted(view(world, **talk)).schema) == before


def _reset(world):
    world.reset(0)
    return world


def test_a_world_with_one_action_needs_no_union():
    types = AnswerTypes(Vocabulary(Rest), 2)
    value = {"thoughts": "", "plan": {"rationale": "", "task": None, "actions": [{"action": "rest", "steps": 1}]}}
    assert types.read(value, view(_reset(cube(1)))).decision == Plan((Rest(),))


thoughts = st.builds(
    Thought,
    st.one_of(
        st.just(Resume.RESUME),
        st.builds(
            Plan,
            st.lists(
                st.one_of(
                    st.builds(Idle, steps=st.integers(1, 99)),
                    st.builds(MoveToBlock, block=st.integers(0, 9), face=st.sampled_from(Face)),
                    st.builds(PushBlock, block=st.integers(0, 9), timeout=st.one_of(st.none(), st.integers(1, 99))),
                ),
                min_size=1,
                max_size=8,
            ).map(tuple),
            st.one_of(st.none(), st.just(Task("deliver", "block_1"))),
            st.text(max_size=20),
        ),
    ),
    st.lists(
        st.builds(
            Draft,
            st.sampled_from([(1,), (2, 3), (1, 2, 3)]),
            st.text(min_size=1, max_size=20),
            st.sampled_from(MessageKind),
        ),
        max_size=3,
    ).map(tuple),
)
WORLD = _reset(cube(4))
TYPES = AnswerTypes(WORLD.vocabulary, 8)


@given(thoughts)
def test_what_is_written_fits_the_schema_and_is_read_back(thought):
    now = view(WORLD, acts=(Act.SPEAK, Act.PLAN), recipients=(1, 2, 3), plan=RUNNING)
    value = orjson.loads(orjson.dumps(write(thought, now)))
    assert validator_of(TYPES.wanted(now).schema).reasons(value) == ()
    assert TYPES.read(value, now) == thought


def test_actions_that_check_several_fields_at_once_give_their_reason():
    world = _reset(cube(2, vocabulary="emcoop"))
    types = AnswerTypes(world.vocabulary, 8)
    good = {"action": "navigate", "entity": "cell", "cell": [1, 2]}
    assert types.read({"thoughts": "", "plan": {**PUSH, "actions": [good]}}, view(world)).decision.actions == (
        Navigate(entity="cell", cell=(1, 2)),
    )
    with pytest.raises(InvalidThought, match="entity block needs an id"):
        types.read(
            {"thoughts": "", "plan": {**PUSH, "actions": [{"action": "navigate", "entity": "block"}]}}, view(world)
        )


# In the loop.


def test_each_participant_has_the_model_of_its_name(world):
    asked = []
    build(config(), context(world, topology("coordinator", 4), asked.append))
    assert asked == ["agent_0", "agent_1", "agent_2", "agent_3", "coordinator"]


def test_an_invalid_plan_comes_back_with_its_reasons_and_ends_as_an_invalid_plan():
    world, chosen = cube(1, max_steps=3), topology("individual", 1)
    model = Dictated({"thoughts": "", "plan": {**PUSH, "actions": [{"action": "push_block", "block": 7}]}})
    events = play(build(config(), context(world, chosen, lambda _: model)), world, topology=chosen)
    assert compute_metrics(Trace(tuple(events)))["plans.invalid"] == 3
    assert "there is no block_7" in model.requests[1].messages[-1].content
    samples = [request.sample for request in model.requests[:3]]
    assert samples == [0, 0, 1]


def test_no_answer_is_a_counted_parse_failure_and_the_agent_idles():
    world, chosen = cube(1, max_steps=3), topology("individual", 1)
    model = Dictated(no_answer("no JSON"))
    events = play(build(config(), context(world, chosen, lambda _: model)), world, topology=chosen)
    flags = [stamped.event.flag for stamped in events if getattr(stamped.event, "flag", "")]
    assert flags == ["parse_failure"] * 3
    metrics = compute_metrics(Trace(tuple(events)))
    assert (metrics["model.parse_failures"], metrics["plans.invalid"]) == (3, 0)


def test_a_budget_ends_the_episode_with_its_label():
    world, chosen = cube(2, max_steps=3), topology("individual", 2)
    model = Dictated({"thoughts": "", "plan": PUSH}, BudgetReached("usd", 2, 1))
    events = play(build(config(), context(world, chosen, lambda _: model)), world, topology=chosen)
    assert events[-1].event.outcome == "budget"


@pytest.mark.parametrize("name", TOPOLOGIES)
def test_a_team_delivers_under_every_topology_and_the_trace_does_not_depend_on_who_answers_first(name, tmp_path):
    traces = []
    for run in range(2):
        path = tmp_path / f"{run}.jsonl"
        model = Delayed(SimulatedModel(settings()), random.Random(run))
        episode(name, 4, 0, model=model, path=path)
        traces.append(comparable(path))
        metrics = compute_metrics(read_trace(path))
        assert metrics["outcome.completion"] == 1
        assert metrics["model.calls"] > 0
        assert metrics["plans.invalid"] == metrics["model.parse_failures"] == 0
    assert traces[0] == traces[1]


def _arrays_and_enums(schema):
    """Give every list of values and every array of a schema, wherever it stands."""
    if isinstance(schema, dict):
        if "enum" in schema or schema.get("type") == "array":
            yield schema
        for inner in schema.values():
            yield from _arrays_and_enums(inner)
    elif isinstance(schema, list):
        for inner in schema:
            yield from _arrays_and_enums(inner)


@pytest.mark.parametrize("name", TOPOLOGIES)
@pytest.mark.parametrize("n", [1, 3])
def test_no_schema_enumerates_nothing_or_leaves_a_list_unbounded(name, n):
    asked = []

    class Noted(SimulatedModel):
        async def complete(self, request):
            asked.append(request.answer.schema)
            return await super().complete(request)

    episode(name, n, 0, model=Noted(settings()), max_steps=12)
    found = [part for schema in asked for part in _arrays_and_enums(schema)]
    assert found
    assert all(part.get("enum", "any") and ("enum" in part or "maxItems" in part) for part in found)


def test_who_may_write_to_two_has_room_for_a_message_to_each_and_one_to_all(world):
    talk = {"acts": (Act.SPEAK,), "recipients": (1, 3)}
    schema = wanted(world, True, **talk).schema
    assert schema["properties"]["messages"]["maxItems"] == 3
    assert schema["$defs"]["MessageAnswer"]["properties"]["recipients"]["maxItems"] == 3
    assert len(think(world, {"messages": [SAY] * 3}, **talk).messages) == 3
    assert "this turn takes at most 3" in think(world, {"messages": [SAY] * 4}, **talk).failure


def test_a_turn_to_talk_to_nobody_is_no_request(world):
    one, model = mind(world, {"plan": PUSH})
    assert asyncio.run(one.think(view(world, acts=(Act.SPEAK,), recipients=()))) == Thought()
    assert model.requests == []
    thought = asyncio.run(one.think(view(world, acts=(Act.SPEAK, Act.PLAN), recipients=())))
    assert thought.decision is not None
    assert '"messages"' not in model.requests[0].messages[-1].content

from __future__ import annotations

from typing import Any

import pytest
from pydantic import BaseModel, ValidationError, model_validator

from quorum.configuration import schema
from quorum.configuration.checked_values import describe_validation_errors
from quorum.configuration.schema import validate
from quorum_base.user_errors import UserError
from tests.composing import compose


@pytest.fixture(scope="module")
def raw() -> dict[str, Any]:
    return compose([])


def _models() -> list[type[BaseModel]]:
    found = [value for value in vars(schema).values() if isinstance(value, type) and issubclass(value, BaseModel)]
    return [model for model in found if model.__module__ == schema.__name__]


@pytest.mark.parametrize("model", _models())
def test_no_field_has_a_default_and_no_other_key_is_taken(model: type[BaseModel]) -> None:
    assert all(field.is_required() for field in model.model_fields.values())
    assert model.model_config["extra"] == "forbid"


WRONG = {
    "n=0": "n: 0 is not allowed: it must be at least 1",
    "n=-3": "n: -3 is not allowed: it must be at least 1",
    "n=abc": "n: 'abc' is not a whole number",
    "n=8.5": "n: 8.5 is not a whole number",
    "n=true": "n: true is not a whole number",
    "n='8'": "n: '8' is not a whole number",
    "n=": "n: '' is not a whole number",
    "n=null": "n: null is not a whole number",
    "n=[1]": "n: [1] is not a whole number",
    "max_steps=0": "max_steps: 0 is not allowed: it must be at least 1",
    "seed=-1": "seed: -1 is not allowed: it must be at least 0",
    "seed=9223372036854775808": "seed: 9223372036854775808 is not allowed: it must be less than 9.22337e+18",
    "max_repairs=-1": "max_repairs: -1 is not allowed: it must be at least 0",
    "memory=3": "memory: 3 is not a map {key: value}",
    "memory.messages=x": "memory.messages: 'x' is not a whole number",
    "clock.unit=hours": "clock.unit: 'hours' is not allowed: it must be 'tokens', 'fixed' or 'seconds'",
    "clock.delivery=-0.5": "clock.delivery: -0.5 is not allowed: it must be at least 0",
    "clock.delivery=inf": "clock.delivery: inf is not a finite number",
    "env.step_cost=nan": "env.step_cost: nan is not a finite number",
    "env.step_cost=cheap": "env.step_cost: 'cheap' is not a number",
    "env.blocks=3": "env.blocks: 3 is not a map {key: value}",
    "env.blocks={1: x}": "env.blocks.1: 'x' is not a whole number",
    "env.blocks={0: 1}": "env.blocks.0: the key 0 is not allowed: it must be more than 0",
    "env.layout=3": "env.layout: 3 is not text",
    "env.n=3": "env.n: 3 differs from n=4\nSet only n; env takes its value.",
    "env.max_steps=3": "env.max_steps: 3 differs from max_steps=500\nSet only max_steps; env takes its value.",
    "env.name=cubes": "env.name: no world is called 'cubes'\nDid you mean 'cube'? The worlds: cube",
    "agents.name=3": "agents.name: the name of a mind is missing\nThe minds: heuristic",
    "~topology.name": "topology.name: the name of a topology is missing\nThe topologies: individual",
    "~env": "env: the name of a world is missing\nThe worlds: cube",
    "~seed": "seed: the key is missing",
    "~memory.messages": "memory.messages: the key is missing",
    "~env.step_cost": "env.step_cost: the key is missing",
    "+x=1": "x: there is no such key. Keys: n, seed, episode, draw, max_steps, max_repairs, memory, limits, "
    "budget, prompts, clock, env, agents, topology, llm, extension.",
    "llm.temperature=hot": "llm.temperature: 'hot' is not a number",
    "llm.tries=0": "llm.tries: 0 is not allowed: it must be at least 1",
    "llm.structured=xml": "llm.structured: 'xml' is not allowed: it must be 'auto', 'schema', 'tools' or 'prompt'",
    "llm.cache=sometimes": "llm.cache: 'sometimes' is not true or false or 'sometimes' is not allowed: "
    "it must be 'auto'",
    "llm.poor=2": "llm.poor: 2 is not allowed: it must be at most 1",
    "llm.name=simulatd": "llm.name: no provider is called 'simulatd'\nDid you mean 'simulated'?",
    "llm.agents=3": "llm.agents: 3 is not a map {key: value}",
    "llm.agents.agent_0=fast": "llm.agents.agent_0: 'fast' is not a map {key: value}",
    "llm.agents.agent_0.por=0.1": "llm.agents.agent_0.por: there is no such key. Did you mean 'poor'?",
    "llm.agents.agent_0.poor=2": "llm.agents.agent_0.poor: 2 is not allowed: it must be at most 1",
    "llm.agents.agent_0={name: openai}": "llm.agents.agent_0.model: missing mandatory value: model",
    "llm.agents.agent_0={name: gpt}": "llm.agents.agent_0.name: no provider is called 'gpt'",
    "budget.usd=0": "budget.usd: 0 is not allowed: it must be more than 0",
    "budget.calls=1.5": "budget.calls: 1.5 is not a whole number",
    "+seeds=1": "seeds: there is no such key. Did you mean 'seed'? Keys: n, seed, ",
    "+clock.speed=1": "clock.speed: there is no such key.",
    "+topology.rounds=1": "topology.rounds: there is no such key. Keys of topology: name.",
}


@pytest.mark.parametrize("argument", WRONG)
def test_a_wrong_value_is_reported_with_its_key_and_what_is_allowed(argument: str) -> None:
    with pytest.raises(UserError) as caught:
        validate(compose([argument]))
    assert str(caught.value).startswith(WRONG[argument])


@pytest.mark.parametrize(("env", "llm"), [("cube", "openai"), ("crafter", "simulated"), ("squeeze", "simulated")])
def test_no_message_holds_a_map_as_python_prints_it(env: str, llm: str) -> None:
    model = [] if llm == "simulated" else ["llm.model=gpt-5"]
    whole = compose([f"env={env}", f"llm={llm}", "agents=naive", "topology=debate", *model])
    wrong: tuple[Any, ...] = ({"x": {"y": 1}}, [{"x": 1}], 2**70, None)
    reported = []
    for group in ("env", "llm", "agents", "topology", "clock", "budget"):
        for key in whole[group]:
            without = {name: value for name, value in whole[group].items() if name != key}
            for part in (without, *({**without, key: value} for value in wrong)):
                try:
                    validate({**whole, group: part})
                except UserError as error:
                    reported.append(str(error))
    assert len(reported) > 100
    assert [message for message in reported if "{'" in message or '{"' in message] == []


def test_a_check_of_several_keys_names_the_wrong_one() -> None:
    with pytest.raises(UserError) as caught:
        validate(compose(["llm=openai", "llm.model=gpt-5", "llm.effort=max", "agents=naive"]))
    assert str(caught.value) == (
        "llm.effort: 'max' is not allowed: gpt-5 takes minimal, low, medium, high, or null for its default"
    )


class _Whole(BaseModel):
    first: int
    second: dict[str, int]

    @model_validator(mode="after")
    def _goes_together(self) -> _Whole:
        raise ValueError("they do not go together")


@pytest.mark.parametrize(("prefix", "reported"), [("env.", "env: they do not"), ("", "they do not")])
def test_a_check_of_several_keys_that_names_none_is_reported_without_their_values(prefix: str, reported: str) -> None:
    values = {"first": 1, "second": {"x": 1}}
    with pytest.raises(ValidationError) as caught:
        _Whole.model_validate(values)
    assert describe_validation_errors(caught.value, values, prefix, ["first"]) == f"{reported} go together"


def test_several_wrong_values_are_reported_together() -> None:
    with pytest.raises(UserError) as caught:
        validate(compose(["n=0", "seed=x"]))
    assert str(caught.value).splitlines() == [WRONG["n=0"], "seed: 'x' is not a whole number"]


def test_what_json_cannot_hold_is_refused(raw: dict[str, Any]) -> None:
    with pytest.raises(UserError, match=r"env.blocks: b'x' is not a number, text, list or map"):
        validate({**raw, "env": {**raw["env"], "blocks": b"x"}})


def test_the_plain_form_is_valid_again_and_the_same(raw: dict[str, Any]) -> None:
    plain = validate({**raw, "env": {**raw["env"], "blocks": {1: 3, 2: 1}}}).to_json()
    assert validate(plain).to_json() == plain

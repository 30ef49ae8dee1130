from __future__ import annotations

import hashlib
import json

import pytest
import yaml

from quorum.configuration.cell import Cell
from quorum_base.user_errors import UserError


def test_the_hash_is_of_the_canonical_json() -> None:
    cell = Cell.compose(["n=2"])
    text = json.dumps(cell.configuration.identity(), sort_keys=True, separators=(",", ":"))
    assert cell.hash == hashlib.sha256(text.encode()).hexdigest()
    assert cell.name == f"cube-n2-heuristic-individual-s0-{cell.hash[:8]}"


def test_equal_configurations_have_equal_names_however_they_are_written() -> None:
    name = Cell.compose(["n=2", "env.step_cost=0"]).name
    assert Cell.compose(["env.step_cost=0.0", "n=2"]).name == name
    assert Cell.compose(["++n=2", "env=cube", "env.step_cost=0e0"]).name == name


def test_every_value_is_part_of_the_name() -> None:
    base = Cell.compose([])
    changes = ("seed=1", "n=2", "max_steps=9", "clock=fixed", "memory.messages=3", "env.step_cost=1")
    assert len({base.name, *(Cell.compose([change]).name for change in changes)}) == 1 + len(changes)


def test_draw_0_is_no_part_of_a_cell_and_a_later_draw_is_shown_in_its_name() -> None:
    first, third = Cell.compose(["seed=3"]), Cell.compose(["seed=3", "draw=2"])
    assert "draw" not in first.configuration.identity()
    assert first.configuration.seeds.path == ""
    assert Cell.compose(["seed=3", "draw=0"]).hash == first.hash != third.hash
    assert third.name == f"cube-n4-heuristic-individual-s3-d2-{third.hash[:8]}"


def test_every_draw_and_every_episode_has_its_own_streams() -> None:
    words = [[f"episode={episode}", f"draw={draw}"] for episode in range(3) for draw in range(3)]
    assert len({Cell.compose(own).configuration.seeds.integer() for own in words}) == len(words)


def test_the_yaml_gives_the_configuration_back() -> None:
    cell = Cell.compose(["env.blocks={1: 3, 2: 1}"])
    data = yaml.safe_load(cell.as_yaml())
    assert data.pop("hash") == cell.hash
    assert Cell.of(data).name == cell.name


def test_a_board_stands_in_the_yaml_line_by_line() -> None:
    cell = Cell.compose(["n=1", 'env.layout="...|\n.0A|\n...|\n...|\n"'])
    board = cell.plain["env"]["layout"]
    assert "\n" in board
    assert "  layout: |\n    ...|\n" in cell.as_yaml()
    assert yaml.safe_load(cell.as_yaml())["env"]["layout"] == board


@pytest.mark.parametrize(("board", "agents"), [("misaligned_line", 3), ('"...|\n.0A|\n1..|\n...|\n"', 2)])
def test_a_given_board_sets_n_unless_the_user_does(board: str, agents: int) -> None:
    cell = Cell.compose([f"env.layout={board}"])
    assert (cell.configuration.n, cell.plain["env"]["n"]) == (agents, agents)
    assert cell.hash == Cell.compose([f"env.layout={board}", f"n={agents}"]).hash
    assert Cell.compose([f"env.layout={board}", "n=4"]).configuration.n == 4
    assert Cell.compose(["env.layout=null"]).configuration.n == Cell.compose([]).configuration.n


OPERATIONAL = (
    "llm.deadline=5", "llm.tries=1", "llm.rate_limited_tries=1", "llm.max_wait=1", "llm.max_concurrency=2",
    "llm.requests_per_minute=7", "llm.tokens_per_minute=7", "llm.cache=true", "llm.cache_path=x",
    "llm.agents.agent_0.tries=1",
)  # fmt: skip
DECISIVE = (
    "llm.temperature=1", "llm.max_tokens=9", "llm.sampling_seed=1", "llm.structured=prompt", "llm.poor=0.1",
    "llm.agents.agent_0.poor=0.1", "budget.calls=9", "prompts=terse",
)  # fmt: skip


@pytest.mark.parametrize("argument", [*OPERATIONAL, *DECISIVE])
def test_what_changes_no_decision_of_minds_without_a_model_names_no_cell(argument: str) -> None:
    assert Cell.compose(["agents=heuristic", argument]).name == Cell.compose([]).name


def test_how_a_model_is_reached_names_no_cell_and_what_it_is_asked_does() -> None:
    base = Cell.compose(["agents=naive"])
    for argument in OPERATIONAL:
        same = Cell.compose(["agents=naive", argument]).configuration.identity()
        same["llm"]["agents"] = {}
        assert same == base.configuration.identity(), argument
    names = {Cell.compose(["agents=naive", argument]).name for argument in DECISIVE}
    assert len({base.name, *names}) == 1 + len(DECISIVE)


@pytest.mark.parametrize(
    ("arguments", "shown"),
    [
        (["llm=simulated"], "naive-simulated-"),
        (["llm=openai", "llm.model=gpt-5-mini"], "naive-gpt-5-mini-"),
        (["llm=litellm", "llm.model=together_ai/meta/Llama 3:70b"], "naive-Llama-3-70b-"),
        (["llm=vllm", "llm.model=../../etc"], "naive-etc-"),
        (["llm=vllm", "llm.model=//"], "naive-openai-"),
        (["llm=vllm", "llm.model=a", "llm.agents.agent_0.model=b", "llm.agents.agent_1.model=a"], "naive-a+1-"),
        (["llm=replay", "llm.run=x"], "naive-replay-"),
    ],
)
def test_the_name_of_a_cell_shows_the_model(arguments: list[str], shown: str) -> None:
    assert Cell.compose(["agents=naive", *arguments]).name.startswith(f"cube-n4-{shown}individual-s0-")


def test_an_agent_inherits_what_it_does_not_set() -> None:
    llm = ["llm=vllm", "llm.model=a", "llm.max_tokens=77"]
    own = ["llm.agents.agent_0={model: b, temperature: 0.5}", "llm.agents.agent_1.model=c"]
    c = Cell.compose(["agents=naive", *llm, *own]).configuration
    found = [c.llm_of(f"agent_{i}") for i in range(3)]
    assert [(one.model, one.temperature, one.max_tokens) for one in found] == [
        ("b", 0.5, 77),
        ("c", 0, 77),
        ("a", 0, 77),
    ]


def test_an_agent_with_another_provider_inherits_neither_its_address_nor_its_key() -> None:
    own = "llm.agents.agent_0={name: anthropic, model: b, base_url: 'http://x', api_key_env: null}"
    c = Cell.compose(["agents=naive", "llm=vllm", "llm.model=a", "llm.max_tokens=77", own]).configuration
    assert (c.llm_of("agent_0").name, c.llm_of("agent_0").max_tokens) == ("anthropic", 77)
    assert c.llm_of("agent_0").api_key_env is None


def test_a_configuration_with_a_model_for_one_agent_is_valid_again() -> None:
    cell = Cell.compose(["agents=naive", "llm=vllm", "llm.model=a", "llm.agents.agent_0.model=b"])
    assert Cell.of(cell.plain).name == cell.name


@pytest.mark.parametrize("value", ["sk-canary-0123456789", "gsk_canary0123456789", "'a b'"])
def test_a_key_in_the_place_of_its_variable_is_refused_and_not_shown(value: str) -> None:
    with pytest.raises(UserError, match=r"llm.api_key_env: the value \(not shown here\)") as caught:
        Cell.compose(["llm=vllm", "llm.model=a", f"llm.api_key_env={value}"])
    assert "canary" not in str(caught.value)


@pytest.mark.parametrize("url", ["https://me:canary@host/v1", "https://host/v1?key=canary"])
def test_a_secret_in_an_address_is_refused_and_not_shown(url: str) -> None:
    with pytest.raises(UserError, match=r"llm.base_url: the value \(not shown here\)") as caught:
        Cell.compose(["llm=vllm", "llm.model=a", f"llm.base_url='{url}'"])
    assert "canary" not in str(caught.value)


def test_a_model_that_must_be_named_is_asked_for() -> None:
    with pytest.raises(UserError, match=r"^llm.model: .*missing"):
        Cell.compose(["llm=openai"])

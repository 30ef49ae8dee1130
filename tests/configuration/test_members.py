"""The minds of single participants in a configuration: their values, and what names a team of several minds."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal

import pytest

from maeil.component import Component, ComponentConfig, Usual
from quorum.configuration.cell import Cell
from quorum.configuration.registry import minds
from quorum.configuration.schema import validate
from quorum.configuration.team_label import label_of_factors, minds_in, team_label
from quorum.runs.rows import flatten
from quorum.sweeps.plan import plan
from quorum_base.user_errors import UserError
from tests.composing import compose

WORDS = [
    "agents=naive", "agents.max_actions=5", "max_repairs=4", "topology=debate",
    "agents.members.agent_0=heuristic", "agents.members.agent_1={name: negotiator, noise: 0.5}",
    "agents.members.agent_2={prompts: terse, repairs: 1}", "agents.members.agent_3={prompts: {turn: terse/turn.jinja}}",
]  # fmt: skip


@pytest.fixture(scope="module")
def mixed() -> Cell:
    return Cell.compose(WORDS)


@pytest.fixture(scope="module")
def pure() -> Cell:
    return Cell.compose(["agents=naive"])


def with_members(raw: Mapping[str, object], **members: object) -> dict[str, object]:
    """Return a resolved configuration with members."""
    agents = raw["agents"]
    assert isinstance(agents, dict)
    return {**raw, "agents": {**agents, "members": members}}


def test_the_name_of_a_mind_stands_for_the_values_of_its_option(mixed: Cell) -> None:
    assert mixed.plain["agents"]["members"]["agent_0"] == {"name": "heuristic", "teams": "several"}


def test_keys_of_a_map_come_before_those_of_the_mind_that_it_names(mixed: Cell) -> None:
    assert mixed.plain["agents"]["members"]["agent_1"] == {"name": "negotiator", "noise": 0.5, "patience": 20}


def test_a_map_without_a_name_has_the_values_of_the_group(mixed: Cell) -> None:
    own = mixed.plain["agents"]["members"]["agent_2"]
    assert (own["name"], own["max_actions"], own["repairs"]) == ("naive", 5, 1)


def test_prompts_may_be_named(mixed: Cell) -> None:
    assert mixed.plain["agents"]["members"]["agent_2"]["prompts"]["system"] == "terse/system.jinja"


def test_a_map_in_a_map_changes_its_own_keys_alone(mixed: Cell) -> None:
    found = mixed.plain["agents"]["members"]["agent_3"]
    assert found["prompts"] == {**mixed.plain["agents"]["prompts"], "turn": "terse/turn.jinja"}
    assert found["repairs"] == 4


def test_a_leader_has_values_as_a_member_has() -> None:
    cell = Cell.compose(["agents=heuristic", "topology=centralized", "agents.leader={name: naive, max_actions: 3}"])
    assert cell.plain["agents"]["leader"]["max_actions"] == 3
    assert cell.configuration.team_label == "heuristic+naive@leader"


@pytest.mark.parametrize(
    ("word", "message"),
    [
        ("agents.members.agent_1=heurstic", "agents.members.agent_1: there is no option 'heurstic' of agents"),
        ("agents.leader=heurstic", "agents.leader: there is no option 'heurstic' of agents"),
        ("agents.members.agent_1={max_action: 3}", "agents.members.agent_1.max_action: there is no such key"),
        ("agents.members.agent_1={max_actions: x}", "agents.members.agent_1.max_actions: 'x' is not a whole number"),
        ("agents.members.agent_1={prompts: trse}", "agents.members.agent_1.prompts: there is no option 'trse'"),
        ("agents.members.agent_1=3", "agents.members.agent_1: the name of a mind is missing"),
        ("agents.members=3", "agents.members: 3 is not a map of minds"),
        ("agents.members.agent_1={prompts: '${oc.env:HOME}'}", "read from the environment"),
    ],
)
def test_a_wrong_value_is_reported_with_its_key(word: str, message: str) -> None:
    with pytest.raises(UserError, match=message):
        Cell.compose(["agents=naive", word])


def test_the_file_of_a_mind_may_stand_in_a_folder_of_ones_own_and_reads_no_environment(tmp_path: Path) -> None:
    (tmp_path / "agents").mkdir()
    file = tmp_path / "agents" / "mine.yaml"
    file.write_text("defaults:\n  - negotiator\n  - _self_\nnoise: 0.25\n")
    words = ["agents=naive", "agents.members.agent_0=mine"]
    own = Cell.compose(words, tmp_path).plain["agents"]["members"]["agent_0"]
    assert own == {"name": "negotiator", "noise": 0.25, "patience": 20}
    file.write_text("name: negotiator\nnoise: ${oc.env:HOME}\npatience: 1\n")
    with pytest.raises(UserError, match=r"agents\.members\.agent_0\.noise: it is read from the environment"):
        Cell.compose(words, tmp_path)


def test_a_team_of_one_mind_says_nothing_of_members(pure: Cell) -> None:
    assert not pure.plain["agents"].keys() & {"members", "leader"}
    assert pure.name.startswith("cube-n4-naive-simulated-individual-s0-")


def test_a_member_with_the_values_of_all_is_none(pure: Cell) -> None:
    same = Cell.of(with_members(pure.plain, agent_0=pure.plain["agents"]))
    assert (same.hash, same.plain) == (pure.hash, pure.plain)


def test_a_member_with_the_values_of_all_is_still_there_beside_a_leader(pure: Cell) -> None:
    raw = with_members(pure.plain, agent_0=pure.plain["agents"])
    raw["agents"]["leader"] = {"name": "heuristic", "teams": "several"}  # type: ignore[index]
    assert set(validate(raw).members) == {"agent_0"}


def test_the_order_in_which_members_are_said_does_not_matter(pure: Cell) -> None:
    rule, other = {"name": "heuristic", "teams": "several"}, {"name": "always_right"}
    one = Cell.of(with_members(pure.plain, agent_10=rule, agent_2=other))
    assert one.as_yaml() == Cell.of(with_members(pure.plain, agent_2=other, agent_10=rule)).as_yaml()
    assert list(one.configuration.members) == ["agent_2", "agent_10"]


def test_whose_mind_it_is_is_a_part_of_the_hash(pure: Cell) -> None:
    rule = {"name": "heuristic", "teams": "several"}
    hashes = {Cell.of(with_members(pure.plain, **{f"agent_{i}": rule})).hash for i in range(3)}
    assert len(hashes | {pure.hash}) == 4


def test_what_a_run_has_recorded_is_the_same_cell(mixed: Cell) -> None:
    assert Cell.of(mixed.plain).name == mixed.name


def test_templates_of_a_member_are_inputs(mixed: Cell, pure: Cell) -> None:
    assert "prompts/cube/terse/rules.jinja" in mixed.inputs.keys() - pure.inputs.keys()


def test_the_folder_of_a_run_says_who_has_which_mind(mixed: Cell) -> None:
    assert mixed.name.startswith("cube-n4-naive+heuristic@0+negotiator@1+naive@2.3-simulated-debate-s0-")


def test_a_large_team_has_a_name_of_bounded_length(pure: Cell) -> None:
    names = ["heuristic", "always_right"]
    odd = {f"agent_{i}": {"name": names[i % 2], **({} if i % 2 else {"teams": "one"})} for i in range(60)}
    assert "-naive+60others-simulated-" in Cell.of({**with_members(pure.plain, **odd), "n": 4}).name


@pytest.mark.parametrize(
    ("members", "label"),
    [
        ({"agent_0": "a", "agent_2": "a"}, "naive+a@0,2"),
        ({"agent_10": "a", "agent_9": "a", "agent_8": "a"}, "naive+a@8-10"),
        ({"agent_0": "a", "agent_1": "b", "coordinator": "b"}, "naive+a@0+b@1,coordinator"),
    ],
)
def test_a_label_names_each_mind_once(members: dict[str, str], label: str) -> None:
    agents = {"name": "naive", "members": {who: {"name": mind} for who, mind in members.items()}}
    assert team_label(agents) == label
    assert label_of_factors(flatten({"agents": agents})) == label
    assert label_of_factors(flatten({"agents": {"name": "naive"}})) is None


def test_all_minds_of_a_team_are_known(mixed: Cell) -> None:
    assert minds_in(mixed.plain["agents"]) == ["naive", "heuristic", "negotiator"]


def test_a_team_asks_models_when_one_of_its_minds_does(mixed: Cell) -> None:
    raw = compose(["agents=heuristic", "agents.members.agent_0=always_right"])
    rules = validate(raw)
    assert not rules.uses_models
    assert set(rules.unused) == {"topology", "llm", "prompts", "budget"}
    assert mixed.configuration.uses_models
    assert mixed.configuration.unused == {}
    negotiators = {
        **raw,
        "agents": {**raw["agents"], "members": {"agent_0": mixed.plain["agents"]["members"]["agent_1"]}},
    }
    assert set(validate(negotiators).unused) == {"llm", "prompts", "budget"}


def test_a_grid_over_a_member_is_composed_as_its_points_are() -> None:
    words = ["agents=naive", "agents.max_actions=3,4", "agents.members.agent_0=heuristic,naive", "seed=0,1"]
    rest = "agents.members.agent_1={repairs: 0}"
    found = plan([*words, rest])
    assert len(found.cells) == 8
    for cell in (found.cells[0], found.cells[-1]):
        shown = cell.cell()
        c = shown.plain
        mind = c["agents"]["members"]["agent_0"]["name"]
        point = [
            f"agents.max_actions={c['agents']['max_actions']}",
            f"agents.members.agent_0={mind}",
            f"seed={c['seed']}",
        ]
        assert Cell.compose(["agents=naive", *point, rest]).hash == cell.hash
        assert c["agents"]["members"]["agent_1"]["max_actions"] == c["agents"]["max_actions"]


def test_roles_are_those_of_the_minds_that_ask() -> None:
    raw = compose(["agents=heuristic", "topology=centralized", "topology.leader=coordinator"])
    led = {**raw, "agents": {**raw["agents"], "leader": compose(["agents=naive"])["agents"]}}
    assert validate(led).roles == ("leader", "follower", "coordinator")
    assert validate({**led, "llm": {**raw["llm"], "roles": {"leader": {"poor": 0.5}}}}).uses_models
    with pytest.raises(
        UserError, match=r"agents=heuristic\+naive@leader topology=centralized has no such role that asks a model"
    ):
        validate({**led, "llm": {**raw["llm"], "roles": {"critic": {"poor": 0.5}}}})


def test_a_key_of_a_member_that_came_later_is_no_part_of_its_name_while_it_is_as_before(
    monkeypatch: pytest.MonkeyPatch, pure: Cell
) -> None:
    class Later(ComponentConfig):
        name: Literal["later"]
        new: Annotated[int, Usual(0)]

    found, component = minds.get, Component(Later, lambda config, context: [])
    monkeypatch.setattr(minds, "get", lambda name: component if name == "later" else found(name))

    def identity(new: int) -> object:
        raw = with_members(pure.plain, agent_0={"name": "later", "new": new})
        raw["agents"]["leader"] = {"name": "later", "new": new}  # type: ignore[index]
        plain = validate(raw).identity()["agents"]
        return plain["members"]["agent_0"], plain["leader"]

    assert identity(0) == ({"name": "later"}, {"name": "later"})
    assert identity(1) == ({"name": "later", "new": 1},) * 2

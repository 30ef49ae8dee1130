"""Teams of several minds: who can share a team with whom, and their episodes in every world."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import pytest

from maeil import Act, Component, ComponentConfig, Mind, Plan, Resume, Seeds, TeamContext, Thought, Topology, View
from maeil.component import Compatibility
from maeil.errors import ContractError
from maeil.trace import comparable, read_trace
from maeil.trace.events import MessageSent, PlanChange, ThoughtEnd
from quorum.configuration.cell import Cell
from quorum.configuration.registry import minds, worlds
from quorum.configuration.schema import validate
from quorum.episode.parts import build
from quorum.episode.prompt import Wanted, find_prompt
from quorum.episode.runner import run_cell
from quorum.episode.team import SilentMind, build_team
from quorum.runs.run_folder import RunFolder
from quorum.topologies.centralized import Centralized, CentralizedConfig
from quorum.topologies.plain import Debate, DebateConfig
from quorum_base.user_errors import UserError
from tests.agents.test_negotiator import AHEAD, said, think, view
from tests.agents.test_negotiator import mind as negotiator
from tests.composing import compose

FOUR = {
    "cube": ["agents.members={agent_0: heuristic, agent_1: negotiator, agent_2: {prompts: terse}}"],
    "crafter": [
        "env=crafter_coop",
        "max_steps=40",
        "agents.members={agent_0: heuristic, agent_1: always_right, agent_2: {prompts: terse}}",
    ],
    "transport": [
        "env=transport",
        "agents.members={agent_0: heuristic, agent_1: {prompts: terse}, agent_2: {prompts: terse}}",
    ],
    "squeeze": [
        "env=squeeze",
        "max_steps=6",
        "agents.members={agent_0: heuristic, agent_1: {prompts: terse}, agent_2: {prompts: terse}}",
    ],
}
"""A team of four different minds in each world; the last one has the prompts of all, and a model that errs."""
DEBATE = Debate(DebateConfig(name="debate", rounds=1))
LED = Centralized(CentralizedConfig(name="centralized", leader=2, rounds=1, feedback="none"))
COORDINATED = Centralized(CentralizedConfig(name="centralized", leader="coordinator", rounds=1, feedback="none"))
RULE = {"name": "heuristic", "teams": "several"}
NEGOTIATOR = {"name": "negotiator", "noise": 0.0, "patience": 20}
SPEAK, PLAN = frozenset({Act.SPEAK}), frozenset({Act.PLAN})


class OwnConfig(ComponentConfig):
    name: Literal["own"]
    number: int


class Own:
    """A mind that shows for whom it was built."""

    def __init__(self, context: TeamContext, agent: int, number: int) -> None:
        self.context, self.agent, self.number = context, agent, number

    async def think(self, view: View) -> Thought:
        raise AssertionError


def own_team(config: OwnConfig, context: TeamContext) -> Sequence[Mind]:
    return [Own(context, agent, config.number) for agent in range(len(context.world.agents) + context.coordinates)]


@pytest.fixture(scope="module")
def naive() -> Mapping[str, Any]:
    return compose(["agents=naive", "n=3"])


@pytest.fixture
def sharing(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Offer a mind `own` that is compatible with those whom a test says."""

    def offer(company: Compatibility, build: Any = own_team) -> None:
        component = Component(OwnConfig, build, uses_models=True, compatible=company)
        found = minds.get
        monkeypatch.setattr(minds, "get", lambda name: component if name == "own" else found(name))

    return offer


def team(raw: Mapping[str, Any], usual: Any, topology: Topology = DEBATE, leader: Any = None, **members: Any) -> Any:
    """Build the minds of a team of three in CUBE."""
    agents = {**(usual or raw["agents"]), "members": members, **({"leader": leader} if leader else {})}
    configuration = validate({**raw, "agents": agents})
    world = worlds.get("cube").build(configuration.env, None)
    context = TeamContext(world, topology, Seeds(0, "minds"), lambda name: f"the model of {name}")
    return build_team(configuration, context)


def own(number: int = 0) -> dict[str, Any]:
    return {"name": "own", "number": number}


def test_each_participant_has_the_mind_that_is_named_for_it(naive: Mapping[str, Any]) -> None:
    found = team(naive, None, COORDINATED, agent_1=RULE, coordinator=NEGOTIATOR)
    assert found.names == ["naive", "heuristic", "naive", "negotiator"]
    kinds = [type(mind).__name__ for mind in found.minds]
    assert kinds == ["NaiveMind", "SilentMind", "NaiveMind", "Negotiator"]


def test_the_leader_is_who_leads_in_the_topology(naive: Mapping[str, Any]) -> None:
    assert team(naive, None, LED, leader=NEGOTIATOR).names == ["naive", "naive", "negotiator"]
    assert team(naive, None, COORDINATED, leader=NEGOTIATOR).names == ["naive", "naive", "naive", "negotiator"]
    assert team(naive, RULE, COORDINATED, leader=NEGOTIATOR).names[-1] == "negotiator"


@pytest.mark.parametrize(
    ("usual", "topology", "leader", "members", "message"),
    [
        (None, DEBATE, None, {"agent_7": RULE}, "agents.members.agent_7: there is no such participant"),
        (RULE, DEBATE, None, {"agent_7": RULE}, "agents.members.agent_7: there is no such participant"),
        (None, DEBATE, None, {"coordinator": NEGOTIATOR}, "agents.members.coordinator: there is no such participant"),
        (None, DEBATE, NEGOTIATOR, {}, "agents.leader: topology=debate has no leader"),
        (None, LED, RULE, {"agent_2": RULE}, "agents.leader and agents.members.agent_2 both set the mind of agent_2"),
        (None, COORDINATED, RULE, {}, "agents.leader: agents=heuristic does not talk"),
        (None, COORDINATED, None, {"coordinator": RULE}, "agents.members.coordinator: agents=heuristic does not talk"),
    ],
)
def test_a_mind_for_nobody_who_can_have_it_is_refused(
    naive: Mapping[str, Any], usual: Any, topology: Topology, leader: Any, members: Any, message: str
) -> None:
    with pytest.raises(UserError) as error:
        team(naive, usual, topology, leader, **members)
    assert message in error.value.message
    assert error.value.hint or "choose" in error.value.message


def test_a_mind_that_decides_for_all_shares_a_team_with_nobody(naive: Mapping[str, Any], sharing: Any) -> None:
    sharing(Compatibility.SAME_VALUES)
    with pytest.raises(
        UserError, match=r"agents\.members\.agent_1=own: its minds cannot share a team with naive"
    ) as error:
        team(naive, None, agent_1=own())
    assert "agents=own; or choose minds that can share a team with any: heuristic," in error.value.hint
    with pytest.raises(UserError, match=r"agents=own: .* with different values for single participants"):
        team(naive, own(), agent_1=own(1))
    assert team(naive, None, agent_0=own(), agent_1=own(), agent_2=own()).names == ["own"] * 3


def test_minds_of_one_method_share_a_team_only_with_each_other(naive: Mapping[str, Any], sharing: Any) -> None:
    sharing(Compatibility.SAME_KIND)
    with pytest.raises(UserError, match=r"agents=own: its minds cannot share a team with heuristic"):
        team(naive, own(), agent_1=RULE)
    found = team(naive, own(), COORDINATED, agent_1=own(5))
    assert [mind.number for mind in found.minds] == [0, 5, 0, 0]
    assert all(mind.context.own is None for mind in found.minds)


def test_minds_that_are_compatible_with_any_learn_whose_minds_they_are(naive: Mapping[str, Any], sharing: Any) -> None:
    sharing(Compatibility.ANYBODY)
    found = team(naive, None, COORDINATED, agent_0=own(), agent_2=own(1)).minds
    assert (found[0].context.own, found[2].context.own) == ({0}, {2})
    assert not found[0].context.coordinates
    assert found[0].context.models("agent_0") == "the model of agent_0"
    assert found[0].context.models("agent_1") is None
    equal = team(naive, None, COORDINATED, agent_0=own(), coordinator=own()).minds
    assert equal[0].context is equal[3].context
    assert equal[0].context.own == {0, 3}
    assert equal[3].context.coordinates


def test_a_team_that_is_too_small_is_a_mistake_in_its_code(naive: Mapping[str, Any], sharing: Any) -> None:
    sharing(Compatibility.ANYBODY, lambda config, context: own_team(config, context)[:2])
    with pytest.raises(ContractError, match="returned 2 minds; it must return one for each of the 3 agents"):
        team(naive, None, agent_0=own())


def test_what_a_participant_draws_does_not_depend_on_the_minds_of_others(naive: Mapping[str, Any]) -> None:
    def draws(found: Any) -> list[float]:
        return found.minds[1].chooser.rng.random(3).tolist()

    alone = draws(team(naive, NEGOTIATOR))
    assert alone == draws(team(naive, NEGOTIATOR, agent_0=RULE))
    assert alone == draws(team(naive, None, agent_1=NEGOTIATOR))
    assert alone == draws(team(naive, None, agent_0=NEGOTIATOR, agent_1={**NEGOTIATOR, "patience": 3}))
    assert alone != team(naive, NEGOTIATOR).minds[0].chooser.rng.random(3).tolist()


class Deaf:
    async def think(self, view: View) -> Thought:
        return Thought(Plan((), None, "asked"))


def test_a_mind_that_does_not_talk_says_nothing_and_goes_on_when_it_is_spoken_to() -> None:
    def decision(**turn: Any) -> Any:
        return asyncio.run(SilentMind(Deaf()).think(view(AHEAD, 0, **turn)))

    live = next(iter(view(AHEAD, 0, PLAN).observation.blocks))
    assert decision(acts=SPEAK) == Thought()
    assert isinstance(decision(acts=PLAN).decision, Plan)
    assert decision(acts=PLAN, plan=live).decision is Resume.RESUME


def test_a_negotiator_hears_whatever_others_say() -> None:
    words = [
        "agent_99: block_0; agent_1: block_77.",
        f"I take block_{'9' * 5000}, 3 steps away.",
        "agent_" + "9" * 5000 + ": block_0",
        "I cannot take block_5: no.",
        "{}\x00\u202e",
    ]
    heard = tuple(said(sender, text) for sender, text in enumerate(words))
    thought = think(negotiator(), AHEAD, 0, PLAN, unread=heard)
    assert isinstance(thought.decision, Plan)
    outsider = said(2, "I take block_0, 3 steps away.")
    assert isinstance(think(negotiator(), AHEAD, 0, PLAN, unread=(outsider,)).decision, Plan)


@pytest.fixture(scope="module", params=FOUR)
def four(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Any:
    words = ["agents=naive", "n=4", "topology=debate", "llm.agents.agent_3.poor=0.2", *FOUR[request.param]]
    cell = Cell.compose(words)
    return cell, run_cell(cell, tmp_path_factory.mktemp(request.param))


def test_four_different_minds_run_in_every_world(four: Any) -> None:
    _, result = four
    events = [stamped.event for stamped in read_trace(result.folder).events]
    assert result.outcome in ("success", "truncated")
    assert {event.agent for event in events if isinstance(event, PlanChange)} == {0, 1, 2, 3}
    talking = {event.sender for event in events if isinstance(event, MessageSent)}
    assert {2, 3} <= talking
    assert 0 not in talking
    assert not any(event.refused for event in events if isinstance(event, ThoughtEnd) and event.agent == 0)


def test_a_team_of_several_minds_is_the_same_again_however_long_answers_take(four: Any, tmp_path: Path) -> None:
    cell, result = four
    raw = {**cell.plain, "llm": {**cell.plain["llm"], "agents": {"agent_3": {"poor": 0.2, "latency": 0.001}}}}
    again = run_cell(Cell.of(raw), tmp_path)
    assert comparable(again.folder) == comparable(result.folder)


def test_a_run_says_who_had_which_mind(four: Any) -> None:
    cell, result = four
    meta = RunFolder(result.folder).meta()
    assert list(meta.minds) == ["agent_0", "agent_1", "agent_2", "agent_3"]
    assert (meta.minds["agent_0"], meta.minds["agent_3"]) == ("heuristic", "naive")
    row = RunFolder(result.folder).row()
    assert row.factors["members"] == cell.configuration.team_label  # type: ignore[union-attr]


def test_a_team_of_one_mind_says_nothing_of_it(tmp_path: Path) -> None:
    result = run_cell(Cell.compose(["n=1", "max_steps=2"]), tmp_path)
    assert "minds" not in (result.folder / "meta.json").read_text(encoding="utf-8")
    assert "members" not in RunFolder(result.folder).row().factors  # type: ignore[union-attr]


def test_a_model_is_set_up_for_those_alone_who_ask_it(four: Any) -> None:
    cell, _ = four
    asked: list[str] = []
    build(cell, asked.append)
    assert set(asked) == {name for name, mind in four_minds(cell).items() if mind == "naive"}


def four_minds(cell: Cell) -> dict[str, str]:
    members = cell.plain["agents"]["members"]
    return {f"agent_{i}": members.get(f"agent_{i}", cell.plain["agents"])["name"] for i in range(4)}


def test_a_prompt_is_that_of_the_participant_who_is_named() -> None:
    words = ["agents=naive", "agents.members.agent_0=heuristic", "n=2", "topology=debate"]
    assert find_prompt(Wanted.read([*words, "agent=1"])).participant == "agent_1"
    assert find_prompt(Wanted.read(words)).participant == "agent_1"
    with pytest.raises(UserError, match="agent=0: the mind of agent_0 is heuristic, which asks no language model"):
        find_prompt(Wanted.read([*words, "agent=0"]))


def test_what_a_negotiator_says_stands_in_the_prompt_by_which_another_mind_plans() -> None:
    words = ["agents=naive", "agents.members.agent_0=negotiator", "n=2", "topology=debate"]
    prompt = find_prompt(Wanted.read([*words, "agent=1", "turn=plan"]))
    assert '{"author":"agent_0","content":"I take block_' in prompt.messages[-1].content

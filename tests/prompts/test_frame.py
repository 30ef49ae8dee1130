"""The frame of prompts: one system message for a whole sweep, an example of each answer, and who is asked last."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from maeil import Act
from maeil.mind import PlanView
from maeil.plans import PlanStatus, Task
from quorum.agents.coordination.prompts import RolePrompts, role_templates
from quorum.agents.llamac.settings import Answers, LlamacRole
from quorum.agents.llm.protocol import AnswerFormat
from quorum.agents.llm.validation import validator_of
from quorum.agents.naive import render_prompt
from quorum.agents.naive.answers import AnswerTypes
from quorum.agents.prompting.templates import PromptSet
from quorum.agents.skills import prompts_of, skills_of
from quorum.methods.baselines.asking import BaselineAnswers, BaselineRole
from quorum_base.names import fold_names, unfold_names
from tests.agents.naive_team import TOPOLOGIES, config, context, cube, prompts, topology, view
from tests.crafter_env.joined import world as crafter
from tests.lbf_env.test_foraging_world import world as foraging
from tests.llamac_env.test_squeeze import world as squeeze
from tests.llamac_env.test_transport_world import world as transport
from tests.overcooked_env.test_overcooked_world import world as overcooked

SIZES = (2, 8)
SETS = ("default", "terse")
RUNNING = PlanView("P0.1", Task("deliver", "block_0"), ("idle(steps=1)",), 0, PlanStatus.RUNNING)
TURNS: tuple[dict[str, Any], ...] = (
    {"acts": (Act.PLAN,)},
    {"acts": (Act.PLAN,), "plan": RUNNING},
    {"acts": (Act.SPEAK,), "recipients": (0, 1)},
    {"acts": (Act.ACKNOWLEDGE,), "recipients": (0,), "role": "follower"},
    {"acts": (Act.SPEAK, Act.PLAN), "recipients": (0, 1)},
    {"acts": (Act.SPEAK, Act.PLAN), "recipients": (0, 1), "plan": RUNNING, "limit": 1},
)
FAMILIES = {"llamac": LlamacRole, "baselines": BaselineRole}
WORLDS = ("cube", "emcoop", "crafter", "transport", "squeeze", "foraging", "overcooked")


@cache
def made(name: str, n: int) -> Any:
    match name:
        case "cube" | "emcoop":
            world = cube(n, vocabulary=name)
            world.reset(0)
            return world
        case "crafter":
            return crafter(None, n=n, profile="coop2", level="coop2", switches={}, max_steps=3)
        case "transport":
            return transport(n=n)
        case "foraging":
            return foraging(n=n)
        case "overcooked":  # a layout has one size of a team
            return overcooked() if n == 2 else overcooked(n=4, layout="multiplayer_schelling")
        case _:
            return squeeze(n=n)


@cache
def forms(world: Any) -> dict[str, tuple[AnswerFormat, Any]]:
    """The form of the answer in each role, and what reads one about the agents of the example."""
    tasks, example = skills_of(world.name).tasks, skills_of(world.name).example(world)
    names = (*example.joint, example.one_more)
    critic = {"explorer": dict(enumerate(example.joint.values()))}
    baselines, answers = (kind(world.vocabulary, 8, names, tasks=tasks) for kind in (BaselineAnswers, Answers))
    one = [range(len(names))]
    planners = dict.fromkeys(("explorer", "exploiter", "centre", "debater"), (answers.joint, answers.read_joint, *one))
    rest = {
        "assessor": (answers.assessor, lambda value, asked: answers.read_assessor(value, asked, critic), *one),
        "actor": (answers.actor, answers.read_actor),
        "talker": (baselines.talk, baselines.read_talk, *one),
        "reviewer": (baselines.review, baselines.read_review),
    }
    return {role: (wanted, lambda value, r=read, a=asked: r(value, *a)) for role, (wanted, read, *asked) in
            {**planners, **rest}.items()}  # fmt: skip


DATA: dict[str, Any] = {
    "asked": ["agent_0"], "state": {"x": 1}, "observation": {"x": 1}, "suggestion": {"x": 1}, "failed_check": {"x": 1},
    "objections": ["x"],
}  # fmt: skip


def turn_prompts(world: Any, prompt_set: str, turns: Sequence[dict[str, Any]] = TURNS) -> Iterator[tuple[str, str]]:
    """The prompts of all agents in all turns under all topologies."""
    n = len(world.agents)
    for name in TOPOLOGIES:
        where = context(world, topology(name, n))
        names = (*world.agents, "coordinator") if name == "coordinator" else world.agents
        for agent in {0, n - 1, len(names) - 1}:
            for turn in turns:
                system, user = render_prompt(config(prompt_set), where, view(world, agent=agent, names=names, **turn))
                yield system.content, user.content


def role_prompts(world: Any, prompt_set: str, family: str) -> Iterator[tuple[str, str, str]]:
    """The prompts of all roles of a family."""
    own = PromptSet(**prompts(prompt_set))
    templates = role_templates(world.name, prompts_of(world.name), family, FAMILIES[family], own)
    skills = skills_of(world.name)
    writer = RolePrompts(
        templates, world, prompts=own, max_actions=8, example=skills.example(world), tasks=skills.tasks
    )
    for agent in (0, len(world.agents)):
        seen = view(world, agent=agent, names=(*world.agents, "coordinator"))
        for role in FAMILIES[family]:
            wanted = forms(world)[role][0]
            system, user = writer.write(role, seen, DATA, wanted.schema)
            yield role, system.content, user.content


@pytest.mark.parametrize(
    ("name", "prompt_set"),
    [
        pytest.param(name, kind, marks=[] if (name, kind) == ("cube", "default") else pytest.mark.conformance)
        for name in WORLDS
        for kind in SETS
    ],
)
def test_one_system_message_for_all_agents_turns_topologies_and_sizes_of_a_team(name: str, prompt_set: str) -> None:
    found = {system for n in SIZES for system, _ in turn_prompts(made(name, n), prompt_set, TURNS[2:4])}
    assert len(found) == 1


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("prompt_set", SETS)
@pytest.mark.parametrize("name", WORLDS)
def test_one_system_message_for_all_roles_of_a_family(name: str, prompt_set: str, family: str) -> None:
    found = {system for n in SIZES for _, system, _ in role_prompts(made(name, n), prompt_set, family)}
    assert len(found) == 1
    turns = next(turn_prompts(made(name, 2), prompt_set))[0]
    rules_and_actions = turns.split("# How to answer")[0]
    assert prompt_set == "terse" or next(iter(found)).startswith(rules_and_actions)


@pytest.mark.parametrize("prompt_set", SETS)
def test_who_is_asked_comes_after_all_data(prompt_set: str) -> None:
    world = made("cube", 4)
    for _, user in turn_prompts(world, prompt_set):
        assert user.index("<turn>") > user.index("</observation>")
        assert user.rindex("You are ") > user.index("</turn>")
    for family in FAMILIES:
        for role, _, user in role_prompts(world, prompt_set, family):
            shown = "observation" if role in ("actor", "reviewer") else "state"
            assert user.index(f"# Your role: {role}") > user.index(f"</{shown}>")
            assert user.rindex("You are ") > user.index("</turn>") > user.index("# Your role")


def example_of(user: str) -> Any:
    [line] = [line for line in user.splitlines() if line.startswith('{"thoughts"')]
    return orjson.loads(line)


@pytest.mark.parametrize("prompt_set", SETS)
@pytest.mark.parametrize("name", WORLDS)
def test_the_example_of_every_turn_is_an_answer_to_it(name: str, prompt_set: str) -> None:
    world = made(name, 4)
    types = AnswerTypes(world.vocabulary, 8)
    where = context(world, topology("debate", 4))
    for turn in TURNS:
        seen = view(world, agent=2, **turn)
        example = example_of(render_prompt(config(prompt_set), where, seen)[1].content)
        wanted = types.wanted(seen)
        assert list(example) == list(types.keys(seen))
        assert validator_of(wanted.schema).reasons(example) == ()
        thought = types.read(example, seen)
        assert (thought.decision is not None) == (Act.PLAN in turn["acts"])
        assert len(thought.messages) == ("recipients" in turn)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("name", WORLDS)
def test_the_example_of_every_role_is_an_answer_in_it(name: str, family: str) -> None:
    world = made(name, 4)
    read = forms(world)
    for role, _, user in role_prompts(world, "default", family):
        wanted, reader = read[role]
        example = example_of(user)
        assert list(example) == list(wanted.schema["properties"])
        assert validator_of(wanted.schema).reasons(example) == ()
        reader(example)


def test_a_world_without_its_own_example_shows_a_valid_one() -> None:
    from tests.maeil.corridor import Corridor

    world = Corridor(2)
    world.reset(0)
    seen = view(world)
    example = example_of(render_prompt(config(), context(world, topology("debate", 2)), seen)[1].content)
    assert AnswerTypes(world.vocabulary, 8).read(example, seen).decision is not None


@pytest.mark.parametrize("prompt_set", SETS)
def test_the_only_rules_of_a_world_are_stated_in_every_set(tmp_path: Path, prompt_set: str) -> None:
    (tmp_path / "rules.jinja").write_text("Walk to the end.", encoding="utf-8")
    templates = PromptSet(**prompts(prompt_set)).for_turns("hallway", tmp_path)
    assert templates.find("rules").render() == "Walk to the end."


names = st.lists(
    st.one_of(
        st.builds("{}_{}".format, st.sampled_from(["agent", "a b", ""]), st.integers(0, 12)),
        st.sampled_from(["coordinator", "007", "agent_01", "7"]),
    ),
    max_size=12,
    unique=True,
)


@given(names)
def test_a_list_of_names_reads_back(given: list[str]) -> None:
    assert unfold_names(fold_names(given)) == given


def test_a_list_of_a_large_team_is_short() -> None:
    team = [f"agent_{index}" for index in range(256)]
    assert fold_names([*team, "coordinator"]) == ["agent_0..agent_255", "coordinator"]
    assert fold_names([*team[:3], *team[4:6], team[9]]) == ["agent_0..agent_2", "agent_4", "agent_5", "agent_9"]

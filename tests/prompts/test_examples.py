"""The examples of prompts: of the kind of the turn, true to the rules that the prompt states, and of another board."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import orjson
import pytest

from crafter_env import Item
from lbf_env import food_cell
from llamac_env.transport.observation import Frame
from llamac_env.transport.symbolic.control import check_plan
from maeil import Act
from maeil.messages import MessageKind
from maeil.plans import Plan
from overcooked_env.world import load_package
from quorum.agents.coordination.joint import Joint, Sight, look
from quorum.agents.coordination.prompts import role_example
from quorum.agents.naive import render_prompt
from quorum.agents.naive.answers import AnswerTypes
from quorum.agents.prompting.blocks import write_json
from quorum.agents.prompting.examples import Example, beyond
from quorum.agents.skills import skills_of
from quorum.methods.drwell.mind import Answers as DrwellAnswers
from quorum.methods.drwell.mind import DrwellRole
from quorum.methods.tom.answers import TomRole, example_of
from tests.agents.llamac.test_cube_gates import board as cube_board
from tests.agents.naive_team import config, context, cube, topology, view
from tests.crafter_env.joined import world as crafter
from tests.lbf_env.test_foraging_world import placed as foraging_board
from tests.lbf_env.test_foraging_world import world as foraging
from tests.llamac_env.boards import board, grid
from tests.llamac_env.test_transport_world import world as transport
from tests.overcooked_env.test_overcooked_world import world as overcooked
from tests.prompts.test_frame import WORLDS, forms, made

Check = Callable[[int, Plan], Any]
TEAMS = {"easy": 1, "medium": 2, "coop2": 3, "hard": 3}
"""How many agents iron takes, by the level of the open world."""


def cube_case(vocabulary: str) -> tuple[Example, Sight, Check]:
    """Block 60 of weight 2 and block 61 of weight 1 on a board with room for both; the others stand far off."""
    world = cube(3, vocabulary=vocabulary, side=40, blocks={1: 62})
    world.reset(0)
    far = [(1, (row, col)) for row in range(0, 30, 3) for col in range(4, 40, 6)]
    seen = cube_board(*far, (2, (32, 33)), (1, (36, 34)), agents=[(32, 20), (33, 20), (36, 20)], side=40)
    return skills_of("cube").example(cube(3, vocabulary=vocabulary)), Sight(0, seen, (seen,) * 3), world.check_plan


def crafter_case(level: str) -> tuple[Example, Sight, Check]:
    """Cell 60 is iron, and all have a stone pickaxe; the example is that of a map with fewer cells."""
    agents = "0123"[: TEAMS[level] + 1].ljust(5, ".")
    rows = [".........."] * 7
    rows[3] = f".{agents}..i."
    changes = {"level": level, "switches": {"mobs": False, "sharing": True}, "oracle_map": True}
    bags = {agent: {Item.wood_pickaxe: 1, Item.stone_pickaxe: 1} for agent in range(TEAMS[level] + 1)}
    world = crafter("\n".join(rows), bags=bags, **changes)
    small = crafter("\n".join(row[:7] for row in rows), **changes)
    return skills_of("crafter").example(small), look(world, 0), world.check_plan


def transport_case(difficulty: str) -> tuple[Example, Sight, Check]:
    """A row of 64 cells with a green box before its target, and a red one that is there."""
    hard = difficulty == "hard"
    at = {"box_green": "1.0_60.0", "box_red": "0.0_62.0"} if hard else {"box_green": "0.5_60.5", "box_red": "0.5_62.5"}
    where = board(grid(1, 64, difficulty), **at, target_green="0.5_61.5", target_red="0.5_62.5")
    frame = Frame(where, 0, 40, len(where.boxes), "board")
    sight = Sight(0, frame.observe(None), tuple(frame.observe(agent) for agent in range(64)))
    example = skills_of("transport").example(transport(difficulty=difficulty))
    return example, sight, lambda agent, plan: check_plan(where, agent, plan)


def squeeze_case() -> tuple[Example, Sight, Check]:
    world = made("squeeze", 3)
    return skills_of("squeeze").example(world), look(world, 0), world.check_plan


def foraging_case() -> tuple[Example, Sight, Check]:
    """A field of 99 x 99 cells, on which the foods of an example of a smaller one are there."""
    example = skills_of("foraging").example(foraging(n=3))
    agents = ((59, 61, 2), (63, 61, 1), (64, 60, 2))
    world = foraging_board({(61, 61): 3, (64, 61): 2}, *agents, side=99)
    return example, look(world, 0), world.check_plan


def overcooked_case() -> tuple[Example, Sight, Check]:
    """A kitchen of 65 x 63 cells with the two pots of the example, which have two onions each."""
    grid = [["X", *" " * 61, "X"] for _ in range(65)]
    grid[0] = grid[-1] = ["X"] * 63
    grid[0][1:4] = "ODS"
    grid[60][61] = grid[63][61] = "P"
    grid[1][1:4] = "123"
    world, package = overcooked(), load_package()
    world.mdp = package.OvercookedGridworld.from_grid(["".join(line) for line in grid])
    world._grid = tuple("".join(line) for line in world.mdp.terrain_mtx)
    world.agents = ("agent_0", "agent_1", "agent_2")
    world._drawn = False
    world.reset(0)
    for row in (60, 63):
        world.state.add_object(package.SoupState.get_soup((61, row), num_onions=2))
    world.limit(400)
    assert [pot[2] for pot in world.global_observation().pots] == ["onion+onion"] * 2
    return skills_of("overcooked").example(overcooked()), look(world, 0), world.check_plan


CASES: dict[str, Callable[[], tuple[Example, Sight, Check]]] = {
    "cube": lambda: cube_case("cube"),
    "cube, emcoop": lambda: cube_case("emcoop"),
    **{f"crafter, {level}": (lambda level=level: crafter_case(level)) for level in TEAMS},  # type: ignore[misc]
    "transport, easy": lambda: transport_case("easy"),
    "transport, hard": lambda: transport_case("hard"),
    "squeeze": squeeze_case,
    "foraging": foraging_case,
    "overcooked": overcooked_case,
}


@pytest.mark.parametrize("case", CASES)
def test_an_example_holds_for_the_world_and_its_gates_on_a_board_made_for_it(case: str) -> None:
    example, sight, check = CASES[case]()
    world = case.partition(",")[0]
    first = example.number if world == "transport" else 0  # there cells follow from indices
    joint = dict(enumerate(example.joint.values(), first))
    suggestion = {**joint, first + len(joint): example.alone or example.plan}
    gates = skills_of(world).gates(made(world, 2).vocabulary)
    for plans in (joint, suggestion):
        team = Joint(plans)
        squeezed = world == "squeeze" and len(plans) < len(sight.agents)  # everybody has to pick
        assert squeezed or [f"{found}" for found in gates.scrutinize(sight, team)] == []
        for agent, plan in plans.items():
            assert list(check(agent, plan)) == []
            seen = sight.global_observation if world == "transport" else sight.agents[agent]
            assert gates.confirm(agent, seen, team) is None


def shown(world: Any) -> Iterator[tuple[str, Any]]:
    """Every example that a prompt of a world may show."""
    skills = skills_of(world.name)
    example = skills.example(world)
    types = AnswerTypes(world.vocabulary, 8, ("predictions",))
    for acts in ((Act.SPEAK, Act.PLAN), (Act.ACKNOWLEDGE,)):
        for role in ("leader", "root", "branch_leader", "member", ""):
            others = range(1, len(world.agents))
            yield role, types.example(view(world, 0, acts, recipients=tuple(others), role=role), example)
    for role, (wanted, _) in forms(world).items():
        yield role, role_example(wanted.schema, example)
    for part, form in DrwellAnswers(world.vocabulary, 8).forms.items():
        yield part, role_example(form.schema, example)
    for asked in TomRole:
        yield asked, example_of(asked, example)


_NAME = re.compile(r"(?:agent|block|iron|tree|cell)[_ ]\d+|food_\d+_\d+|(?:square|position)\[[^]]*\]")


@pytest.mark.parametrize("n", [3, 12])
@pytest.mark.parametrize("name", WORLDS)
def test_nothing_that_an_example_names_is_on_a_board_of_its_configuration(name: str, n: int) -> None:
    world = made(name, n)
    first = [orjson.dumps(example) for _, example in shown(world)]
    for seed in range(3):
        world.reset(seed)
        assert [orjson.dumps(example) for _, example in shown(world)] == first  # by the configuration alone
        seen = write_json(world.global_observation())
        ids = {each for allowed in known_ids(world).values() for each in allowed}
        for text in map(bytes.decode, first):
            for found in _NAME.findall(text):
                assert found not in world.agents
                assert f'"{found}"' not in seen
                assert is_beyond(world, found)
            numbers = re.findall(r'"(?:block|id)":(\d+)|"target":(\d+)', text)
            assert not {int(a or b) for a, b in numbers} & ids


def known_ids(world: Any) -> dict[str, set[int]]:
    """The numbers that actions may have."""
    found: dict[str, set[int]] = {}
    for name, forms_of in (world.ids(None) if hasattr(world, "ids") else {}).items():
        for form in forms_of:
            for key in ("block", "id", "target"):
                found.setdefault(name, set()).update(each for each in form.get(key, ()) if isinstance(each, int))
    return found


def is_beyond(world: Any, name: str) -> bool:
    """Whether a number in a name is larger than that of anything on a board of this configuration."""
    if name.startswith(("square", "position")):
        return max(map(float, re.findall(r"[\d.]+", name))) > max(world.env.grid.rows, world.env.grid.cols)
    if name.startswith("food"):
        return min(food_cell(name)) > world.global_observation().side
    number = int(re.findall(r"\d+", name)[0])
    if name.startswith("agent"):
        return number >= len(world.agents)
    if name.startswith("block"):
        return number >= world.blocks
    return number > world.env.size[0] * world.env.size[1]


@pytest.mark.parametrize("name", WORLDS)
def test_a_message_of_an_example_is_of_the_kind_of_the_turn(name: str) -> None:
    world = made(name, 4)
    example, types = skills_of(world.name).example(world), AnswerTypes(world.vocabulary, 8)
    kinds = {
        "leader": MessageKind.DIRECTIVE,
        "root": MessageKind.DIRECTIVE,
        "branch_leader": MessageKind.DIRECTIVE,
        "member": MessageKind.INFORM,
        "follower": MessageKind.PROPOSE,
        "": MessageKind.PROPOSE,
    }
    for role, kind in kinds.items():
        [said] = types.example(view(world, 0, (Act.SPEAK,), recipients=(1, 2), role=role), example)["messages"]
        assert (said["kind"], said["recipients"], said["content"]) == (kind, ["all"], example.says(kind))
    [said] = types.example(view(world, 0, (Act.ACKNOWLEDGE,), recipients=(1,), role="follower"), example)["messages"]
    assert (said["kind"], said["recipients"]) == (MessageKind.ACK, ["agent_1"])


@pytest.mark.parametrize("level", TEAMS)
@pytest.mark.parametrize("n", [2, 4])
def test_the_iron_of_an_example_takes_as_many_agents_as_the_facts_say(level: str, n: int) -> None:
    world = crafter(None, n=n, profile="coop", level=level, switches={})
    facts = world.prompt_facts()
    example = skills_of("crafter").example(world)
    hands = min(facts["agents"]["iron"], n)
    assert len(example.joint) == hands
    assert ("with me" in example.message) == (hands > 1)
    assert f"takes {hands if hands > 1 else 'one'} of us" in example.thoughts
    assert all(name in example.order for name in example.joint)


@pytest.mark.parametrize("prompt_set", ["default", "terse"])
def test_the_rules_say_what_gives_wood_and_name_no_cell_or_block_that_may_be_there(prompt_set: str) -> None:
    for name in ("crafter", "cube"):
        world = made(name, 4)
        where = context(world, topology("debate", 4))
        rules = render_prompt(config(prompt_set), where, view(world))[0].content
        assert not re.search(r"(?:iron|tree|block)[_ ]\d", rules)
        assert ("rees give wood" if name == "crafter" else "block_k") in rules


def test_a_drwell_example_names_a_task_as_the_open_tasks_do() -> None:
    for name in ("cube", "transport", "foraging", "overcooked"):
        world = made(name, 4)
        form = DrwellAnswers(world.vocabulary, 8).forms[DrwellRole.PROPOSER]
        kinds = {task.task.kind for task in world.open_tasks([None] * 4, "")}
        assert role_example(form.schema, skills_of(name).example(world))["task"]["kind"] in kinds


def test_numbers_of_another_board_are_beyond_all_of_this_one() -> None:
    assert [beyond(count) for count in (0, 59, 60, 4096, 6000)] == [60, 60, 600, 6000, 60000]

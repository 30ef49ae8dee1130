"""What the simulated speakers of the open world make of what they hear: without talk each works for itself."""

from __future__ import annotations

import numpy as np
import pytest

from crafter_env import Collect, Craft, Item, Navigate, Target, Tool
from maeil.messages import Message, MessageKind
from maeil.mind import Act, PlanView, Resume, View
from maeil.plans import Plan, PlanStatus, Task
from maeil.tasks import OpenTask
from quorum.agents.llm.structured import Structuring
from quorum.agents.naive import build
from quorum.agents.simulated.model import SimulatedModel
from quorum.agents.skills import Chooser
from quorum.open_world import hearsay as words
from quorum.open_world.hearsay import Assignment
from quorum.open_world.speaker import CrafterSpeaker
from tests.agents.naive_team import config, context, settings, topology, view
from tests.crafter_env.joined import number, world
from tests.maeil.scripted import play

SPEAK, PLAN, ACK = (Act.SPEAK,), (Act.PLAN,), (Act.ACKNOWLEDGE,)
GROVE = """
..........
..0.T.....
..1.......
......T...
.........."""
FAR = 40
"""Columns between the members of a team that starts out of sight of each other."""


def think(seen: View):
    return CrafterSpeaker().answer(seen, Chooser(np.random.default_rng(0)))


def said(seen: View) -> str:
    (draft,) = think(seen).messages
    return draft.content


def plan_of(seen: View) -> Plan:
    plan = think(seen).decision
    assert isinstance(plan, Plan)
    return plan


def message(text: str, sender: int = 0, to: int = 1, kind: MessageKind = MessageKind.PROPOSE, t: int = 0) -> Message:
    return Message(0, sender, (to,), text, kind, t, 0, 0)


def target(plan: Plan) -> int | None:
    return next(action.target for action in plan.actions if isinstance(action, Collect))


def test_what_is_assigned_can_be_read_back():
    for task, cell in ((Task("collect", "iron_2081"), 2081), (Task("craft", "iron_pickaxe"), 55)):
        one = Assignment(frozenset({0, 2, 11}), task, cell, 20, 7)
        assert words.read_assignments(f"{words.write_assignment(one)} {words.write_report(9, {}, [])}", 7) == [one]
    report = words.write_report(12, {"wood": 3, "iron_pickaxe": 1}, ["diamond_7", "table_9"])
    assert words.read_cell(report) == 12
    assert words.read_bag(report) == {"wood": 3, "iron_pickaxe": 1}
    assert words.read_places(report) == [("diamond", 7), ("table", 9)]


def test_without_messages_two_take_the_same_tree_and_with_one_the_second_takes_another():
    w = world(GROVE)
    assert target(plan_of(view(w, 0))) == target(plan_of(view(w, 1)))
    claim = message(said(view(w, 0, SPEAK, recipients=(1,))))
    assert target(plan_of(view(w, 1, unread=(claim,)))) != target(plan_of(view(w, 0)))


ROCK = """
..............
.0...#........
.1............
..............
..2..........."""
HIDDEN = ROCK.replace("..#..", "....#", 1)
COOP2 = {"level": "hard", "profile": "coop2", "max_steps": 100}
PICKS = {agent: {Item.wood_pickaxe: 1} for agent in (0, 1, 2)}


def test_who_is_called_comes_and_tries_until_the_last_is_there_and_who_is_not_told_waits_for_nobody():
    w = world(ROCK, PICKS, **COOP2)
    stone = number(w, (5, 1))
    reports = tuple(message(words.write_report(number(w, (1, a + 1)), {"wood_pickaxe": 1}, []), a, 0) for a in (1, 2))
    call = said(view(w, 0, SPEAK, recipients=(1, 2), unread=reports))
    assert "agent_0, agent_1" in call
    assert f"collect stone_{stone}" in call
    plan = plan_of(view(w, 1, unread=(message(call),)))
    assert plan.task == Task("collect", f"stone_{stone}")
    assert plan.actions[0] == Navigate(target=Target.stone, id=stone)
    assert plan.actions[1].steps > 10
    alone = plan_of(view(w, 1))
    assert all(action.steps <= 3 for action in alone.actions if isinstance(action, Collect))


def test_all_who_lack_a_tool_are_called_to_make_it_together():
    w = world("......\n.0t.1.\n..2...", {0: {Item.wood: 1}}, level="hard")
    call = said(view(w, 0, SPEAK, recipients=(1, 2)))
    assert "agent_0, agent_1, agent_2: craft wood_pickaxe at table" in call
    actions = plan_of(view(w, 1, unread=(message(call),))).actions
    assert [type(action) for action in actions] == [Navigate, Craft]
    assert actions[1].item is Tool.wood_pickaxe


def directed(w, *unread: Message) -> View:
    """The turn of a coordinator that directs all agents."""
    team = (*w.agents, "coordinator")
    everybody = tuple(range(len(w.agents)))
    return view(w, len(w.agents), SPEAK, names=team, role="leader", recipients=everybody, unread=unread)


def test_a_coordinator_without_a_body_gives_each_a_tree_and_calls_those_who_say_that_they_hold_the_tool():
    trees = words.read_assignments(said(directed(world(GROVE))), 0)
    assert [one.agents for one in trees] == [{0}, {1}]
    assert len({one.cell for one in trees}) == 2
    rock = world(ROCK, PICKS, **COOP2)
    assert think(directed(rock)).messages == ()
    reports = (message(words.write_report(number(rock, (1, a + 1)), {"wood_pickaxe": 1}, []), a, 3) for a in (0, 1, 2))
    (call,) = words.read_assignments(said(directed(rock, *reports)), 0)
    assert (call.agents, call.task) == ({0, 1, 2}, Task("collect", f"stone_{number(rock, (5, 1))}"))


def test_who_works_goes_on_unless_it_is_called_to_something_else():
    w = world(ROCK, PICKS, level="hard")
    mine = Assignment(frozenset({1}), Task("collect", "stone_77"), 77, 3, 0)
    under_way = world_plan_view(mine.task)
    call = Assignment(frozenset({0, 1}), Task("collect", f"stone_{number(w, (5, 1))}"), number(w, (5, 1)), 20, 0)
    assert think(view(w, 1, plan=under_way, unread=(message(words.write_report(3, {}, [])),))).decision is Resume.RESUME
    assert plan_of(view(w, 1, plan=under_way, unread=(message(words.write_assignment(call)),))).task == call.task
    came = world_plan_view(call.task)
    assert think(view(w, 1, plan=came, unread=(message(words.write_assignment(call)),))).decision is Resume.RESUME


def world_plan_view(task: Task):

    return PlanView("P1.1", task, ("collect",), 0, PlanStatus.RUNNING)


def test_a_sighting_is_gone_to_unless_plans_may_name_only_what_was_seen():
    drawing = "0" + "." * 50 + "T\n" + "." * 52 + "\n" + "." * 51 + "1"
    w, strict = world(drawing), world(drawing, known_only=True)
    tree = number(w, (51, 0))
    sighting = message(words.write_report(number(w, (51, 2)), {}, [f"tree_{tree}"]), 1, 0)
    assert target(plan_of(view(w, 0, unread=(sighting,)))) == tree
    assert plan_of(view(w, 0)).task.kind == plan_of(view(strict, 0, unread=(sighting,))).task.kind == "explore"


def test_what_one_can_collect_alone_is_worth_no_long_way_whoever_tells_of_it():
    drawing = ".0.1.#" + "." * 50 + "c" + ("\n" + "." * 57) * 2
    w = world(drawing, {0: PICKS[0], 1: PICKS[1]}, max_steps=100)
    coal, stone = number(w, (56, 0)), number(w, (5, 0))
    sighting = message(words.write_report(number(w, (56, 1)), {}, [f"coal_{coal}"]), 1, 0)
    given = OpenTask(Task("collect", f"coal_{coal}"), 1, 1, (), None)
    assert target(plan_of(view(w, 0, unread=(sighting,)))) == stone
    assert target(plan_of(view(w, 0, role="leader", constraints=(given,)))) == stone


def test_a_leader_sends_nobody_for_more_wood_than_the_first_tool_and_its_table_take():
    def orders(wood: int, drawing: str = GROVE) -> str:
        w = world(drawing)
        report = message(words.write_report(number(w, (2, 3)), {"wood": wood}, []), 1, 0)
        seen = view(w, 0, SPEAK, recipients=(1,), role="leader", unread=(report,))
        return "".join(draft.content for draft in think(seen).messages)

    assert "agent_1: collect tree_" in orders(2)
    assert "agent_1" not in orders(3)
    assert "agent_1" not in orders(1, GROVE.replace("T", "t", 1))


def test_a_directive_is_obeyed_and_what_stands_in_the_way_is_told_so_that_the_leader_takes_another():
    bags = {0: {Item.wood_pickaxe: 1}, 2: {Item.wood_pickaxe: 1}}
    w = world(ROCK, bags, **COOP2)
    stone = number(w, (5, 1))
    order = Assignment(frozenset({0, 1}), Task("collect", f"stone_{stone}"), stone, 20, 0)
    directive = message(words.write_assignment(order), kind=MessageKind.DIRECTIVE)
    refusal = said(view(w, 1, ACK, recipients=(0,), unread=(directive,), role="follower"))
    assert refusal.startswith(f"I cannot collect stone_{stone}: I hold no wood_pickaxe.")
    willing = message(words.write_report(number(w, (2, 4)), {"wood_pickaxe": 1}, []), 2, 0)
    objects = message(refusal, 1, 0, MessageKind.ACK)
    again = said(view(w, 0, SPEAK, recipients=(1, 2), memory=(directive,), unread=(objects, willing), role="leader"))
    assert f"agent_0, agent_2: collect stone_{stone}" in again


def test_feedback_tells_a_leader_who_is_able_and_a_follower_who_needs_help():
    w = world(HIDDEN, PICKS, **COOP2)
    stone = number(w, (7, 1))
    task = Task("collect", f"stone_{stone}")
    leader = {"acts": SPEAK, "recipients": (1, 2), "role": "leader"}
    blind = think(view(w, 0, **leader)).messages
    assert not any(f"stone_{stone}" in draft.content.partition("I am")[0] for draft in blind)
    given = said(view(w, 0, **leader, constraints=(OpenTask(task, 2, 2, (), None),)))
    assert f"agent_0, agent_1, agent_2: collect stone_{stone}" in given
    short = OpenTask(task, 2, 1, (), None, planned=(2,))
    assert plan_of(view(w, 1, role="follower", constraints=(short,))).task == task
    enough = OpenTask(task, 2, 1, (), None, planned=(0, 2))
    assert (
        plan_of(view(w, 1, role="follower", constraints=(enough,))).actions[-1]
        != plan_of(view(w, 1, role="follower", constraints=(short,))).actions[-1]
    )


def test_by_feedback_a_follower_leaves_to_others_what_they_work_on_alone():
    w = world(GROVE)
    first = target(plan_of(view(w, 1)))
    tree = OpenTask(Task("collect", f"tree_{first}"), 1, 1, (), None, planned=(0,))
    assert target(plan_of(view(w, 1, role="follower", constraints=(tree,)))) != first


def gather(seed: int, talk: str) -> float:
    """Play a board on which two agents with the tool start out of sight, a diamond next to one of them."""
    rng = np.random.default_rng(seed)
    board = rng.choice([".", "T", "#"], size=(15, FAR + 20), p=[0.9, 0.06, 0.04])
    left, right = int(rng.integers(2, 8)), int(rng.integers(FAR + 4, FAR + 10))
    row, other = rng.integers(3, 12, size=2).tolist()
    board[row - 1 : row + 2, left - 1 : left + 2] = board[other - 1 : other + 2, right - 1 : right + 5] = "."
    board[row, left], board[other, right], board[other, right + 3] = "0", "1", "d"
    tools = {Item[tool]: 1 for tool in ("wood_pickaxe", "stone_pickaxe", "iron_pickaxe")}
    w = world(
        "\n".join("".join(line) for line in board), dict.fromkeys((0, 1), tools), goal="collect:diamond", max_steps=200
    )
    chosen = topology(talk, 2)
    model = Structuring(SimulatedModel(settings()), 1)
    reset = w.reset
    w.reset = lambda seed: equip(reset(seed), w, tools)
    play(build(config(), context(w, chosen, lambda _: model)), w, topology=chosen, seed=seed)
    return w.progress().reached


def equip(given, w, tools):
    for item, units in tools.items():
        w.env.crafter_state.inventory[:, item] = units
    return given


def test_a_diamond_out_of_sight_is_gathered_after_a_message_with_its_place_and_not_without():
    assert (gather(0, "individual"), gather(0, "debate")) == (0, 1)


@pytest.mark.conformance
@pytest.mark.parametrize("seed", range(1, 10))
def test_on_every_board_a_diamond_out_of_sight_takes_talk(seed):
    assert [gather(seed, talk) for talk in ("individual", "debate", "decentralized", "centralized")] == [0, 1, 1, 1]

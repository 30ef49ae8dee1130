"""The open world as the loop sees it: configuration, goals, score, death, and the same bytes again."""

from __future__ import annotations

import os

import pytest
from pydantic import ValidationError

from crafter_env import Achievement, Action, Item, WorldError
from crafter_env.world import CrafterConfig, achievement
from maeil import Outcome, Plan
from maeil.mind import Thought
from maeil.trace import read_trace, replay
from tests.crafter_env.joined import DEFAULTS, advance, world
from tests.maeil.scripted import Scripted, play

DO = int(Action.do)


def test_goals_are_achievements_by_the_words_of_the_rules():
    assert achievement("open") is None
    assert achievement("collect:iron") is Achievement.collect_iron
    assert achievement("craft:iron_pickaxe") is Achievement.make_iron_pickaxe


@pytest.mark.parametrize("goal", ["", "win", "collect", "collect:gold", "craft:iron", "collect:iron "])
def test_a_goal_that_is_none_is_refused_with_those_there_are(goal):
    with pytest.raises(ValidationError, match="is not a goal; the goals are open, collect:coal"):
        CrafterConfig(**{**DEFAULTS, "goal": goal})


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"profile": "coop3"}, "no profile 'coop3'"),
        ({"level": "harder"}, "Did you mean 'hard'"),
        ({"switches": {"monsters": True}}, "unknown rule 'monsters'; the rules are collect, mobs"),
        ({"switches": {"mobs": 1}}, "mobs = 1: must be true or false"),
        ({"switches": {"item_cap": True}}, "item_cap = True: must be a number"),
        ({"switches": {"item_cap": None}}, "item_cap cannot be null"),
        ({"switches": {"spawn": "sea"}}, "spawn = 'sea': choose one of centre, cluster, random_grass"),
        ({"switches": {"collect": 1}}, "collect = 1: choose one of facing, nearest, area"),
        ({"thresholds": {"gold": 1}}, "unknown threshold 'gold'; the thresholds are wood, stone"),
        ({"layout": "0..\n...\n...", "n": 2}, "the map has 1 agents, but n is 2: set n=1"),
        ({"profile": "crafter", "n": 2}, "there is room for one"),
    ],
)
def test_a_configuration_that_makes_no_world_says_why(changes, message):
    from crafter_env.world import CrafterWorld

    with pytest.raises(WorldError, match=message):
        CrafterWorld(CrafterConfig(**{**DEFAULTS, **changes}))


def test_a_map_can_stand_in_a_file_and_is_kept_in_the_configuration(tmp_path):
    (tmp_path / "map.txt").write_text("0.T\n...\n...\n")
    config = CrafterConfig(**{**DEFAULTS, "layout": str(tmp_path / "map.txt")})
    assert config.layout == "0.T\n...\n...\n"
    with pytest.raises(ValidationError, match="neither an ASCII map nor a readable file"):
        CrafterConfig(**{**DEFAULTS, "layout": "nowhere.txt"})
    with pytest.raises(ValidationError, match="line 1, column 2"):
        CrafterConfig(**{**DEFAULTS, "layout": "0x.\n...\n..."})


def test_of_an_endless_file_no_more_is_read_than_a_map_can_have(tmp_path):
    file = tmp_path / "map.txt"
    file.touch()
    os.truncate(file, 1 << 40)
    with pytest.raises(ValidationError, match="layout"):
        CrafterConfig(**{**DEFAULTS, "layout": str(file)})


def test_switches_and_thresholds_change_single_rules():
    w = world("0T1\n...\n...", thresholds={"wood": 2}, switches={"mobs": False, "yields": "split"})
    assert advance(w, {0: DO}).attempts[0].succeeded is False
    advance(w, {0: DO, 1: DO})
    assert w.env.crafter_state.inventory[:, Item.wood].tolist() == [1, 0]


def test_a_goal_ends_the_episode_and_an_open_one_counts_achievements():
    w = world("0T1\n...\n...", goal="collect:wood")
    assert (w.progress().reached, w.progress().goals) == (0, 1)
    transition = advance(w, {0: DO})
    assert (transition.end, w.progress().reached) == (Outcome.SUCCESS, 1)
    open_end = world("0T1\n...\n...")
    transition = advance(open_end, {0: DO})
    assert (transition.end, open_end.progress().reached, open_end.progress().goals) == (None, 1, 17)
    assert open_end.progress().score == 1


def test_the_score_is_that_of_the_published_table():
    bag = {Item.wood_pickaxe: 1, Item.stone_pickaxe: 1, Item.iron_pickaxe: 1}
    for ore, points in (("T", 1), ("#", 15), ("c", 75), ("i", 150), ("d", 600)):
        w = world(f".1.\n0{ore}2\n...", dict.fromkeys(range(3), bag), profile="coop2", level="coop2")
        advance(w, dict.fromkeys(range(3), DO))
        assert w.progress().score == 3 * points


def test_the_limit_truncates_an_episode_and_the_death_of_all_is_a_failure():
    w = world("0..\n...\n...", max_steps=2)
    assert [advance(w).end, advance(w).end] == [None, "truncated"]
    w = world("0.1\n...\n...")
    w.env.crafter_state.inventory[:, Item.health] = 0
    assert advance(w).end == "failure"


def test_outcomes_tell_what_came_of_each_action_with_its_numbers():
    w = world("0#1\n...\n...", {0: {Item.wood_pickaxe: 1}}, level="hard")
    assert advance(w, {0: DO, 1: DO}).outcomes == (
        {
            "what": "too_few_agents", "agent": 0, "action": "do", "target": "stone", "cell": (1, 0), "required": 2,
            "present": 2, "capable": 1,
        },
        {
            "what": "missing_tool", "agent": 1, "action": "do", "target": "stone", "cell": (1, 0), "required": 2,
            "present": 2, "capable": 1, "item": "wood_pickaxe", "amount": 0,
        },
    )  # fmt: skip


def test_the_record_of_a_reset_names_the_world_and_its_rules():
    w = world(None, n=2, seed=4)
    again = world(None, n=2, seed=4)
    other = world(None, n=2, seed=5)
    record = w.reset(4)
    assert record == again.reset(4)
    assert record["map"] != other.reset(5)["map"]
    assert (record["profile"], record["level"], record["size"]) == ("coop", "easy", [64, 64])


def test_an_episode_replays_from_its_trace(tmp_path):
    from crafter_env import Collect, Craft, Direction, Move, Place, Placeable, Resource, Share, Shareable, Tool

    drawing = "..TT..\n.0.1..\n.TT..."
    plans = [
        Plan(
            (
                Collect(resource=Resource.wood, steps=2),
                Share(agent=1, item=Shareable.wood),
                Move(direction=Direction.up),
            )
        ),
        Plan((Place(object=Placeable.table), Craft(item=Tool.wood_pickaxe))),
    ]
    minds = [Scripted(*[Thought(plan) for plan in plans]) for _ in range(2)]
    path = tmp_path / "trace.jsonl"
    played = world(drawing, max_steps=25)
    play(minds, played, seed=3, path=path)
    again = world(drawing, max_steps=25)
    *_, last = replay(read_trace(path), again)
    assert last == 25
    assert again.ansi() == played.ansi()
    assert again.env.crafter_state.inventory.tolist() == played.env.crafter_state.inventory.tolist()


def test_the_dead_see_nobody_also_where_they_have_died_in_a_step_to_a_place_that_they_had_not_seen():
    w = world(".....!..\n0...!1..\n.....!..")
    assert not w.observe(1).teammates, "out of view"
    advance(w, {1: int(Action.move_left)})
    seen = w.observe(1)
    assert not seen.alive
    assert seen.cell == (4, 1)
    assert not seen.teammates
    assert not any("0" in row for row in seen.map.rows)

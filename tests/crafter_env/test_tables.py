"""Every number of the base rules equals the data file of the installed `crafter`."""

import pytest
from crafter import constants

from crafter_env import COLLECT, LEVELS, MAKE, PLACE, PROFILES, Achievement, Action, Item, Material
from crafter_env.constants import NEED_MAX, NEEDS, WALKABLE


def names(members):
    return [member.name for member in members]


def test_actions_items_materials_and_achievements_have_the_order_of_the_reference():
    assert names(Action)[:17] == list(constants.actions)
    assert names(Item) == list(constants.items)
    assert names(Material)[1:] == list(constants.materials)
    assert names(Achievement) == sorted(constants.achievements)


def test_items_begin_and_end_where_the_reference_says():
    assert constants.items == {
        item.name: {"max": NEED_MAX if item in NEEDS else PROFILES["crafter"].item_cap, "initial": 9 * (item in NEEDS)}
        for item in Item
    }


def test_walkable_materials():
    assert names(WALKABLE) == list(constants.walkable)


def test_collecting():
    for material, recipe in COLLECT.items():
        reference = constants.collect[material.name]
        assert reference["require"] == ({} if recipe.tool is None else {recipe.tool.name: 1})
        assert reference["receive"] == {recipe.item.name: 1}
        assert reference["leaves"] == recipe.leaves.name
        assert reference.get("probability", 1) == recipe.probability
        assert recipe.achievement.name == f"collect_{recipe.item.name}"
    assert {material.name for material in COLLECT} == set(constants.collect)


@pytest.mark.parametrize("action", PLACE)
def test_placing(action):
    recipe, reference = PLACE[action], constants.place[action.name.removeprefix("place_")]
    assert reference["uses"] == {recipe.item.name: recipe.amount}
    assert set(reference["where"]) == set(names(recipe.where))
    assert action.name == f"place_{recipe.puts.name}" == recipe.achievement.name


@pytest.mark.parametrize("action", MAKE)
def test_making(action):
    recipe, reference = MAKE[action], constants.make[action.name.removeprefix("make_")]
    assert reference["uses"] == {item.name: amount for item, amount in recipe.uses}
    assert set(reference["nearby"]) == set(names(recipe.stations))
    assert reference["gives"] == 1
    assert action.name == f"make_{recipe.item.name}" == recipe.achievement.name


RESOURCES = (Material.tree, Material.stone, Material.coal, Material.iron, Material.diamond)


def test_the_levels_of_emcoop_take_as_many_as_its_page_says():
    numbers = {
        name: {
            **{resource.name: LEVELS[name].threshold(resource, 8) for resource in RESOURCES},
            "craft": LEVELS[name].quorum(8),
        }
        for name in ("emcoop_easy", "emcoop_medium", "emcoop_hard")
    }
    assert numbers == {
        "emcoop_easy": {"tree": 1, "stone": 1, "coal": 1, "iron": 1, "diamond": 2, "craft": 1},
        "emcoop_medium": {"tree": 1, "stone": 2, "coal": 2, "iron": 2, "diamond": 2, "craft": 1},
        "emcoop_hard": {"tree": 1, "stone": 1, "coal": 2, "iron": 3, "diamond": 3, "craft": 2},
    }

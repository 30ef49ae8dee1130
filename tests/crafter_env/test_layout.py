"""Drawn worlds, and the messages of those that cannot be."""

import pytest

from crafter_env import CrafterEnv, Entity, Item, Layout, LayoutError, Material
from crafter_env.layout import CREATURE_CHARACTERS, MATERIAL_CHARACTERS

EVERYTHING = "0" + "".join((*MATERIAL_CHARACTERS, *CREATURE_CHARACTERS)) + "\n" + "." * 18 + "\n" + "." * 18


def test_a_drawing_is_drawn_again():
    env = CrafterEnv(layout=Layout.parse(EVERYTHING), render_mode="ansi")
    env.reset(seed=0)
    assert env.render() == EVERYTHING
    state = env.crafter_state
    assert [creature.kind for creature in state.creatures()] == [
        Entity.cow, Entity.zombie, Entity.skeleton, Entity.plant, Entity.plant,
    ]  # fmt: skip
    assert state.entity_at((17, 0)) == Entity.ripe_plant
    assert state.material_at((15, 0)) == Material.path


@pytest.mark.parametrize(
    ("drawing", "inventories", "message"),
    [
        ("..\n..", None, "at least 3 x 3"),
        ("0..\n..\n...", None, "row 1 has 2 cells"),
        ("...\n...\n...", None, "at least one agent"),
        ("0..\n.x.\n...", None, "line 2, column 2: 'x'"),
        ("0..\n.0.\n...", None, "agent 0 is drawn twice"),
        ("1..\n...\n...", None, "agent 0 is not"),
        ("0..\n...\n...", {1: {Item.wood: 1}}, "inventories: there is no agent 1"),
        ("0..\n...\n...", {0: {Item.wood: -1}}, "cannot begin with -1 of wood"),
        ("0..\n...\n...", {0: {Item.food: 10}}, "cannot begin with 10 of food"),
    ],
)
def test_an_impossible_world_is_named(drawing, inventories, message):
    with pytest.raises(LayoutError, match=message):
        Layout.parse(drawing, inventories)


def test_two_cannot_stand_on_one_cell_nor_anybody_in_water():
    grass = [[Material.grass] * 3] * 3
    with pytest.raises(LayoutError, match="agent 1"):
        Layout(grass, [(0, 0), (0, 0)])
    with pytest.raises(LayoutError, match="agent 0"):
        Layout([[Material.water] * 3] * 3, [(0, 0)])
    with pytest.raises(LayoutError, match="cow"):
        Layout(grass, [(0, 0)], [(Entity.cow, (3, 0))])

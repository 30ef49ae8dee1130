"""Pictures: what stands where is where it is painted, light fades, figures count."""

from dataclasses import replace

import numpy as np
import pytest

from crafter_env import Action, CrafterEnv, Item, Layout, Material
from crafter_env.kernels.arrays import STEP
from crafter_env.render import DIGITS, DRAWINGS, digit, sprite, tiles
from tests.crafter_env.boards import NOOP, QUIET, world

UNIT = 7
NOON = 59
"""The step after which the light is 1."""


def picture(drawing, inventories=None, *, steps=NOON, **arguments):
    """What agent 0 sees after one noop at a time of the day."""
    env = world(drawing, inventories, profile=QUIET, obs="pixels", **arguments)
    env.crafter_state.world.counters[STEP] = steps
    observations, *_ = env.step(dict.fromkeys(env.agents, NOOP))
    return observations["agent_0"]["pixels"]


def cell(seen, column, row):
    """A cell of a picture of 64 x 64, which has no border on the left and above."""
    return seen[row * UNIT : (row + 1) * UNIT, column * UNIT : (column + 1) * UNIT]


def test_materials_are_where_they_are_seen_and_nothing_lies_off_the_map():
    seen = picture("~T#\n.0.\n:_!")
    grounds, _ = tiles(UNIT)
    for column, row, material in (
        (3, 2, Material.water), (4, 2, Material.tree), (5, 2, Material.stone), (3, 4, Material.sand),
        (4, 4, Material.path), (5, 4, Material.lava), (0, 0, Material.none), (8, 6, Material.none),
    ):  # fmt: skip
        np.testing.assert_allclose(cell(seen, column, row), grounds[material], atol=1)


def test_every_material_and_every_sprite_looks_different():
    grounds, sprites = tiles(UNIT)
    for pictures in (grounds, sprites):
        assert len(np.unique(pictures.reshape(len(pictures), -1), axis=0)) == len(pictures)
    assert all(len(rows) == 8 and {len(row) for row in rows} == {8} for rows in DRAWINGS.values())
    assert len({tuple(rows) for rows in DIGITS}) == 10
    assert digit(1, 2).shape == (10, 6)
    assert sprite("arrow", 16, turns=1).shape == (16, 16, 4)


def test_oneself_looks_different_from_a_teammate():
    seen = picture("...\n.01\n...")
    _, sprites = tiles(UNIT)
    ink = sprites[3][..., 3] > 0
    np.testing.assert_allclose(cell(seen, 4, 3)[ink], sprites[3][ink][:, :3], atol=1)
    np.testing.assert_allclose(cell(seen, 5, 3)[ink], sprites[8][ink][:, :3], atol=1)


def test_night_is_darker_and_a_dream_darker_still():
    day, night = picture("...\n.0.\n..."), picture("...\n.0.\n...", steps=209)
    assert night[: 7 * UNIT].mean() < 0.8 * day[: 7 * UNIT].mean()
    env = world("...\n.0.\n...", {0: {Item.energy: 3}}, profile=QUIET, obs="pixels")
    env.crafter_state.world.counters[STEP] = NOON
    observations, *_ = env.step({"agent_0": Action.sleep})
    asleep = observations["agent_0"]["pixels"][: 7 * UNIT].astype(int)
    assert asleep.mean() < day[: 7 * UNIT].mean()
    assert np.ptp(asleep, axis=2).max() <= 9  # grey but for the tint


@pytest.mark.parametrize(("amount", "figures"), [(7, "7"), (15, "15")])
def test_the_bag_shows_an_item_and_its_amount(amount, figures):

    env = CrafterEnv(
        layout=Layout.parse("...\n.0.\n...", {0: {Item.wood: amount}}),
        profile=replace(QUIET, item_cap=20),
        obs="pixels",
    )
    observations, _ = env.reset(seed=0)
    shown = cell(observations["agent_0"]["pixels"], Item.wood, 7)
    for number, figure in enumerate(reversed(figures)):
        right = UNIT - 4 * number
        np.testing.assert_array_equal(shown[2:, right - 3 : right, 0] == 255, digit(int(figure), 1))
    assert not cell(observations["agent_0"]["pixels"], Item.stone, 7).any()


def test_looking_does_not_change_the_world():
    seen, unseen = CrafterEnv(2, obs="both"), CrafterEnv(2)
    seen.reset(seed=0)
    unseen.reset(seed=0)
    for _ in range(250):
        for env in (seen, unseen):
            env.crafter_state.inventory[:, :4] = 9
            env.step(dict.fromkeys(env.agents, Action.move_left))
    assert (seen.crafter_state.world.generator == unseen.crafter_state.world.generator).all()
    assert (seen.state() == unseen.state()).all()

"""The contract of pictures, held by every world of this project."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from maeil.world import World
from quorum.configuration.cell import Cell
from quorum.configuration.registry import worlds
from quorum_base.drawing import PAPER, Drawable

CELLS = (["n=3"], ["n=2", "env=crafter_coop"], ["n=4", "env=transport"], ["n=4", "env=transport_hard"],
         ["n=3", "env=squeeze"], ["n=3", "env=foraging"], ["n=2", "env=overcooked"])  # fmt: skip
CASES = pytest.mark.parametrize("arguments", CELLS, ids=lambda arguments: arguments[-1])


def built(arguments: list[str]) -> World:
    configuration = Cell.compose(arguments).configuration
    world: World = worlds.get(configuration.env.name).build(configuration.env, None)
    world.reset(0)
    return world


@CASES
def test_a_drawing_is_well_formed_and_to_draw_changes_nothing(arguments: list[str]) -> None:
    world = built(arguments)
    assert isinstance(world, Drawable)
    canvas = world.canvas()
    for _ in range(4):
        drawing = world.draw()
        assert drawing == world.draw()
        assert len(drawing.ground) in (0, canvas.width * canvas.height)
        assert set(drawing.ground) - {PAPER} <= set(range(len(canvas.kinds)))
        for mark in drawing.marks.values():
            assert 0 <= mark.kind < len(canvas.kinds)
            assert -canvas.margin - 0.5 <= mark.x
            assert mark.x + mark.width <= canvas.width + canvas.margin + 0.5
            assert -canvas.margin - 0.5 <= mark.y
            assert mark.y + mark.height <= canvas.height + canvas.margin + 0.5
        assert len(drawing.holdings) in (0, len(world.agents))
        world.step([1] * len(world.agents))


@CASES
def test_kinds_are_distinguished_without_their_colours(arguments: list[str]) -> None:
    world = built(arguments)
    assert isinstance(world, Drawable)
    kinds = world.canvas().kinds
    assert len(kinds) < PAPER
    grounds = {kind for kind in world.draw().ground if kind != PAPER}
    looks = Counter((i in grounds, kind.shape, kind.texture, kind.sign) for i, kind in enumerate(kinds))
    assert looks.most_common(1)[0][1] == 1
    assert all(re.fullmatch("#[0-9a-f]{6}", colour) for kind in kinds for colour in (kind.light, kind.dark))


def test_primitives_have_names() -> None:
    cube, crafter = built(["n=3"]), built(["n=2", "env=crafter_coop"])
    assert isinstance(cube, Drawable)
    assert isinstance(crafter, Drawable)
    assert [cube.primitive_name(code) for code in range(5)] == ["stay", "up", "down", "left", "right"]
    from crafter_env.constants import Item
    from crafter_env.symbolic.controller import encode_share

    assert crafter.primitive_name(5) == "do"
    assert crafter.primitive_name(encode_share(1, Item.wood, 3, 2)) == "share 3 wood with agent_1"

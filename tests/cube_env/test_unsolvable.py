"""A board that nobody can solve is refused, unless it is wanted or was played before that was asked."""

from __future__ import annotations

import pytest

from quorum.configuration.cell import Cell
from quorum.configuration.registry import worlds
from quorum_base.environments.errors import WorldError

HEAVY = ("n=2", "env.blocks={1: 1, 3: 2}")
DRAWN = ("n=1", 'env.layout=".AA|\n0AA|\n...|\n...|\n"')


def build(*words: str) -> None:
    env = Cell.compose(words).configuration.env
    worlds.get(env.name).build(env, None)


@pytest.mark.parametrize(
    ("words", "reported"),
    [
        (
            HEAVY,
            r"^blocks: a block of weight 3 needs 3 agents at once, but n is 2: set n=3, or env.allow_unsolvable=true",
        ),
        (DRAWN, r"^layout: a block of weight 2 needs 2 agents at once, but n is 1: set n=2"),
        (("env=cube_coop2", "n=2"), r"^blocks: a block of weight 3"),
    ],
)
def test_a_block_that_is_heavier_than_the_team_is_refused(words: tuple[str, ...], reported: str) -> None:
    with pytest.raises(WorldError, match=reported):
        build(*words)
    build(*words, "env.allow_unsolvable=true")


@pytest.mark.parametrize("n", [1, 2, 3, 8, 32])
def test_the_boards_of_the_curriculum_can_be_solved(n: int) -> None:
    build(f"n={n}")


def test_weights_of_the_curriculum_beside_blocks_of_ones_own_are_refused() -> None:
    for words in ("env.blocks={1: 2}", "env.layout=occluded_face"):
        with pytest.raises(WorldError, match=r"^weights: only for the curriculum, but env\.(blocks|layout) sets"):
            build("env.weights=every", words)

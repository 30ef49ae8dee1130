import pickle

import numpy as np
import pytest

from cube_env import PlacementError, Scenario, curriculum, place

TABLE = """
1 20 1x1 1 1 1
2 20 2x1,1x2 3 6 4
4 20 3x1,1x2 3 11 5
8 20 5x1,2x2,1x3 6 36 12
16 20 9x1,4x2,2x3,1x4 10 129 27
20 20 11x1,5x2,2x3,1x4 10 187 31
32 32 17x1,8x2,4x3,2x4,1x5 15 486 58
64 64 33x1,16x2,8x3,4x4,2x5,1x6 21 1883 121
128 128 65x1,32x2,16x3,8x4,4x5,2x6,1x7 28 7408 248
256 256 129x1,64x2,32x3,16x4,8x5,4x6,2x7,1x8 36 29381 503
"""


@pytest.mark.parametrize("line", TABLE.split("\n")[1:-1])
def test_curriculum_is_the_published_ladder(line):
    n, side, ladder, blocks, cells, weight = line.split()
    scenario = curriculum(int(n))
    assert (scenario.side, scenario.agents) == (int(side), int(n))
    assert list(scenario.blocks.items()) == [tuple(map(int, rung.split("x"))) for rung in ladder.split(",")]
    assert len(scenario.weights) == int(blocks)
    assert sum(w * w for w in scenario.weights) == int(cells)
    assert sum(scenario.weights) == int(weight)


@pytest.mark.parametrize("n", [0, -3])
def test_curriculum_begins_at_one(n):
    with pytest.raises(PlacementError, match=rf"n = {n}: the curriculum begins at n = 1"):
        curriculum(n)


def test_scenario_lists_weights_heaviest_first():
    assert Scenario(side=15, agents=3, blocks={1: 3, 3: 1, 2: 2}).weights == (3, 2, 2, 1, 1, 1)


def test_scenario_is_a_value():
    blocks = {2: 1}
    scenario = Scenario(side=15, agents=3, blocks=blocks)
    blocks[2] = 5
    assert scenario == Scenario(side=15, agents=3, blocks={2: 1})
    assert hash(scenario) == hash(Scenario(side=15, agents=3, blocks={2: 1}))
    assert pickle.loads(pickle.dumps(scenario)) == scenario
    with pytest.raises(TypeError):
        scenario.blocks[2] = 5


@pytest.mark.parametrize(
    ("side", "agents", "blocks", "message"),
    [
        (15, 16, {1: 1}, "16 agents do not fit column 0 of a grid of side 15: choose 1 to 15 agents or a larger side"),
        (15, 0, {1: 1}, "0 agents do not fit"),
        (15, 3, {13: 1}, "a block of weight 13 does not fit a grid of side 15: weights are 1 to 12"),
        (15, 3, {0: 1}, "a block of weight 0 does not fit"),
        (15, 3, {1: 0}, "0 blocks of weight 1: a count is at least 1"),
        (15, 3, {}, "needs at least one block"),
        (3, 1, {1: 1}, "a grid of side 3 has no room for a block"),
    ],
)
def test_scenario_names_the_number_that_is_out_of_range(side, agents, blocks, message):
    with pytest.raises(PlacementError, match=message):
        Scenario(side=side, agents=agents, blocks=blocks)


PUBLISHED_BLOCKS = {1: 1, 2: 3, 4: 3, 8: 6}
"""Blocks in all, of the results on the CUBE page."""


def test_every_weight_is_the_pages_words_taken_literally_and_halving_has_its_numbers_of_blocks():
    assert dict(curriculum(8, "every").blocks) == {5: 1, 4: 2, 3: 3, 2: 4, 1: 5}
    assert {n: len(curriculum(n).weights) for n in PUBLISHED_BLOCKS} == PUBLISHED_BLOCKS
    assert {n: len(curriculum(n, "every").weights) for n in PUBLISHED_BLOCKS} == {1: 1, 2: 3, 4: 6, 8: 15}


def test_halving_covers_about_half_of_a_large_grid_as_the_page_says_and_every_weight_has_no_room():
    for n in (20, 32, 64, 128, 256):
        scenario = curriculum(n)
        assert 0.44 < sum(weight**2 for weight in scenario.weights) / scenario.side**2 < 0.5
    place(curriculum(9, "every"), np.random.default_rng(0))
    with pytest.raises(PlacementError, match="no room for 1 of weight 6"):
        place(curriculum(10, "every"), np.random.default_rng(0))

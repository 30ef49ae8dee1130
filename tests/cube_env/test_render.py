import numpy as np
import pytest

from cube_env import CubeEnv, CubeError, Layout, render_rgb
from cube_env.render import BLOCKS, GOAL, GROUND, INK, PAPER
from tests.cube_env.boards import board, play

BOARD = """
0AAA...|
.AAA...|
.AAAB..|
.......1
"""


def pixel(image, cell, row, col, right=0.5):
    return tuple(image[int((row + 0.5) * cell), int((col + right) * cell)].tolist())


@pytest.mark.parametrize("cell", [4, 7, 8, 20, 36])
def test_image_shows_goal_ground_blocks_and_agents_at_any_cell_size(cell):
    image = render_rgb(8, play(BOARD).snapshot(), cell)
    assert image.shape == (8 * cell + 1, 8 * cell + 1, 3)
    assert image.dtype == np.uint8
    assert pixel(image, cell, 5, 3) == GROUND
    assert pixel(image, cell, 5, 7) == GOAL
    assert pixel(image, cell, 0, 1) == BLOCKS[0]
    assert pixel(image, cell, 2, 4, 0.25) == BLOCKS[1]
    assert pixel(image, cell, 0, 0, 0.3) == INK
    assert pixel(image, cell, 3, 7, 0.3) == INK


def test_image_writes_weights_and_indices_where_they_fit():
    image = render_rgb(8, play(BOARD).snapshot(), 36)
    assert (image[36 : 2 * 36, 2 * 36 : 3 * 36] == INK).all(axis=2).any(), "the weight of block 0 is in its middle"
    assert (image[:36, :36] == PAPER).all(axis=2)[10:26, 10:26].any(), "the index of agent 0 is in its disc"
    small = render_rgb(8, play(BOARD).snapshot(), 4)
    assert not (small == PAPER).all(axis=2)[1:4, 1:4].any(), "an index of 5 pixels has no room in a disc of 4"


def test_images_do_not_share_pixels():
    snapshot = play(BOARD).snapshot()
    first = render_rgb(8, snapshot, 12)
    first[...] = 0
    assert render_rgb(8, snapshot, 12).any()


@pytest.mark.parametrize(("n", "pixels"), [(1, 721), (64, 705), (256, 1025)])
def test_the_default_image_fits_a_screen(n, pixels):
    env = CubeEnv(n=n, render_mode="rgb_array")
    env.reset(seed=0)
    assert env.render().shape == (pixels, pixels, 3)


def test_text_of_a_board_is_its_layout():
    env = CubeEnv(n=8, render_mode="ansi")
    env.reset(seed=0)
    env.step_array(np.full(8, 4))
    picture = env.snapshot()
    assert Layout.parse(env.render()) == Layout(
        20, picture.agents, [(b.weight, (b.row, b.col)) for b in picture.blocks]
    )


def test_text_shows_a_board_after_a_delivery():
    assert play("..0A|\n.B..|", "R", render_mode="ansi").render() == board("...0|\n.B..|")


def test_text_of_a_board_with_more_than_ascii_can_name():
    env = CubeEnv(n=256, render_mode="ansi")
    env.reset(seed=0)
    text = env.render()
    assert len(text.splitlines()) == 256
    assert text.count("@") == 256 - 36
    assert text.count("#") == sum(b.weight**2 for b in env.snapshot().blocks[26:])


def test_rendering_without_a_mode_says_how_to_get_one():
    env = CubeEnv(n=2)
    env.reset(seed=0)
    with pytest.raises(CubeError, match='render_mode="rgb_array"'):
        env.render()
    assert env.close() is None

import numpy as np
import pytest

from cube_env import Action, CubeEnv, Layout, Push, PushOutcome, WorldError, render_rgb
from cube_env.render import BLOCKS, GOAL, GROUND, INK, PAPER, PIXELS, STROKES, fitting_height, number_mask
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


def arrow_pixels(image, plain, cell, row, col):
    """Which pixels of a cell an arrow has changed."""
    area = (slice(row * cell, (row + 1) * cell + 1), slice(col * cell, (col + 1) * cell + 1))
    return (image[area] != plain[area]).any(axis=2)


@pytest.mark.parametrize("cell", [1, 2, 5, 9, 24, 48])
@pytest.mark.parametrize(
    ("letter", "agent", "edge"),
    [("R", (3, 2), np.s_[:, 0]), ("L", (3, 4), np.s_[:, -1]), ("D", (2, 3), np.s_[0]), ("U", (4, 3), np.s_[-1])],
)
def test_an_arrow_points_from_the_line_into_the_block(cell, letter, agent, edge):
    layout = Layout(8, [agent], [(1, (3, 3))])
    env = CubeEnv(layout=layout)
    env.reset(seed=0)
    report = env.step_array([{"U": 1, "D": 2, "L": 3, "R": 4}[letter]])
    (block,) = env.snapshot().blocks
    plain = render_rgb(8, env.snapshot(), cell)
    image = render_rgb(8, env.snapshot(), cell, report.pushes)
    changed = arrow_pixels(image, plain, cell, block.row, block.col)
    assert changed.any()
    assert changed.sum() == (image != plain).any(axis=2).sum(), "nothing else has changed"
    if cell > 8:
        assert changed[edge].sum() >= changed.sum() / cell, "it is broadest where the agent is"
        opposite = {"R": np.s_[:, -1], "L": np.s_[:, 0], "D": np.s_[-1], "U": np.s_[0]}[letter]
        assert not changed[opposite].any()


def test_only_the_heads_of_lines_have_arrows():
    env = play("...|\n10A|", "RR")
    plain = render_rgb(4, env.snapshot(), 20)
    image = render_rgb(4, env.snapshot(), 20, env.report.pushes)
    changed = {(row // 20, col // 20) for row, col in np.argwhere((image != plain).any(axis=2)).tolist()}
    assert changed == {(1, 3)}, "the block is delivered, and the arrow stands where it went"


def test_a_failed_push_is_hollow_and_has_a_bar():
    snapshot = play(BOARD).snapshot()
    images = [
        render_rgb(8, snapshot, 40, [Push(0, Action.RIGHT, (0,), 1, 3, outcome)])
        for outcome in (PushOutcome.moved, PushOutcome.force)
    ]
    inside = [tuple(image[20, 40 + 5].tolist()) for image in images]
    assert inside == [INK, PAPER]
    bar = [image[20 - 8, 40 + 14].astype(int) for image in images]
    assert abs(bar[1] - INK).max() < 40
    assert tuple(bar[0].tolist()) == BLOCKS[0]


def test_the_environment_draws_the_pushes_of_its_last_step():
    env = play("...|\n0A.|", render_mode="rgb_array")
    before = env.render()
    np.testing.assert_array_equal(before, render_rgb(4, env.snapshot()))
    env.step_array([4])
    assert (env.render() != render_rgb(4, env.snapshot())).any()


def test_a_cell_has_at_least_one_pixel():
    assert render_rgb(8, play(BOARD).snapshot(), 1).shape == (9, 9, 3)
    with pytest.raises(WorldError, match="cell_size = 0"):
        render_rgb(8, play(BOARD).snapshot(), 0)


@pytest.mark.parametrize("digits", ["0", "7", "12", "129", "1234567890"])
def test_a_number_fits_its_box_or_is_left_out(digits):
    for height in range(3, 70, 3):
        for width in (3, 8, 20, 50, 200):
            found = fitting_height(digits, height, width)
            assert found == 0 or found >= 5
            if found:
                mask = number_mask(digits, found)
                assert mask.shape[0] <= height
                assert mask.shape[1] <= width + 1
                assert 0 <= mask.min() < mask.max() <= 1


def test_digits_differ_from_each_other_at_every_height():
    assert set(PIXELS) == set(STROKES) == set("0123456789")
    for height in (5, 9, 14, 40):
        masks = [number_mask(digit, height) for digit in "0123456789"]
        for i, first in enumerate(masks):
            for second in masks[i + 1 :]:
                assert first.shape != second.shape or np.abs(first - second).sum() > 0.03 * first.size


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
    with pytest.raises(WorldError, match='render_mode="rgb_array"'):
        env.render()
    assert env.close() is None

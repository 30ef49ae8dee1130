import numpy as np
import pytest

from cube_env import CubeEnv, Layout, WorldError
from cube_env.symbolic.picture import KINDS, image
from quorum_base.painting.colours import parse
from tests.cube_env.boards import board, play


def test_the_image_shows_goal_blocks_and_agents():
    env = play("0AA...|\n.AA...|\n......|\n......|\n......|\n......|\n......1", render_mode="rgb_array")
    seen = env.render()
    assert seen.shape == (7 * 48 + 1, 7 * 48 + 1, 3)
    assert seen.dtype == np.uint8
    goal, block, agent = (parse(kind.light) for kind in KINDS[:3])
    assert tuple(seen[20, 20 + 48]) == block
    assert tuple(seen[24, 8]) == tuple(seen[24 + 6 * 48, 8 + 6 * 48]) == agent
    assert (seen[48:96, 6 * 48 : 7 * 48] == goal).all(axis=2).any()
    assert not (seen[48:96, :48] == goal).all(axis=2).any()


def test_the_environment_draws_the_pushes_of_its_last_step():
    env = play("...|\n0A.|", render_mode="rgb_array")
    before = env.render()
    np.testing.assert_array_equal(before, image(env.snapshot()))
    env.step_array([4])
    assert (env.render() != image(env.snapshot())).any()


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

"""With one player and the profile `crafter` the world is PyPI `crafter`, cell by cell and draw by draw."""

import pytest

from crafter_env import Achievement
from tests.crafter_env.lockstep import assert_same, pair, play
from tests.crafter_env.streams import STREAMS, Climber, Fighter, Random, Sleeper

WORLDS, RUNS, STEPS = 100, 50, 2000


@pytest.mark.parametrize("seed", [0, 7, 2**31 - 2, 2**40])
def test_a_world_is_that_of_the_reference(seed):
    assert_same(*pair(seed))


@pytest.mark.parametrize(("stream", "seed", "top_up"), [(Random, 0, False), (Sleeper, 2, False)])
def test_a_few_lives_are_those_of_the_reference(stream, seed, top_up):
    _, deaths = play(seed, stream(seed), 700, top_up)
    assert deaths > 1


def test_a_climb_is_that_of_the_reference():
    achieved, _ = play(7, Climber(7), 500, top_up=True)
    assert achieved[[Achievement.make_iron_sword, Achievement.collect_diamond]].all()


def test_fights_are_those_of_the_reference():
    achieved, _ = play(3, Fighter(3), 700, top_up=True)
    assert achieved[[Achievement.defeat_zombie, Achievement.defeat_skeleton, Achievement.eat_cow]].all()


def test_an_episode_ends_where_that_of_the_reference_does():
    play(11, Random(11), 130, top_up=True, length=60)


@pytest.mark.conformance
@pytest.mark.parametrize("seed", range(WORLDS))
def test_every_world_is_that_of_the_reference(seed):
    assert_same(*pair(seed))


@pytest.mark.conformance
@pytest.mark.parametrize("seed", range(RUNS))
def test_every_run_is_that_of_the_reference(seed):
    stream = STREAMS[seed % len(STREAMS)]
    play(seed, stream(seed), STEPS, top_up=seed // len(STREAMS) % 2 == 1)

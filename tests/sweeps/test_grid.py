"""The grammar of a grid: what each word spells out to, and which are refused."""

from __future__ import annotations

import pytest

from quorum.configuration.compose import Composer
from quorum.configuration.option_folders import ConfigDir
from quorum.sweeps.grid import axes, count, joined, points
from quorum_base.user_errors import UserError
from tests.conftest import PLUGINS


def spelled(*words: str, config_dir: ConfigDir = ()) -> list[list[str]]:
    grid = axes(words, Composer(config_dir))
    return [[str(override.input_line) for override in point] for point in points(grid)]


@pytest.mark.parametrize(
    ("word", "values"),
    [
        ("n=2,4,8", ["n=2", "n=4", "n=8"]),
        ("n=choice(2,4)", ["n=2", "n=4"]),
        ("seed=range(0,3)", ["seed=0", "seed=1", "seed=2"]),
        ("seed=range(0,7,3)", ["seed=0", "seed=3", "seed=6"]),
        ("n=sort(8,2,4,reverse=true)", ["n=8", "n=4", "n=2"]),
        ("topology=glob(de*)", ["topology=debate", "topology=decentralized"]),
        ("topology=glob([de*,c*],exclude=*tralized)", ["topology=chain", "topology=debate"]),
        ("env.blocks={1: 2},{2: 1, 3: 1}", ["env.blocks={1:2}", "env.blocks={2:1,3:1}"]),
        ("env.layout='a,b'", ["env.layout='a,b'"]),
        ("env.layout='a, b',null", ["env.layout='a, b'", "env.layout=null"]),
        ("+env.blocks.4=1,2", ["+env.blocks.4=1", "+env.blocks.4=2"]),
    ],
)
def test_a_word_spells_out_to_one_override_a_value(word: str, values: list[str]) -> None:
    assert [point[0].replace(": ", ":").replace(", 3", ",3") for point in spelled(word)] == values


def test_the_last_word_changes_fastest() -> None:
    assert spelled("n=2,4", "seed=0,1") == [["n=2", "seed=0"], ["n=2", "seed=1"], ["n=4", "seed=0"], ["n=4", "seed=1"]]


def test_glob_finds_options_of_the_users_folder() -> None:
    found = spelled("env=glob(corridor*)", config_dir=PLUGINS / "corridor_configs")
    assert found == [["env=corridor"], ["env=corridor_short"]]


def test_a_later_argument_takes_the_place_of_an_earlier_one_of_the_same_key() -> None:
    grid = joined(axes(["n=2,4", "seed=0,1"], Composer()), axes(["seed=7"], Composer()))
    assert [axis.text for axis in grid] == ["n=2,4", "seed=7"]


@pytest.mark.parametrize(
    ("word", "reason"),
    [
        ("n=shuffle(1,2)", "shuffle() draws without a seed"),
        ("seed=shuffle(range(0,3))", "shuffle() draws without a seed"),
        ("n=interval(0,1)", "interval() gives no list of values"),
        ("seed=range(5,5)", "the grid is empty"),
        ("topology=glob(z*)", "the grid is empty"),
        ("n=glob(2*)", "glob() works only for the options of a group"),
        ("n=2,,4", "cannot be read"),
        ("n", "is not KEY=VALUE"),
        ("hydra.sweeper=basic", "Hydra's own settings"),
    ],
)
def test_what_names_no_grid_is_refused_with_a_reason(word: str, reason: str) -> None:
    with pytest.raises(UserError) as caught:
        axes([word], Composer())
    assert reason in str(caught.value)
    assert str(caught.value).startswith((word.partition("=")[0], repr(word.partition("=")[0])[:-1]))


def test_a_grid_that_is_too_large_is_refused_with_its_sizes() -> None:
    grid = axes(["n=range(0,2000)", "seed=range(0,1000)"], Composer())
    with pytest.raises(UserError, match=r"2,000,000 points \(n: 2,000 x seed: 1,000\)"):
        count(grid)


@pytest.mark.parametrize("word", ["n=range(0,100000000)", "n=range(0,100,0.000001)", "n=range(100000000,0,-1)"])
def test_a_range_that_is_too_long_is_refused_without_counting_through_it(word: str) -> None:
    with pytest.raises(UserError, match=r"n has 100,000,000 values; a grid has at most 1,000,000 points"):
        axes([word], Composer())

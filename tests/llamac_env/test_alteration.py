"""Boards of grid transportation, and the curve of the squeeze, that are changed in the middle of an episode."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import chain
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from llamac_env import Colour, LayoutError, SqueezeEnv, WorldError
from llamac_env.squeeze.game import Game
from llamac_env.squeeze.world import SqueezeWorld
from llamac_env.transport.arrays import COLOURS
from llamac_env.transport.env import TransportEnv
from llamac_env.transport.text import write_board
from maeil.controllers import SUCCESS, failed
from maeil.plans import Task
from maeil.world import Progress
from tests.llamac_env.boards import drawn, grid
from tests.llamac_env.test_squeeze import world as squeeze_world
from tests.llamac_env.test_transport_world import RED, go, joint, world

PLACES = {"easy": ["0.5_0.5", "0.5_1.5", "1.5_0.5", "1.5_1.5", "9.5_0.5"]}
PLACES["hard"] = [*PLACES["easy"], "0.0_0.0", "1.0_1.0", "2.0_1.0"]
ITEMS = [f"{kind}_{colour}" for kind in ("box", "target") for colour in ("red", "green")]


def possible(items: dict[str, list[str]], hard: bool) -> bool:
    """Whether there can be such a board; written without the package."""
    count = Counter(chain.from_iterable(items.values()))
    boxes = {name: number for name, number in count.items() if name.startswith("box")}
    if not boxes or any(count.get(f"target{name[3:]}") != number for name, number in boxes.items()):
        return False
    if any(name.startswith("target") and f"box{name[6:]}" not in boxes for name in count):
        return False
    if max(boxes.values()) > (1 if hard else 3):
        return False
    for place, found in items.items():
        corner = place[2] == "0"
        here = sum(name.startswith("box") for name in found)
        if (corner and len(found) > here) or (here and corner != hard) or (hard and here > 1):
            return False
    return True


@given(
    difficulty=st.sampled_from(["easy", "hard"]),
    seed=st.integers(0, 30),
    data=st.data(),
)
def test_a_change_gives_the_board_that_it_names_or_is_refused_and_leaves_all_as_it_is(
    difficulty: str, seed: int, data: st.DataObject
) -> None:
    where = grid(2, 2, difficulty)
    env = TransportEnv(where, infos="none")
    env.reset(options={"board": drawn(2, 2, difficulty, seed)})
    before = write_board(env.board)
    items = st.lists(st.sampled_from(ITEMS), max_size=2)
    named = data.draw(st.dictionaries(st.sampled_from(PLACES[difficulty]), items, max_size=3))
    if data.draw(st.booleans()):  # the whole board, so that some of them can be
        named = {**{place: [] for place in before}, **named}
    wanted = {**before, **named}
    if named.keys() <= before.keys() and possible(wanted, difficulty == "hard"):
        placed = env.boxes - len(env.board.boxes)
        changed = env.change({"items": named})
        now = write_board(env.board)
        assert {place: sorted(found) for place, found in now.items()} == {p: sorted(f) for p, f in wanted.items()}
        assert changed == (now != before)
        assert env.boxes - len(env.board.boxes) == placed
        fresh = TransportEnv(where, infos="none")
        fresh.reset(options={"board": env.board})
        assert (env.state() == fresh.state()).all()
        assert env.symbolic_observation(0).can_do == fresh.symbolic_observation(0).can_do
        assert env.state_space.contains(env.state())
    else:
        with pytest.raises(LayoutError):
            env.change({"items": named})
        assert write_board(env.board) == before


@given(difficulty=st.sampled_from(["easy", "hard"]), seed=st.integers(0, 30), data=st.data())
def test_boxes_and_targets_can_be_dealt_out_again(difficulty: str, seed: int, data: st.DataObject) -> None:
    env = TransportEnv(grid(2, 2, difficulty), infos="none")
    env.reset(options={"board": drawn(2, 2, difficulty, seed)})
    wanted: dict[str, list[str]] = {place: [] for place in write_board(env.board)}
    cells = [place for place in wanted if place[2] == "5"]
    corners = data.draw(st.permutations([place for place in wanted if place[2] == "0"]))
    for number, box in enumerate(env.board.boxes):
        place = corners[number] if difficulty == "hard" else data.draw(st.sampled_from(cells))
        wanted[place].append(f"box_{box.colour}")
    for target in env.board.targets:
        wanted[data.draw(st.sampled_from(cells))].append(f"target_{target.colour}")
    env.change({"items": wanted})
    now = write_board(env.board)
    assert {place: sorted(found) for place, found in now.items()} == {p: sorted(f) for p, f in wanted.items()}
    assert not env.change({"items": now})


def test_a_move_whose_box_is_somewhere_else_now_ends_as_it_would_if_others_had_taken_it() -> None:
    w = world(RED)
    controller = w.start_action(0, go("red", "square[0.5, 1.5]"))
    assert controller.status() is None
    w.change({"items": {"0.5_0.5": [], "1.5_1.5": ["box_red"]}})
    assert controller.status() == replace(failed("box_not_here"), unmet=Task("place", "box_red"))
    other = w.start_action(3, go("red", "square[0.5, 1.5]"))
    primitives = joint(w, a3="move(box_red, square[0.5, 1.5])")
    assert [state.task.target for state in w.constraints(primitives, [None] * len(primitives))] == ["box_red"]
    assert other.status() is None
    assert other.act() == primitives[3]
    w.step(primitives)
    assert other.status() == SUCCESS


def test_boxes_that_come_and_go_are_goals_that_come_and_go() -> None:
    w = world({"box_red": "0.5_0.5 0.5_1.5", "target_red": "0.5_1.5 1.5_1.5"})
    w.step(joint(w, a1="move(box_red, target_red)"))
    assert w.progress() == Progress(1, 2, 1.0)
    w.change({"items": {"1.5_0.5": ["box_blue", "target_blue"]}})
    assert w.progress() == Progress(1, 3, 1.0)
    assert {state.task.target for state in w.constraints([0] * 4, [None] * 4)} == {"box_red", "box_blue"}
    w.change({"items": {"0.5_0.5": [], "1.5_1.5": []}})
    assert w.progress() == Progress(1, 2, 1.0)
    assert [(state.task.target, state.threshold) for state in w.constraints([0] * 4, [None] * 4)] == [("box_red", 0)]
    assert w.global_observation().boxes_left == 1


REFUSED: dict[str, tuple[Any, str]] = {
    "part": ({"boxes": {}}, "boxes: unknown part"),
    "whole": ({"items": []}, r"items: \[\] is no object"),
    "place": ({"items": {"7.5_0.5": []}}, "items.7.5_0.5: there is no such place on this grid: they are 0.5_0.5"),
    "names": ({"items": {"0.5_0.5": [3]}}, r"items.0.5_0.5: \[3\] is no list of names"),
    "text": ({"items": {"0.5_0.5": "box_red"}}, "items.0.5_0.5: 'box_red' is no list of names"),
    "colour": ({"items": {"0.5_0.5": ["box_pink"]}}, "0.5_0.5: 'box_pink' is neither box_ nor target_"),
    "alone": ({"items": {"0.5_0.5": ["box_red", "box_blue"]}}, "blue: 1 boxes and 0 targets"),
    "none": ({"items": {"0.5_0.5": [], "0.5_1.5": []}}, "no box would be left"),
    "many": ({"items": {"1.5_1.5": ["box_red", "target_red"] * 3}}, "4 boxes of red: there are 3 of a colour at most"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_cannot_be_on_a_board_is_refused_with_its_place(what: str) -> None:
    w = world(RED)
    before = write_board(w.env.board)
    change, message = REFUSED[what]
    with pytest.raises(LayoutError, match=message):
        w.change(change)
    assert write_board(w.env.board) == before


def test_all_colours_can_be_named() -> None:
    assert set(map(str, Colour)) == set(map(str, COLOURS))


def squeeze(**values: Any) -> SqueezeWorld:
    return squeeze_world(max_steps=6, **values)


def test_past_rounds_have_paid_what_they_paid_and_coming_ones_pay_by_the_new_curve() -> None:
    w = squeeze(picks="all")
    old = w.env.game
    w.step([4, 5, 5])
    before = w.progress(), w.observe(0), w.ansi().splitlines()[1], w.draw()
    w.change({"mu": 5.0, "sigma": 2})
    new = Game(3, 5.0, 2.0)
    assert w.env.game == new
    assert (w.progress(), w.observe(0), w.ansi().splitlines()[1]) == before[:3]
    reported = w.draw()
    assert reported.caption == before[3].caption
    assert {name for name in reported.marks if reported.marks[name] != before[3].marks[name]} == {"best"}
    w.step([2, 2, 2])
    history = w.observe(0).history
    assert [found.reward for found in history] == [old.reward(14), new.reward(6)]
    assert w.env.last_share() == new.reward(6) / new.best_reward
    assert w.global_observation().history[0].reward == old.reward(14)
    assert np.isclose(w.env.state()[-1], 5 / 27)


def test_what_is_not_named_of_a_curve_stays() -> None:
    w = squeeze(mu=12, sigma=3)
    w.change({"sigma": 4})
    assert w.env.game == Game(3, 12.0, 4.0)
    w.change({"rho": 0.5})
    assert w.env.game == Game(3, 13.5, 4.0)
    assert not w.env.change({"mu": 13.5})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"peak": 1}, "peak: it cannot be changed; you can change rho, mu, sigma"),
        ({"mu": "12"}, "mu: '12' is no number"),
        ({"mu": True}, "mu: True is no number"),
        ({"mu": 99}, "mu = 99: it is above 0 and at most 27"),
        ({"sigma": 0}, "sigma = 0: it is at least 0.1"),
        ({"rho": 0}, "rho = 0: it is above 0"),
        ({"rho": 0.5, "mu": 3}, "rho, mu: both say where the peak is"),
    ],
)
def test_a_curve_that_cannot_be_is_refused(change: dict[str, Any], message: str) -> None:
    w = squeeze()
    before = w.env.game
    with pytest.raises(WorldError, match=message):
        w.change(change)
    assert w.env.game == before


def test_pictures_of_a_changed_game_can_be_drawn() -> None:
    env = SqueezeEnv(3, render_mode="rgb_array")
    env.reset(seed=0)
    env.play([9, 9, 9])
    first = env.render()
    env.change({"mu": 2.0, "sigma": 0.5})
    env.play([1, 1, 1])
    second = env.render()
    assert isinstance(first, np.ndarray)
    assert isinstance(second, np.ndarray)
    assert first.shape == second.shape
    assert (first != second).any()

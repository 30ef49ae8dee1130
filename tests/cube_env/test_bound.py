"""The lower bound never exceeds what anybody needs: a greedy team, and the optimum found by brute force."""

from itertools import product

import numpy as np
import pytest

from cube_env import CubeState, Layout, lower_bound
from cube_env.symbolic.shown import TEXT_LIMITS
from cube_env.world import CubeConfig, CubeWorld
from quorum.agents.skills.cube.heuristic import GreedyTeam
from tests.cube_env.acting import world
from tests.cube_env.boards import board
from tests.maeil.scripted import play


def bound(drawn):
    return lower_bound(Layout.parse(board(drawn)))


@pytest.mark.parametrize(
    ("drawn", "steps"),
    [
        # already there: only pushes count
        ("0A...|", 4),
        # travel: one step less than the distance, then the pushes
        ("0..A.|", 2 + 2),
        # quorum: the second agent may line up behind the first
        ("1.0AA..|\n...AA..|", 1 + 3),
        ("10AA...|\n..AA...|", 4),
        ("0.AA...|\n..AA...|\n.......|\n1......|", 2 + 4),
        # work: two agents move at most two units of weight a step
        ("0A....|\n1B....|\n.C....|", 8),
        # blocks that are too heavy to be moved in the same step
        ("0AA....|\n1AA....|\n2......|\n.BB....|\n.BB....|", 10),
        ("0.....|", 0),
    ],
)
def test_the_bound_by_hand(drawn, steps):
    assert bound(drawn) == steps


def test_the_board_record_carries_the_bound():
    assert world("0A...|").reset(0)["lower_bound"] == 4


@pytest.mark.parametrize("n", [1, 2, 4, 8])
def test_no_greedy_episode_is_below_the_bound(n):
    for seed in range(12):
        cube = CubeWorld(
            CubeConfig(
                name="cube", n=n, side=None, blocks=None, layout=None, max_steps=400, step_cost=0.01, level=None,
                allow_unsolvable=True, text=TEXT_LIMITS, deliver_reward=1.0, reward="default", vocabulary="cube",
            weights="halving",
                observation="text",
            )
        )  # fmt: skip
        events = play(GreedyTeam(n).minds, cube, seed=seed)
        start, end = events[0].event, events[-1].event
        assert end.outcome == "success"
        assert 0 < start.board["lower_bound"] <= end.steps


def optimum(layout: Layout, cap: int) -> int | None:
    """Steps of a shortest episode, breadth first over all joint actions; None when there is none within the cap."""
    start = CubeState.from_layout(layout)
    joints = [np.array(joint) for joint in product(range(5), repeat=len(layout.agents))]

    def key(state: CubeState) -> bytes:
        # Agents are interchangeable, and so are blocks of the same weight: their places in the grid say it all.
        return np.where(state.grid > 0, 1, state.grid).tobytes() + state.alive.tobytes()

    frontier, seen = [start], {key(start)}
    for steps in range(cap + 1):
        if any(state.live == 0 for state in frontier):
            return steps
        found = []
        for state in frontier:
            for joint in joints:
                after = state.copy()
                after.advance(joint)
                if (name := key(after)) not in seen:
                    seen.add(name)
                    found.append(after)
        frontier = found
    return None


TINY = [
    "0A..|",
    "..A.|\n0...|",
    "0.A.|\n1.B.|",
    "01A.|\n..B.|",
    "10A.|",
    "0AA.|\n1AA.|",
    "1...|\n0.A.|\n....|\n.B..|",
    "01AB.|",
    ".B..|\n.A..|\n0...|\n1...|",
    "...0|\n.A..|",
]


@pytest.mark.parametrize("drawn", TINY)
def test_the_bound_is_at_most_the_optimum(drawn):
    layout = Layout.parse(board(drawn))
    best = optimum(layout, 14)
    assert best is not None
    assert lower_bound(layout) <= best


def test_the_bound_is_at_most_the_optimum_of_random_tiny_boards():
    inner = [(1, 1), (1, 2), (2, 1), (2, 2)]
    gaps = []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        chosen = rng.choice(4, size=rng.integers(1, 3), replace=False)
        blocks = [(1, inner[k]) for k in chosen] if seed % 3 else [(2, (1, 1 - seed % 2))]
        covered = {(r + i, c + j) for w, (r, c) in blocks for i in range(w) for j in range(w)}
        free = [cell for cell in product(range(4), range(4)) if cell not in covered]
        layout = Layout(4, [free[k] for k in rng.choice(len(free), size=2, replace=False)], blocks)
        best = optimum(layout, 9)
        if best is not None:
            gaps.append(best - lower_bound(layout))
    assert len(gaps) >= 15
    assert min(gaps) == 0


def test_the_bound_is_met_where_nothing_stands_in_the_way():
    for drawn in ("0A..|", "10A.|", "0AA.|\n1AA.|", "01AB.|"):
        layout = Layout.parse(board(drawn))
        assert optimum(layout, 8) == lower_bound(layout)

"""Hand-drawn boards for tests: what a step makes of one, and random dense ones."""

from __future__ import annotations

import numpy as np

from cube_env import CubeEnv, Layout, render_ansi

LETTERS = {".": 0, "U": 1, "D": 2, "L": 3, "R": 4}


def board(text: str) -> str:
    """A drawing without its indentation; the empty lines below what is drawn may be left out."""
    lines = [line.strip() for line in text.strip().splitlines()]
    side = len(lines[0])
    return "\n".join(lines + ["." * (side - 1) + "|"] * (side - len(lines)))


def play(before: str, *steps: str, **arguments):
    """An environment on a drawn board after some steps; an action is a letter of `.UDLR`, by agent index."""
    env = CubeEnv(layout=Layout.parse(board(before)), **arguments)
    env.reset(seed=0)
    for step in steps:
        env.step_array([LETTERS[letter] for letter in step])
    return env


def drawing(env: CubeEnv) -> str:
    return render_ansi(env.snapshot())


def dense_layout(rng: np.random.Generator, side: int, agents: int, tries: int, heaviest: int) -> Layout:
    """Blocks that touch each other, and agents on and around their faces: lines, chains and deliveries abound."""
    taken = np.zeros((side, side), dtype=bool)
    blocks = []
    for _ in range(tries):
        weight = int(min(rng.geometric(0.5), heaviest))
        row, col = int(rng.integers(0, side - weight + 1)), int(rng.integers(0, side - weight))
        if not taken[row : row + weight, col : col + weight].any():
            taken[row : row + weight, col : col + weight] = True
            blocks.append((weight, (row, col)))
    free = np.argwhere(~taken)
    near = np.zeros((side + 2, side + 2))
    for d_row in range(3):
        for d_col in range(3):
            near[d_row : d_row + side, d_col : d_col + side] += taken
    weights = 0.05 + near[1:-1, 1:-1][~taken] * (near[1:-1, 1:-1][~taken] > 0)
    agents = min(agents, len(free))
    chosen = rng.choice(len(free), size=agents, replace=False, p=weights / weights.sum())
    return Layout(side, free[chosen].tolist(), blocks)


def herd_actions(rng: np.random.Generator, n: int) -> np.ndarray:
    """Joint actions in which many agents agree on one direction or two."""
    common = rng.choice(rng.integers(1, 5, 2), n)
    return np.where(rng.random(n) < rng.choice([0.0, 0.5, 0.9]), common, rng.integers(0, 5, n))

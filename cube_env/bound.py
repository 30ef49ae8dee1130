"""A lower bound on the steps that any team needs to deliver every block of a board."""

from __future__ import annotations

import numpy as np

from cube_env.arrays import IntArray
from cube_env.layout import Layout, PlacedBlock


def lower_bound(layout: Layout) -> int:
    """Return a lower bound on the steps of any sequence of joint actions that delivers every block.

    Notation: n agents; block b has weight w_b and must move d_b = side - col - w_b >= 1 cells right. A step *displaces*
        a block when it moves it one cell in any direction. Steps are counted from 0; T is the number of steps of an
        episode that delivers everything, and T_b is the first step that displaces b. The rules are those of
        `cube_env.kernel`. D_i(b) is the i-th smallest initial Manhattan distance of an agent from the nearest cell of
        b, and g(c, b) is the number of cells that block c must move until it shares an edge with b in its initial
        place.

    **1. Travel and quorum.** L_b <= T_b, where L is the largest solution of
    `L_b = min(A_b, min over c of L_c + g(c, b))` with `A_b = max over i <= min(w_b, n) of D_i(b) - i`.

    *Proof*, by induction over the blocks in the order of T_b, and within one step in the order in which blocks join the
    chain of the push. Up to step T_b, block b is in its initial place. If the agents' lines end at b, their force is at
    least w_b. A line has no gap, so the agent with k agents before it in its line is at distance k + 1 from b, and the
    i-th nearest agent of all lines is at distance at most i. An agent moves at most one cell in a step, alone or with
    its line. So i agents were initially within i + T_b, for each such i: D_i(b) <= i + T_b, and A_b <= T_b. Otherwise b
    joined the chain because of a block c before it in the chain, which shares an edge with b, is displaced in this step
    too, and had moved at least g(c, b) cells before it. If g > 0, these are as many earlier steps, the first of them
    not before T_c, so T_c + g(c, b) <= T_b; if g = 0, then T_c <= T_b, and c comes before b in the order of the
    induction. In both cases L_c + g(c, b) <= T_b.

    **2. Pushes.** T >= L_b + d_b for each b: a step displaces b by at most one cell, and no step before T_b does.

    **3. Work.** For each integer q in 0 .. (n + 1) / 2, let f(w) be 1 if w > n - q, w / n if q <= w <= n - q, and 0
    otherwise. For each tau, T >= tau + (sum of f(w_b) d_b over the blocks with L_b >= tau).

    *Proof.* A block that a step displaces belongs to the chain of exactly one successful push. The force of a push is
    at least the sum of the weights of its chain, and an agent adds to the force of only one push. So the weights of all
    blocks that a step displaces, whatever the chains, sum to at most n. Hence their f sum to at most 1: if one of them
    weighs at least n - q + 1, the others together weigh at most q - 1, which is not more than n - q, and have f = 0; if
    none does, the sum of f is at most that of w / n. Each block with L_b >= tau is displaced at least d_b times, always
    in steps from tau on, and there are T - tau of these.

    (f is a dual feasible function: Martello and Toth, "Lower bounds and reduction procedures for the bin packing
    problem", Discrete Applied Mathematics 28, 1990.)

    The bound ignores obstacles, the way around a block to its left face, and the ways from one block to the next.

    Args:
        layout: the board.

    Returns:
        Steps; 0 for a board without blocks.
    """
    n = len(layout.agents)
    releases = _first_moves(layout)
    pushes = [layout.side - col - weight for weight, (_, col) in layout.blocks]
    bound = max((release + push for release, push in zip(releases, pushes, strict=True)), default=0)
    weights = {weight for weight, _ in layout.blocks}
    for q in {0} | {min(weight, n - weight + 1) for weight in weights if weight <= n}:
        # Multiplied by n to keep whole numbers.
        shares = [_share(weight, n, q) * push for (weight, _), push in zip(layout.blocks, pushes, strict=True)]
        for tau in set(releases):
            work = sum(share for share, release in zip(shares, releases, strict=True) if release >= tau)
            bound = max(bound, tau + -(-work // n))
    return bound


def _share(weight: int, n: int, q: int) -> int:
    return n if weight > n - q else weight if weight >= q else 0


def _first_moves(layout: Layout) -> list[int]:
    """L of `lower_bound`: for each block, a number of steps before which nothing displaces it.

    A shortest-path problem with all blocks as sources, settled in the order of L.
    """
    agents = np.array(layout.agents, dtype=np.int32)
    blocks = layout.blocks
    open_ = {b: _direct(agents, block) for b, block in enumerate(blocks)}
    settled = [0] * len(blocks)
    while open_:
        nearest = min(open_, key=open_.__getitem__)
        release = settled[nearest] = open_.pop(nearest)
        for b, known in open_.items():
            open_[b] = min(known, release + _gap(blocks[nearest], blocks[b]))
    return settled


def _direct(agents: IntArray, block: PlacedBlock) -> int:
    """A of `lower_bound`: the earliest step at which agents can push the block itself."""
    weight, (row, col) = block
    first = np.array([row, col])
    outside = np.maximum(first - agents, agents - (first + weight - 1)).clip(0)
    nearest = np.sort(outside.sum(axis=1))[:weight]
    return int((nearest - np.arange(1, len(nearest) + 1)).max())


def _gap(block: PlacedBlock, other: PlacedBlock) -> int:
    """Cells that a block must move until it shares an edge with another one, ignoring obstacles."""
    (weight, (row, col)), (other_weight, (other_row, other_col)) = block, other
    # Free rows and columns between them; negative if they overlap in that axis.
    rows = max(row - other_row - other_weight, other_row - row - weight)
    cols = max(col - other_col - other_weight, other_col - col - weight)
    return min(max(rows + 1, 0) + max(cols, 0), max(cols + 1, 0) + max(rows, 0))

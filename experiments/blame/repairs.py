"""Minimal sets of agents: those whose correction together flips a run, while that of no part of them does."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

Flips = Callable[[frozenset[int]], bool]


def minimal_sets(successes: Iterable[frozenset[int]]) -> list[frozenset[int]]:
    """Return the sets that flip of which no smaller part flips, the smaller ones first.

    Args:
        successes: all sets that flip.
    """
    found: list[frozenset[int]] = []
    for members in sorted(successes, key=lambda members: (len(members), sorted(members))):
        if not any(smaller <= members for smaller in found):
            found.append(members)
    return found


def reduced_set(flips: Flips, agents: Sequence[int]) -> frozenset[int]:
    """Return one set that flips and from which no single agent can be left out, by delta debugging.

    It is ddmin (Zeller and Hildebrandt 2002, section 3): parts and their complements are tried in ever smaller pieces.
    What it returns is minimal in the sense that every set with one agent less fails (1-minimal); other sets, also
    smaller ones, may flip as well.

    Args:
        flips: whether a set does.
        agents: a set that does.
    """
    kept, pieces = list(agents), 2
    while len(kept) > 1:
        size = -(-len(kept) // pieces)
        parts = [kept[start : start + size] for start in range(0, len(kept), size)]
        part = next((part for part in parts if flips(frozenset(part))), None) if pieces <= len(kept) else None
        if part is not None:
            kept, pieces = part, 2
            continue
        others = [[one for one in kept if one not in part] for part in parts]
        other = next((other for other in others if len(parts) > 2 and flips(frozenset(other))), None)
        if other is not None:
            kept, pieces = other, max(pieces - 1, 2)
        elif pieces < len(kept):
            pieces = min(2 * pieces, len(kept))
        else:
            break
    return frozenset(kept)

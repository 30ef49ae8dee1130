"""The design of a comparison: what varies besides the factor that is compared, and what that means.

Besides the levels, the values of `across` and the seeds, a factor of the runs may

- be **crossed**: every level has the same values of it (`n` in a comparison of topologies over all n). Its values are
  the strata of the bootstrap, and boards are paired within them;
- be **pooled over**: it varies within a level, and not in the same way in all of them;
- be **confounded**: it has one value in each level, and another one in another level, though it is no part of what is
  compared. Then the comparison cannot tell the two apart, and says so.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

from experiments.compare.factors import in_order, value_of, written
from experiments.results import Row
from experiments.results.rows import Scalar

_WHOLE = {"arm", "sweep", "version"}
"""Factors that stand for everything that goes with them."""
_MINDS = {"agents", "llm", "budget", "prompts"}


@dataclass(frozen=True, slots=True)
class Design:
    """What varies.

    Attributes:
        crossed: factors with their values.
        pooled_over: factors with their values.
        confounded: factors with their values.
        boards_differ: whether the levels meet other boards under one seed, since the world or n is compared.
    """

    crossed: Mapping[str, tuple[str, ...]]
    pooled_over: Mapping[str, tuple[str, ...]]
    confounded: Mapping[str, tuple[str, ...]]
    boards_differ: bool

    def stratum(self, row: Row) -> tuple[Scalar, ...]:
        """Give the values of the crossed factors in a run."""
        return tuple(value_of(row, factor) for factor in self.crossed)


def find_design(rows: Sequence[Row], levels: Sequence[str], by: Sequence[str], across: str | None) -> Design:
    """Look at what varies.

    Args:
        rows: the runs that count.
        levels: the label of each.
        by: the factors that are compared.
        across: the factor across which they are.
    """
    own = {*by, "seed", *([across] if across is not None else [])}
    crossed: dict[str, tuple[str, ...]] = {}
    pooled: dict[str, tuple[str, ...]] = {}
    confounded: dict[str, tuple[str, ...]] = {}
    points = [value_of(row, across) if across is not None else None for row in rows]
    seen: set[tuple[int, ...]] = set()
    for factor in dict.fromkeys(key for row in rows for key in row.factors):
        values = [value_of(row, factor) for row in rows]
        if factor in own or len(set(values)) == 1:
            continue
        partition = _partition(values)
        if partition in seen or _determined(values, points):
            continue  # it says the same as another one, as `env.n` does of `n`
        seen.add(partition)
        shown = tuple(written(value) for value in in_order(values))
        if not _determined(values, list(zip(levels, points, strict=True))):
            target = crossed if _same_everywhere(values, levels) else pooled
            target[factor] = shown
        elif not _goes_with(factor, by):
            confounded[factor] = shown
    return Design(crossed, pooled, confounded, any(factor == "n" or factor.startswith("env.") for factor in by))


def _partition(values: Sequence[Scalar]) -> tuple[int, ...]:
    numbers: dict[Scalar, int] = {}
    return tuple(numbers.setdefault(value, len(numbers)) for value in values)


def _determined(values: Sequence[Scalar], keys: Sequence[Hashable]) -> bool:
    """Whether equal keys always come with equal values."""
    found: dict[Hashable, Scalar] = {}
    return all(found.setdefault(key, value) == value for key, value in zip(keys, values, strict=True))


def _same_everywhere(values: Sequence[Scalar], levels: Sequence[str]) -> bool:
    sets: dict[str, set[Scalar]] = {}
    for level, value in zip(levels, values, strict=True):
        sets.setdefault(level, set()).add(value)
    first = next(iter(sets.values()))
    return all(other == first for other in sets.values())


def _goes_with(factor: str, by: Sequence[str]) -> bool:
    """Whether a factor is a part of what is compared, as `topology.rounds` is of the topology."""
    group = factor.partition(".")[0]
    for compared in by:
        own = compared.partition(".")[0]
        if compared in _WHOLE or own == group or (own in {"agents", "llm", "model"} and group in _MINDS):
            return True
        if own == "env" and group in {"n", "max_steps"}:
            return True
    return False

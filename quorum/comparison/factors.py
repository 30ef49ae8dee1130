"""The factors by which runs are compared: their names for users, and their value in each run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

from quorum.comparison.floors import mixes_floors
from quorum.configuration.origin import DRAW, Scalar
from quorum.runs import Row
from quorum.runs.rows import keys_of
from quorum_base.user_errors import UserError, choices_hint, nearest

NONE: Final = "-"
"""How a missing value is shown."""

_OWN: Mapping[str, Callable[[Row], Scalar]] = {
    "arm": lambda row: row.arm,
    "inputs": lambda row: row.inputs_digest or None,
    "llm": lambda row: row.factors.get("llm.model") or row.factors.get("llm.name"),
    "members": lambda row: row.factors.get("members", row.factors.get("agents.name")),
    "model": lambda row: ", ".join(row.models) or _OWN["llm"](row),
    "provider": lambda row: ", ".join(row.providers) or None,
    "sweep": lambda row: row.folder.resolve().parent.name,
    "version": lambda row: row.version,
}
"""Factors that are not configuration keys."""

_SHORT = {
    "topology": "topology.name",
    "agents": "agents.name",
    "env": "env.name",
    "clock": "clock.unit",
    "difficulty": "env.level",
}
"""Short names: of sections, by the key that selects their option, and of some other keys."""
_LABELS = {key: name for name, key in _SHORT.items()}

_FIRST = ("arm", "topology.name", "agents.name", "model", "env.name")
"""Default factors to compare by: the first of these that varies; `members` if teams have several minds."""


def value_of(row: Row, factor: str) -> Scalar:
    """Return the value of a factor in a run; None if the run has none."""
    own = _OWN.get(factor)
    if own is not None:
        return own(row)
    return _brief(row.inputs[factor]) if factor in row.inputs else row.factors.get(factor)


def values_of(rows: Sequence[Row], factor: str) -> list[Scalar]:
    """Return the value of a factor in each run."""
    if factor in _OWN or any(factor in row.inputs for row in rows):
        return [value_of(row, factor) for row in rows]
    return [row.factors.get(factor) for row in rows]  # most factors: a call for each run would take most of the time


def _brief(digest: str) -> str:
    """Shorten a digest, but keep a version before it."""
    version, _, hexadecimal = digest.rpartition(" ")
    return f"{version} {hexadecimal[:8]}".strip()


def written(value: Scalar) -> str:
    """Write a value as a label."""
    if value is None:
        return NONE
    if isinstance(value, bool):
        return "true" if value else "false"
    return f"{value:g}" if isinstance(value, float) else str(value).strip()


def short(factor: str) -> str:
    """Return the label of a factor: `topology` for `topology.name`, `difficulty` for `env.level`."""
    return _LABELS.get(factor, factor.removesuffix(".name"))


def label_of(row: Row, factors: Sequence[str]) -> str:
    """Join the values of several factors as one label."""
    return " / ".join(written(value_of(row, factor)) for factor in factors)


def resolve(name: str, rows: Iterable[Row], option: str) -> str:
    """Find the factor that a user names: `topology`, `n`, `topology.rounds`, or `rounds` if only one key ends so.

    Args:
        name: as given.
        rows: the runs that are compared.
        option: the option that names it, for messages.

    Raises:
        UserError: the runs have no such factor, or it is the seed.
    """
    keys = keys_of(mapping for row in rows for mapping in (row.factors, row.inputs))
    if name == "seed":
        raise UserError(
            f"{option} seed: seeds cannot be compared, because each seed is a board that all levels share",
            "Give another factor.",
        )
    if name in _OWN or name in keys:
        return name
    if name in _SHORT and _SHORT[name] in keys:
        return _SHORT[name]
    ends = [key for key in keys if key.endswith(f".{name}")]
    if len(ends) == 1:
        return ends[0]
    if ends:
        raise UserError(f"{option} {name}: several factors end in this name", f"Give one of them: {', '.join(ends)}.")
    hint = nearest(name, [*_SHORT, *_OWN, *keys]) or choices_hint("", "Some factors", [*_SHORT, *_OWN, "n"])
    raise UserError(f"{option} {name}: the runs have no such factor", hint)


def first_that_varies(rows: Sequence[Row]) -> str:
    """Choose the default factor: the model if any other would pool a model with answers without a mind.

    If none of the usual factors varies, it is the first other one with several values on a board, such as a setting.
    """
    several = any("members" in row.factors for row in rows)
    first = ("members" if several and factor == "agents.name" else factor for factor in _FIRST)
    found = next((factor for factor in first if varies(factor, rows)), None) or _on_a_board(rows)
    return "model" if mixes_floors(rows, lambda row: value_of(row, found)) else found


def _on_a_board(rows: Sequence[Row]) -> str:
    """Return the first key with several values on a board, options before their settings; the topology if none has."""
    boards = [tuple(value_of(row, key) for key in ("n", "seed", "episode", DRAW)) for row in rows]
    keys = sorted(keys_of(row.factors for row in rows), key=lambda key: not key.endswith(".name"))
    varying = (key for key in keys if len({*zip(boards, values_of(rows, key), strict=True)}) > len({*boards}))
    return next(varying, "topology.name")


def varies(factor: str, rows: Iterable[Row]) -> bool:
    """Whether a factor has more than one value among the runs."""
    return len({value_of(row, factor) for row in rows}) > 1


def in_order(values: Iterable[Scalar]) -> list[Scalar]:
    """Return the distinct values: numbers by size, other values in order of appearance."""
    distinct = list(dict.fromkeys(values))
    numbers = [value for value in distinct if isinstance(value, int | float) and not isinstance(value, bool)]
    return [*sorted(numbers)] if len(numbers) == len(distinct) else distinct

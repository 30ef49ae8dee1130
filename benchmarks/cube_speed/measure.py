"""Timing for noisy machines: short runs that alternate, and their median."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from statistics import median
from typing import Any, Literal

from benchmarks.cube_speed.timing import Run

Progress = Callable[[str], None]
"""Called with the current measurement."""


@dataclass(frozen=True)
class Subject:
    """A quantity to measure.

    Attributes:
        name: its name.
        n: number of agents; 0 if it does not apply.
        unit: unit of the measurements.
        run: takes one measurement.
        target: target of the median, or None.
        better: whether less or more is better.
        published: the value of the published implementation, or None.
    """

    name: str
    n: int
    unit: str
    run: Run
    target: float | None = None
    better: Literal["less", "more"] = "less"
    published: float | None = None


@dataclass(frozen=True, slots=True)
class Row:
    """A measured subject.

    Attributes:
        name: see `Subject`.
        n: number of agents.
        unit: unit of the values.
        target: target of the median.
        better: whether less or more is better.
        measured: median of the runs.
        low: smallest value.
        high: largest value.
        runs: number of runs.
        published: value of the published implementation.
        ok: whether the median reaches the target; None without one.
    """

    name: str
    n: int
    unit: str
    target: float | None
    better: str
    measured: float
    low: float
    high: float
    runs: int
    published: float | None
    ok: bool | None

    def to_json(self) -> dict[str, Any]:
        """Return the row as JSON-ready data."""
        return asdict(self)


def measure(subjects: Sequence[Subject], rounds: int, progress: Progress) -> list[Row]:
    """Measure all subjects in each of several rounds, so that a busy moment of the machine affects them alike.

    Args:
        subjects: the subjects; their runs warm up first.
        rounds: number of measurements of each.
        progress: called in each round.
    """
    values: list[list[float]] = [[] for _ in subjects]
    for number in range(rounds + 1):
        progress(f"speed table, round {number} of {rounds}" if number else "speed table, warming up")
        for subject, found in zip(subjects, values, strict=True):
            value = subject.run()
            if number:
                found.append(value)
    return [_row(subject, found) for subject, found in zip(subjects, values, strict=True)]


def _row(subject: Subject, values: Sequence[float]) -> Row:
    middle = median(values)
    ok = None
    if subject.target is not None:
        ok = middle <= subject.target if subject.better == "less" else middle >= subject.target
    return Row(
        subject.name, subject.n, subject.unit, subject.target, subject.better, middle, min(values), max(values),
        len(values), subject.published, ok,
    )  # fmt: skip

"""Finds all failures of a trace."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from maeil.failures.failure import Failure, FailureKind
from maeil.failures.history import History, read_history
from maeil.failures.ignored_input import ignored_inputs
from maeil.failures.mismatch import mismatches
from maeil.failures.repetition import repetitions
from maeil.failures.silence import silences
from maeil.failures.termination import terminations
from maeil.failures.withholding import withholdings
from maeil.trace.reader import Trace

RULES: dict[FailureKind, Callable[[History], Iterator[Failure]]] = {
    FailureKind.REPETITION: repetitions,
    FailureKind.TERMINATION: terminations,
    FailureKind.SILENCE: silences,
    FailureKind.WITHHOLDING: withholdings,
    FailureKind.IGNORED_INPUT: ignored_inputs,
    FailureKind.MISMATCH: mismatches,
}
"""The rule of each kind."""


def find_failures(trace: Trace) -> tuple[Failure, ...]:
    """Find the failures that a trace proves, whole or a prefix, in the order in which they show."""
    history = read_history(trace)
    found = [failure for rule in RULES.values() for failure in rule(history)]
    return tuple(sorted(found, key=lambda failure: failure.proofs[-1].seq))

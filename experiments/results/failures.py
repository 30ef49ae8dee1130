"""The failures that are found by rule in a recorded episode, with the events that prove them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from maeil.failures import Failure, find_failures
from maeil.user_errors import UserError
from quorum.experiments.common.consoles import Console, Text
from quorum.experiments.results.run_folder import read_whole_trace


@dataclass(frozen=True, slots=True)
class FoundFailures:
    """The failures of a run.

    Attributes:
        run: the folder of the episode or the file of its trace, as it was given.
        names: of the participants.
        failures: in the order in which they show.
    """

    run: Path
    names: Sequence[str]
    failures: Sequence[Failure]

    def plain(self) -> Mapping[str, Any]:
        """Return them as JSON-ready data."""
        return {"run": str(self.run), "failures": [plain_failure(found, self.names) for found in self.failures]}


def plain_failure(found: Failure, names: Sequence[str]) -> dict[str, Any]:
    """Return a failure as JSON-ready data; `event` is the number of the line in the trace, from 0."""
    return {
        "kind": str(found.kind),
        "mast": found.kind.mast,
        "agent": names[found.agent],
        "t": found.t,
        "task": found.task,
        "proofs": [{"event": proof.seq, "t": proof.t, "words": proof.words} for proof in found.proofs],
    }


def failures_of(run: Path) -> FoundFailures:
    """Find the failures of a trace, whole or as a killed run left it.

    Raises:
        UserError: there is no trace, or it is damaged, or newer than this version.
    """
    trace = read_whole_trace(run)
    try:
        found = find_failures(trace)
    except Exception as error:
        raise UserError(
            f"{run}: damaged: its events contradict each other (failures: {type(error).__name__}: {error})",
            "It was changed after it was written; run the episode again.",
        ) from error
    return FoundFailures(run, (*trace.start.agents, *trace.start.coordinators), found)


def print_failures(runs: Sequence[FoundFailures], console: Console) -> None:
    """Print each failure with its proofs, under the name of its run, and how many there are of each kind."""
    for run in runs:
        console.print(Text(str(run.run), style="bold"), soft_wrap=True)
        for found in run.failures:
            about = f" about {found.task}" if found.task else ""
            line = f"  t = {found.t}: {found.kind} ({found.kind.mast}) of {run.names[found.agent]}{about}"
            console.print(Text(line), soft_wrap=True)
            for proof in found.proofs:
                console.print(Text(f"      t = {proof.t}, event {proof.seq}: {proof.words}"), soft_wrap=True)
        kinds = Counter(str(found.kind) for found in run.failures)
        told = ", ".join(f"{number} {kind}" for kind, number in sorted(kinds.items()))
        console.print(Text(f"  {told or 'no failure that the trace proves'}"), soft_wrap=True)

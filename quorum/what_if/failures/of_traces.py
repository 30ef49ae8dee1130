"""The failures of recorded runs, by the rules and by a judge."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from maeil.trace import Trace
from maeil.trace.explanation import Sentence, explain_failure
from quorum.display.consoles import Console, Text
from quorum.runs.derived import derive_from
from quorum.what_if.failures import OF_WORDS, Failure, find_failures, text_alone

if TYPE_CHECKING:
    from quorum.what_if.failures.message_judge import Judge, Judgement


@dataclass(frozen=True, slots=True)
class FoundFailures:
    """The failures of a run.

    Attributes:
        run: the folder of the episode or the file of its trace, as given.
        names: names of the participants.
        failures: in the order in which they show.
        unread: number of messages with only text that no judge has read: their claims and orders are unknown.
        judgement: the result of a judge; None without a judge.
        why: why the run did not succeed.
    """

    run: Path
    names: Sequence[str]
    failures: Sequence[Failure]
    unread: int
    judgement: Judgement | None
    why: Sequence[Sentence]

    def to_json(self) -> Mapping[str, Any]:
        """Return them as JSON-ready data."""
        judged = {"judge": self.judgement.to_json()} if self.judgement is not None else {}
        found = [one.to_json(self.names[one.agent]) for one in self.failures]
        why = [sentence.to_json() for sentence in self.why]
        return {"run": str(self.run), "why": why, "failures": found, "unread": self.unread, **judged}


def failures_of_trace(trace: Trace) -> list[dict[str, Any]]:
    """Return the failures that a trace proves as JSON-ready data, with the index of each agent."""
    return [found.to_json(found.agent) for found in find_failures(trace)]


def failures_of(run: Path, judge: Judge | None = None) -> FoundFailures:
    """Find the failures of a trace, complete or as a killed run left it.

    Args:
        run: its folder, or the file of the trace.
        judge: reads the claims and orders of messages without typed fields.

    Raises:
        UserError: there is no trace, it is damaged or newer than this version, or the judge's model cannot be called.
    """
    found: Sequence[Failure]
    trace, (found, why) = derive_from(run, "failures", lambda trace: (find_failures(trace), explain_failure(trace)))
    judgement = judge.read(trace) if judge is not None else None
    unread = {*text_alone(trace)} - (judgement.readings.keys() if judgement is not None else set())
    found = judgement.failures if judgement is not None else found
    return FoundFailures(run, (*trace.start.agents, *trace.start.coordinators), found, len(unread), judgement, why)


def print_failures(runs: Sequence[FoundFailures], console: Console) -> None:
    """Print why each run did not succeed, its failures with their proofs, and the number of each kind."""
    for run in runs:
        console.print(Text(str(run.run), style="bold"), soft_wrap=True)
        for sentence in run.why:
            console.print(Text(f"  {sentence.words}"), soft_wrap=True)
        for found in run.failures:
            about = f" about {found.task}" if found.task else ""
            line = f"  t = {found.t}: {found.kind} ({found.kind.mast}) of {run.names[found.agent]}{about}"
            console.print(Text(line), soft_wrap=True)
            for proof in found.proofs:
                console.print(Text(f"      t = {proof.t}, event {proof.seq}: {proof.words}"), soft_wrap=True)
        kinds = Counter(str(found.kind) for found in run.failures)
        summary = ", ".join(f"{number} {kind}" for kind, number in sorted(kinds.items()))
        console.print(Text(f"  {summary or 'no failure that the trace proves'}"), soft_wrap=True)
        if run.unread:
            unknown = f"  {run.unread} messages have only text: {' and '.join(sorted(OF_WORDS))} are unknown (--judge)"
            console.print(Text(unknown), soft_wrap=True)
        if run.judgement is not None:
            console.print(Text(f"  {run.judgement}"), soft_wrap=True)

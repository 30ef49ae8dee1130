"""Play a study: its arms, block after block of boards if a result decides when to stop, and all of its files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from maeil.outcomes import Outcome
from quorum.agents.llm.errors import LanguageModelError
from quorum.runs import read_results
from quorum.study.analysis import Analysis, analyse
from quorum.study.audit import ControlAudit, audit_controls
from quorum.study.donors import DONORS, write_donors
from quorum.study.question import TREATMENT
from quorum.study.record import Look, Record, read_record
from quorum.study.study import Study
from quorum.sweeps.command import run_sweep_command
from quorum.sweeps.run import SweepResult
from quorum.sweeps.stopping import Stop
from quorum_base.user_errors import UserError

_AUDITED = 2
"""Number of runs of the treatment whose prompts are compared with those of control arms."""
_DONORS, _TALK = 2, "communication.messages"
"""Number of boards whose messages all others read in the arm `shuffled`, and the metric that counts messages.

These two boards read each other's messages. Adding boards to a study does not change this.
"""


class Unfinished(Exception):
    """A sweep's purpose cannot be met because it was stopped or its cells failed.

    Attributes:
        sweep: the result of the sweep.
    """

    def __init__(self, sweep: SweepResult) -> None:
        super().__init__(sweep.reason)
        self.sweep = sweep


@dataclass(frozen=True, slots=True)
class Played:
    """The outcome of a study.

    Attributes:
        analysis: analysis of its runs.
        record: why it stopped, and each look at it.
        sweep: outcome of its last sweep.
        audits: whether prompts of control arms equal the treatment's except for messages, in some runs; empty without
            such arms, or without model calls.
        not_audited: why prompts could not be compared; empty if they were, or if there are none.
    """

    analysis: Analysis
    record: Record
    sweep: SweepResult
    audits: Sequence[ControlAudit] = ()
    not_audited: str = ""


def play(study: Study, *, quiet: bool) -> Played:
    """Play the missing runs of a study, block after block of boards if necessary, and analyse it.

    Args:
        study: the study.
        quiet: whether to show no progress.

    Raises:
        UserError: nothing can be written, or the sweep cannot run.
        Unfinished: no run of the treatment counts.
    """
    record = read_record(study.folder)
    tried = study.treatment.seeds
    while True:
        swept = _play_arms(study, tried, quiet=quiet)
        results = read_results(study.folder)
        if not any(row.arm == TREATMENT and row.pooled and row.seed in tried for row in results.rows):
            raise Unfinished(swept)
        analysis = analyse(study, results, tried)
        block = _next_boards(study, tried)
        stop = _why_stop(study, swept, analysis) or ("" if block else "most boards")
        record = record.with_look(_look(analysis, stop or "goes on"))
        if stop:
            return Played(analysis, record, swept, *_audits(analysis))
        tried = (*tried, *block)


def _next_boards(study: Study, tried: Sequence[int]) -> tuple[int, ...]:
    """Return the boards of the next block: as many as the user named, up to the overall maximum."""
    number = min(len(study.treatment.seeds), study.request.most_boards - len(tried))
    return tuple(range(max(tried) + 1, max(tried) + 1 + number))


def _why_stop(study: Study, swept: SweepResult, analysis: Analysis) -> str:
    """Return why no more boards are added; empty to add more."""
    if swept.stop in (Stop.INTERRUPTED, Stop.CANCELLED):
        return "by hand"
    if swept.stop is not None:
        return str(swept.stop.value)
    until = study.until
    if until is None:
        return "by design"
    found = analysis.by_board(until.metric)
    if until.holds(found, study.bound(until.metric), study.planned):
        return f"until {study.request.until}"
    return "an effect of the expected size is out of reach" if until.hopeless(found, study.planned) else ""


def _audits(analysis: Analysis) -> tuple[list[ControlAudit], str]:
    """Compare the prompts of control arms with those of the treatment in its first runs, or return why not."""
    study = analysis.study
    files = {name: study.question.arms[name].control for name in study.arms if name in study.question.arms}
    donors = study.folder / DONORS
    controls = [
        control for name, control in files.items() if control and (not study.arms[name].donors or donors.exists())
    ]
    rows = sorted(analysis.comparison.groups[TREATMENT, None].rows, key=lambda row: (row.seed, row.name))
    asked = [row for row in rows if row.models and row.outcome != Outcome.BUDGET][:_AUDITED]
    try:
        return [audit for row in asked if controls for audit in audit_controls(row.folder, controls, donors)], ""
    except (UserError, LanguageModelError) as error:  # other code, or a clock that counts seconds
        return [], str(error).partition("\n")[0]


def _look(analysis: Analysis, stop: str) -> Look:
    found = analysis.answer.difference if analysis.answer is not None else None
    return Look(
        boards=analysis.boards,
        draws=len(analysis.study.treatment.draws),
        stop=stop,
        time=datetime.now(UTC).isoformat(timespec="seconds"),
        effect=float(found.mean.value) if found is not None else None,
        p=float(found.p) if found is not None else None,
    )


def _play_arms(study: Study, seeds: Sequence[int], *, quiet: bool) -> SweepResult:
    """Play the arms, and then those whose messages come from runs of the treatment."""
    others = {name: arm for name, arm in study.arms.items() if not arm.donors}
    swept = run_sweep_command(replace(study.request_of(others, seeds), retry_failed=True), quiet=quiet)
    if len(others) == len(study.arms) or swept.stop is not None:
        return swept
    file = study.folder / DONORS
    if not file.exists():
        talked = [row for row in read_results(study.folder).rows if row.arm == TREATMENT and row.metrics.get(_TALK)]
        first = {row.seed: row.folder for row in sorted(talked, key=lambda row: (row.seed, row.name), reverse=True)}
        if len(first) < _DONORS:
            return swept
        write_donors([first[seed] for seed in sorted(first)[:_DONORS]], file)
    arms = {name: arm.reading(file) if arm.donors else arm for name, arm in study.arms.items()}
    return run_sweep_command(study.request_of(arms, seeds), quiet=quiet)

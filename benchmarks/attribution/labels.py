"""Labels by hand: the agent that made a run fail, by two or more annotators, and how far they agree.

A label is a line of JSON:

    {"run": "cube-n4-s3", "annotator": "ada", "agent": "agent_1", "t": 12, "confidence": "high", "note": ""}

`agent` is null if no single agent is to blame, and `t` is null if no single decision is. `confidence` is low,
medium, high or null.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Literal

import msgspec

from maeil.trace import Trace
from quorum.runs.run_folder import read_whole_trace, require_folder, runs_inside
from quorum.storage.files import os_errors
from quorum.what_if.blame.ending import FINISHED, ending_of
from quorum_base.user_errors import UserError, choices_hint

TOLERANCES = (0, 1, 2, 5)
"""Steps by which two annotators may differ."""


class HumanLabel(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An annotator's label of a run.

    Attributes:
        run: name of its folder.
        annotator: name of the annotator.
        agent: name of the participant with the decisive mistake; None: no single one.
        t: environment step of the decision; None: no single one.
        confidence: how sure the annotator is.
        note: the reason.
    """

    run: str
    annotator: str
    agent: str | None
    t: int | None
    confidence: Literal["low", "medium", "high"] | None = None
    note: str = ""


def read_labels(file: Path, runs: Path | None = None) -> list[HumanLabel]:
    """Read the labels of a file.

    Args:
        file: a file with a label on each line.
        runs: folder of the runs, to check that they, their agents and their steps exist; None: no check.

    Raises:
        UserError: the file cannot be read, or a label is wrong.
    """
    with os_errors(f"{file}: cannot be read", "Give a file of labels."):
        lines = file.read_bytes().splitlines()
    traces = dict(failed_runs(runs)) if runs is not None else None
    found: dict[tuple[str, str], HumanLabel] = {}
    for number, line in enumerate(lines, 1):
        place = f"{file}, line {number}"
        try:
            label = msgspec.json.decode(line, type=HumanLabel)
        except (msgspec.MsgspecError, RecursionError) as error:
            raise UserError(f"{place}: {error}", "docs/attribution.md shows a label.") from error
        _check(label, place, traces)
        if found.setdefault((label.run, label.annotator), label) is not label:
            raise UserError(f"{place}: {label.annotator} has labelled {label.run} before", "Keep one of the labels.")
    return list(found.values())


def _check(label: HumanLabel, place: str, traces: Mapping[str, Trace] | None) -> None:
    if not label.run or not label.annotator:
        raise UserError(f"{place}: the run or the annotator is empty", "docs/attribution.md shows a label.")
    if label.agent == "":
        raise UserError(f"{place}: the agent is not filled in", "Give its name, or null if no single one is to blame.")
    if label.t is not None and (label.agent is None or label.t < 0):
        raise UserError(f"{place}: step {label.t} of {label.agent or 'nobody'}", "Give both, or null for the step.")
    if traces is None:
        return
    if (trace := traces.get(label.run)) is None:
        raise UserError(f"{place}: there is no failed run {label.run}", choices_hint(label.run, "Runs", list(traces)))
    team = (*trace.start.agents, *trace.start.coordinators)
    if label.agent is not None and label.agent not in team:
        raise UserError(f"{place}: there is no {label.agent}", choices_hint(label.agent, "Agents", team))
    if label.t is not None and label.t > (steps := ending_of(trace).steps):
        raise UserError(f"{place}: step {label.t}, and the run has {steps} steps", "Give the step of the decision.")


def failed_runs(folder: Path) -> Iterator[tuple[str, Trace]]:
    """Yield the names and traces of the runs of a folder that have not finished their task.

    Raises:
        UserError: there is no such folder, or a run cannot be read.
    """
    require_folder(folder)
    for run in runs_inside(folder):
        trace = read_whole_trace(run)
        if not FINISHED.met(ending_of(trace)):
            yield run.name, trace


def sheet(folder: Path, annotator: str) -> Iterator[str]:
    """Yield an empty label for each failed run of a folder."""
    for name, _ in failed_runs(folder):
        yield msgspec.json.encode(HumanLabel(name, annotator, "", None)).decode()


def agreement(labels: Sequence[HumanLabel]) -> Iterator[str]:
    """Yield a table of the agreement of each pair of annotators.

    Raises:
        UserError: no two annotators have labelled the same run.
    """
    by: dict[str, dict[str, HumanLabel]] = {}
    for label in labels:
        by.setdefault(label.annotator, {})[label.run] = label
    pairs = [(a, b, [(by[a][run], by[b][run]) for run in by[a] if run in by[b]]) for a, b in combinations(by, 2)]
    if not any(both for _, _, both in pairs):
        raise UserError("no two annotators have labelled the same run", "Let a second one label the same runs.")
    within = " | ".join(f"step within {tolerance}" for tolerance in TOLERANCES)
    yield f"| annotators | runs | same agent | kappa of the agent | both name a step | {within} |"
    yield "|---" * (len(TOLERANCES) + 5) + "|"
    for a, b, both in pairs:
        agents = [(one.agent, other.agent) for one, other in both]
        same = sum(one == other for one, other in agents)
        gaps = [abs(one.t - other.t) for one, other in both if one.t is not None and other.t is not None]
        close = " | ".join(str(sum(gap <= tolerance for gap in gaps)) for tolerance in TOLERANCES)
        yield f"| {a}, {b} | {len(both)} | {same} | {written(kappa(agents))} | {len(gaps)} | {close} |"


def kappa(pairs: Sequence[tuple[Hashable, Hashable]]) -> float | None:
    """Return Cohen's kappa, the agreement of two raters above that of chance (Cohen 1960).

    Args:
        pairs: the answers of both raters about each subject.

    Returns:
        At most 1; None if chance alone makes them agree, or there is no subject.
    """
    n = len(pairs)
    one, other = (Counter(side) for side in zip(*pairs, strict=True)) if pairs else (Counter(), Counter())
    by_chance = sum(one[category] * other[category] for category in one)
    if by_chance == n * n:
        return None
    same = sum(a == b for a, b in pairs)
    return (n * same - by_chance) / (n * n - by_chance)


def written(value: float | None) -> str:
    """Format a kappa."""
    return "-" if value is None else f"{value:.2f}"

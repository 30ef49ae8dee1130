"""The answers of methods, stored as JSON lines, and the tables of how often they were right."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from statistics import fmean

import msgspec
import numpy as np

from benchmarks.attribution.methods import Answer, Method
from quorum.comparison.statistics.bounded import bounded_mean_interval
from quorum_base.user_errors import UserError

BINS = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
"""Bounds of the probabilities in the table of calibration."""
SURE = 0.8
"""Probability from which on a verdict counts as sure."""


class Label(msgspec.Struct, frozen=True):
    """The label of a run.

    Attributes:
        agent: name of the participant with the decisive mistake; None: nobody decides wrongly.
        t: environment step of the decision; None: there is none.
        kind: of the fault, or of the failure without one.
    """

    agent: str | None
    t: int | None
    kind: str


class Record(msgspec.Struct, frozen=True):
    """The answers of a method about a run: a line of the file.

    Attributes:
        run: name of its folder, or of the case.
        method: name of the row.
        answers: equally likely answers; none if the method refused the run.
        label: label of the run; None if nothing is known.
        refused: why the method could not judge the run; empty if it could.
    """

    run: str
    method: str
    answers: tuple[Answer, ...]
    label: Label | None = None
    refused: str = ""

    @property
    def named(self) -> bool:
        """Whether it names an agent."""
        return any(answer.agent is not None for answer in self.answers)

    @property
    def agent(self) -> float:
        """The probability that the agent is right."""
        return fmean([self._right(answer) for answer in self.answers] or [0])

    @property
    def step(self) -> float:
        """The probability that agent and step are right."""
        return fmean([self._right(one) and one.t == self._label.t for one in self.answers] or [0])

    @property
    def probability(self) -> float | None:
        """The probability that the method states for its answer; None if it states none."""
        return self.answers[0].probability if len(self.answers) == 1 else None

    @property
    def sure(self) -> bool:
        """Whether it names an agent with a probability of at least `SURE`."""
        return self.named and (self.probability or 0.0) >= SURE

    @property
    def _label(self) -> Label:
        assert self.label is not None, f"{self.run} has no label"
        return self.label

    def _right(self, answer: Answer) -> bool:
        return answer.agent == self._label.agent


Runs = Iterable[tuple[str, Path, Label | None]]
"""The name, the folder and the label of each run."""


def record(runs: Runs, rows: Mapping[str, Method], file: Path) -> list[Record]:
    """Run all methods on all runs, and add each answer to a file as soon as it is available.

    A run and a method that are already in the file are skipped, so a killed command continues.

    Raises:
        UserError: the file belongs to other runs.
    """
    known = {(one.run, one.method): one for one in read(file)}
    found = []
    with file.open("ab") as lines:
        for name, folder, label in runs:
            for row, method in rows.items():
                one = known.get((name, row))
                if one is None:
                    one = _ask(name, folder, label, row, method)
                    lines.write(msgspec.json.encode(one) + b"\n")
                    lines.flush()
                elif one.label != label:
                    raise UserError(f"{file}: {name} has another label there", "Give another file with --out.")
                found.append(one)
    return found


def _ask(name: str, folder: Path, label: Label | None, row: str, method: Method) -> Record:
    try:
        return Record(name, row, tuple(method(folder)), label)
    except UserError as error:
        return Record(name, row, (), label, error.message)


def read(file: Path) -> Iterator[Record]:
    """Read the records of a file, and drop a truncated last line."""
    try:
        text = file.read_bytes()
    except FileNotFoundError:
        return
    whole, _, cut = text.rpartition(b"\n")
    if cut:
        file.write_bytes(whole + b"\n" if whole else b"")
    for number, line in enumerate(whole.splitlines(), 1):
        try:
            yield msgspec.json.decode(line, type=Record)
        except msgspec.MsgspecError as error:
            raise UserError(f"{file}, line {number}: no record: {error}", "Give another file with --out.") from error


def accuracy(records: Sequence[Record]) -> Iterator[str]:
    """Yield a table with a row for each method."""
    yield "| method | runs | names somebody | agent | agent and step |"
    yield "|---|---|---|---|---|"
    for method, group in _by_method(records):
        named, agent, step = (share([value(one) for one in group]) for value in _VALUES)
        yield f"| {method} | {len(group)} | {named} | {agent} | {step} |"


def by_group(records: Sequence[Record], what: str, of: Mapping[str, str]) -> Iterator[str]:
    """Yield a table with a row for each group of runs: the percentage with the right agent, and with agent and step.

    Args:
        records: records of the runs.
        what: name of the groups.
        of: the group of each run.
    """
    methods = dict(_by_method(records))
    yield f"| {what} | runs | {' | '.join(methods)} |"
    yield "|---" * (len(methods) + 2) + "|"
    for group in sorted(set(of.values())):
        cells = []
        for mine in methods.values():
            runs = [one for one in mine if of[one.run] == group]
            agent, step = (fmean(values) for values in ([one.agent for one in runs], [one.step for one in runs]))
            cells.append(f"{100 * agent:.0f} / {100 * step:.0f}")
        yield f"| {group} | {len(runs)} | {' | '.join(cells)} |"


def false_names(records: Sequence[Record]) -> Iterator[str]:
    """Yield a table of how often methods name somebody in failures without a fault; empty if there are none."""
    free = [one for one in records if one.label is not None and one.label.agent is None]
    if not free:
        return
    yield f"| method | failure without a fault | runs | names somebody | with a probability of {SURE:g} or more |"
    yield "|---|---|---|---|---|"
    for method, group in _by_method(free):
        by_kind: dict[str, list[Record]] = {}
        for one in group:
            by_kind.setdefault(one.label.kind if one.label is not None else "", []).append(one)
        for kind, runs in {**by_kind, "**all**": group}.items():
            named, sure = share([float(one.named) for one in runs]), share([float(one.sure) for one in runs])
            yield f"| {method} | {kind} | {len(runs)} | {named} | {sure} |"


def calibration(records: Sequence[Record]) -> Iterator[str]:
    """Yield a table of how often verdicts that name an agent are right, by their stated probability."""
    yield "| method | probability | verdicts | mean probability | agent and step right |"
    yield "|---|---|---|---|---|"
    for method, group in _by_method(records):
        verdicts = [(one.probability, one.step) for one in group if one.named and one.probability is not None]
        for low, high in pairwise(BINS) if verdicts else ():
            inside = [(p, right) for p, right in verdicts if low <= p < high or p >= high == 1]
            mean = f"{fmean(p for p, _ in inside):.2f}" if inside else "-"
            label = f"{low:g} to {high:g}"
            yield f"| {method} | {label} | {len(inside)} | {mean} | {share([right for _, right in inside])} |"


def verdicts(files: Sequence[Path]) -> Iterator[str]:
    """Yield the answers of tables as CSV: a line for each run and method that gives one answer."""
    yield "table,run,kind,labelled_agent,labelled_step,method,agent,step,probability"
    for file in files:
        for one in read(file):
            if one.label is not None and len(one.answers) == 1:
                label, answer = one.label, one.answers[0]
                chance = None if answer.probability is None else f"{answer.probability:.3f}"
                said = answer.agent, answer.t, chance
                cells = [file.stem, one.run, label.kind, label.agent, label.t, one.method, *said]
                yield ",".join("" if cell is None else str(cell) for cell in cells)


def refusals(records: Sequence[Record]) -> Iterator[str]:
    """Yield a line for each method that could not judge some runs."""
    for method, group in _by_method(records):
        if why := [one.refused for one in group if one.refused]:
            yield f"{method}: could not judge {len(why)} of {len(group)} runs, such as: {why[0].splitlines()[0]}"


def share(values: Sequence[float]) -> str:
    """Format a share in percent, with its 95 % interval (Clopper and Pearson 1934) if each value is 0 or 1."""
    if not values:
        return "-"
    whole = f"{100 * fmean(values):.0f} %"
    if not {*values} <= {0, 1}:
        return whole
    low, high = bounded_mean_interval(np.array(values, dtype=np.float64), 0.025)
    return f"{whole} [{100 * low:.0f}, {100 * high:.0f}]"


_VALUES = (lambda one: float(one.named), lambda one: one.agent, lambda one: one.step)


def _by_method(records: Sequence[Record]) -> Iterator[tuple[str, Sequence[Record]]]:
    for method in dict.fromkeys(one.method for one in records):
        yield method, [one for one in records if one.method == method]

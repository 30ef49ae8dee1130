"""The answers of methods, stored as JSON lines, and the tables of how often they were right."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from statistics import fmean

import msgspec

from benchmarks.attribution.methods import Answer, Method
from quorum.what_if.blame.posterior import Tally
from quorum_base.user_errors import UserError

BINS = (0.0, 0.2, 0.4, 0.6, 0.8, 0.9, 1.0)
"""Bounds of the probabilities in the table of calibration."""
SURE = 0.8
"""Probability above which a verdict counts as sure."""


class Label(msgspec.Struct, frozen=True):
    """The label of a run.

    Attributes:
        agent: name of the participant with the decisive mistake.
        t: environment step of the decision.
        kind: of the fault.
    """

    agent: str
    t: int
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
    known = {(one.run, one.method): one for one in _read(file)}
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


def _read(file: Path) -> Iterator[Record]:
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


def calibration(records: Sequence[Record]) -> Iterator[str]:
    """Yield a table of how often verdicts are right, by their stated probability.

    Bins hold answers that name an agent. Sure answers that name nobody have a row, too: a labelled run has a culprit.
    """
    yield "| method | probability | verdicts | mean probability | agent and step right |"
    yield "|---|---|---|---|---|"
    for method, group in _by_method(records):
        verdicts = [(one.probability, one.step, one.named) for one in group if one.probability is not None]
        bins = [(low, high, True, f"{low:g} to {high:g}") for low, high in pairwise(BINS)]
        sure = [(SURE, 1.0, named, f"**{SURE:g} or more**{who}") for named, who in ((True, ""), (False, ", nobody"))]
        for low, high, named, label in [*bins, *sure]:
            inside = [(p, ok) for p, ok, names in verdicts if names == named and (low <= p < high or p >= high == 1)]
            if inside:
                mean, right = fmean(p for p, _ in inside), share([ok for _, ok in inside])
                yield f"| {method} | {label} | {len(inside)} | {mean:.2f} | {right} |"


def refusals(records: Sequence[Record]) -> Iterator[str]:
    """Yield a line for each method that could not judge some runs."""
    for method, group in _by_method(records):
        if why := [one.refused for one in group if one.refused]:
            yield f"{method}: could not judge {len(why)} of {len(group)} runs, such as: {why[0].splitlines()[0]}"


def share(values: Sequence[float]) -> str:
    """Format a share in percent, with its 95 % interval if each value is 0 or 1."""
    if not values:
        return "-"
    whole = f"{100 * fmean(values):.0f} %"
    if not {*values} <= {0, 1}:
        return whole
    low, high = Tally(int(sum(values)), len(values)).interval
    return f"{whole} [{100 * low:.0f}, {100 * high:.0f}]"


_VALUES = (lambda one: float(one.named), lambda one: one.agent, lambda one: one.step)


def _by_method(records: Sequence[Record]) -> Iterator[tuple[str, Sequence[Record]]]:
    for method in dict.fromkeys(one.method for one in records):
        yield method, [one for one in records if one.method == method]

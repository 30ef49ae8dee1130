"""Measures methods that name the agent who made a run fail, and the agreement of annotators. See docs/attribution.md.

python -m benchmarks.attribution table --half open --cases 40 --faultless 40 --out open.jsonl
python -m benchmarks.attribution prior open.jsonl
python -m benchmarks.attribution verdicts open.jsonl hidden.jsonl
python -m benchmarks.attribution natural runs/natural --out natural.jsonl --labels labels.jsonl
python -m benchmarks.attribution label-sheet runs/natural --annotator ada > labels.jsonl
python -m benchmarks.attribution agree labels.jsonl --runs runs/natural
"""

from __future__ import annotations

import argparse
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from benchmarks.attribution import natural, prior, score
from benchmarks.attribution.cases import Case, kinds_of, make_cases, read_cases
from benchmarks.attribution.faultless import make_faultless
from benchmarks.attribution.labels import agreement, failed_runs, read_labels, sheet
from benchmarks.attribution.methods import SIMULATED, Settings, chosen, mind_of, turns_of
from quorum.what_if.blame.answer import USUAL_BUDGET
from quorum_base.user_errors import UserError


def table(asked: argparse.Namespace) -> Iterator[str]:
    """Make labelled runs, run the methods on them, and yield the tables."""
    cases = [
        *_cases(asked.out.with_suffix(".runs"), asked, asked.cases, make_cases),
        *_cases(asked.out.with_suffix(".faultless"), asked, asked.faultless, make_faultless),
    ]
    short = [one for one in cases if asked.most_turns is None or turns_of(one.run) <= asked.most_turns]
    runs = [(one.name, one.run, score.Label(one.agent, one.t, one.kind)) for one in short]
    settings = replace(_settings(asked), conditions={one.name: (one.success, one.margin) for one in short})
    records = score.record(runs, chosen(asked.method, settings), asked.out)
    planted = [one for one in short if one.agent is not None]
    kinds, teams = {one.name: one.kind for one in planted}, {one.name: mind_of(one.run) for one in planted}
    if planted:
        faults = [one for one in records if one.run in kinds]
        yield from score.accuracy(faults)
        for what, groups in (("kind of fault", kinds), ("minds of the team", teams)):
            yield from ("", *score.by_group(faults, what, groups))
    for lines in (score.false_names, score.calibration, score.refusals):
        yield from ("", *lines(records))


def of_folder(asked: argparse.Namespace) -> Iterator[str]:
    """Run the methods on the failed runs of a folder, and yield a table of agreement."""
    labels = read_labels(asked.labels, asked.folder) if asked.labels is not None else []
    runs = ((name, asked.folder / name, None) for name, _ in failed_runs(asked.folder))
    records = score.record(runs, chosen(asked.method, _settings(asked)), asked.out)
    yield from natural.agreement(records, labels)
    yield ""
    yield from score.refusals(records)


def _settings(asked: argparse.Namespace) -> Settings:
    return Settings(asked.reader, asked.budget_calls, asked.budget_reruns, asked.margin)


def _cases(
    folder: Path, asked: argparse.Namespace, count: int, make: Callable[[Path, str, int, int], Iterator[Case]]
) -> list[Case]:
    """Return labelled runs. They are made only once; cases of a killed command are made again.

    Raises:
        UserError: the folder contains other cases.
    """
    kinds_of(asked.half)  # registers the minds of the runs
    if not count:
        return []
    if not folder.exists():
        partial = folder.with_suffix(".partial")
        shutil.rmtree(partial, ignore_errors=True)
        for _ in make(partial, asked.half, count, asked.seed):
            pass
        partial.rename(folder)
    found = read_cases(folder)
    if len(found) < count or any(one.half != asked.half for one in found):
        raise UserError(f"{folder}: it holds {len(found)} cases of another command", "Give another file with --out.")
    return found[:count]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    methods = argparse.ArgumentParser(add_help=False)
    methods.add_argument("--out", type=Path, required=True, help="file of the answers; a killed command continues it")
    methods.add_argument("--method", action="append", default=[], help="start of a row's name, or module:function")
    methods.add_argument("--reader", default=SIMULATED, help="model of the readers, as llm=NAME")
    methods.add_argument("--budget-calls", type=int, help="maximum number of answers of a paid model for each run")
    methods.add_argument("--budget-reruns", type=int, default=USUAL_BUDGET.reruns, help="re-runs of a search per run")
    methods.add_argument("--margin", type=int, help="margin of the search, as in quorum blame --margin")

    one = commands.add_parser("table", parents=[methods], help="how often methods are right on labelled runs")
    one.add_argument("--half", choices=("open", "hidden"), required=True)
    one.add_argument("--cases", type=int, required=True, help="number of runs with a planted fault")
    one.add_argument("--faultless", type=int, default=0, help="number of failures without a fault")
    one.add_argument("--most-turns", type=int, help="leave out runs with more turns: they take longest")
    one.add_argument("--seed", type=int, default=0)
    one.set_defaults(lines=table)

    one = commands.add_parser("natural", parents=[methods], help="how far methods agree on failed runs of your own")
    one.add_argument("folder", type=Path, help="folder of runs")
    one.add_argument("--labels", type=Path, help="file of labels by hand")
    one.set_defaults(lines=of_folder)

    one = commands.add_parser("prior", help="estimate the priors of the search from a table of the open half")
    one.add_argument("file", type=Path, help="file of the answers")
    one.set_defaults(lines=lambda asked: prior.estimate(list(score.read(asked.file))))

    one = commands.add_parser("verdicts", help="print the answers of tables as CSV")
    one.add_argument("files", type=Path, nargs="+", help="files of the answers")
    one.set_defaults(lines=lambda asked: score.verdicts(asked.files))

    one = commands.add_parser("label-sheet", help="print an empty label for each failed run")
    one.add_argument("folder", type=Path, help="folder of runs")
    one.add_argument("--annotator", required=True, help="your name")
    one.set_defaults(lines=lambda asked: sheet(asked.folder, asked.annotator))

    one = commands.add_parser("agree", help="how far annotators agree")
    one.add_argument("labels", type=Path, help="file with a label on each line")
    one.add_argument("--runs", type=Path, help="folder of the runs, to check that agents and steps exist")
    one.set_defaults(lines=lambda asked: agreement(read_labels(asked.labels, asked.runs)))
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; a user's mistake ends with exit code 2."""
    asked = _parser().parse_args(arguments)
    try:
        for line in asked.lines(asked):
            print(line)
    except UserError as error:
        print(f"{error.message}\n{error.hint}".rstrip(), file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())

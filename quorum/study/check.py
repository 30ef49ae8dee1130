"""Verify the folder of a study, its runs and its sheet, and replay every run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

from quorum.runs import read_results
from quorum.runs.verify import FolderCheck, check_folder, each_run
from quorum.storage.run_files import RunFiles
from quorum.study.bundle import files_by_digest
from quorum.study.rerun import Rerun, rerun
from quorum.study.sheet import LARGEST, SHEET, STUDY, differing_fields, read_study, sheet_of
from quorum_base.user_errors import UserError


@dataclass(frozen=True, slots=True)
class StudyCheck:
    """The result of verifying a study.

    Attributes:
        folder: as given.
        runs: the result for each run, and which are missing.
        reruns: the results of replaying the intact runs.
        problems: problems of other files, each with the name of the file.
    """

    folder: Path
    runs: FolderCheck
    reruns: tuple[Rerun, ...]
    problems: tuple[str, ...]

    @property
    def damaged(self) -> bool:
        """Whether anything is damaged, or any replay differs."""
        return bool(self.problems or self.runs.damaged or any(run.difference for run in self.reruns))

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON-ready data."""
        own = {"folder": str(self.folder), "problems": list(self.problems)}
        return {**self.runs.to_json(), **own, "reruns": [asdict(run) for run in self.reruns]}

    def lines(self) -> Iterator[str]:
        """Return it for a reader."""
        yield from (f"damaged: {problem}" for problem in self.problems)
        yield from self.runs.lines()
        for run in self.reruns:
            if run.difference:
                yield f"differs: {run.name}: {run.difference}"
        for reason, number in Counter(run.reason for run in self.reruns if run.reason).items():
            yield f"not played again ({number}): {reason}"
        equal = sum(not run.difference and not run.reason for run in self.reruns)
        yield f"{self.folder}: {equal} of {len(self.runs.runs)} runs played again with equal traces"


def check_if_study(place: Path, plugins: Sequence[str]) -> StudyCheck | None:
    """Verify a folder if it is a study; None for others."""
    return check_study(place, plugins) if RunFiles(place).exists(STUDY) else None


def check_study(folder: Path, plugins: Sequence[str] = ()) -> StudyCheck:
    """Verify a study, and replay its runs from their recorded replies, without changing anything.

    Args:
        folder: folder of the study.
        plugins: modules that register components and metrics; other processes load them as well.
    """
    problems = [*_sheet_problems(folder)]
    try:
        runs = check_folder(folder, plugins)
    except UserError as error:  # the plan is damaged, or there is no run
        problems.append(error.message)
        runs = FolderCheck(folder, (), (), ())
    whole = [folder / run.name for run in runs.runs if not run.problems and not run.unfinished]
    again = partial(rerun, files=files_by_digest(folder))
    return StudyCheck(folder, runs, tuple(each_run(again, whole, plugins)), tuple(dict.fromkeys(problems)))


def _sheet_problems(folder: Path) -> Iterator[str]:
    """Rebuild the sheet from the runs, and compare the stored one with it."""
    try:
        stored = RunFiles(folder).read(SHEET, LARGEST)
        sheet = sheet_of(read_results(folder), read_study(folder))
        if stored is None:
            yield f"{SHEET}: there is no such file"
        elif differing := differing_fields(stored, sheet):
            yield f"{SHEET}: the runs give other values for {', '.join(differing)}"
    except UserError as error:
        yield f"{SHEET}: cannot be rebuilt: {error.message.removeprefix(f'{folder}/')}"

"""Branches of recorded runs as the cells of a sweep: runs x branch points x changes, and an unchanged control."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import product
from pathlib import Path
from typing import Any, ClassVar

from maeil.errors import TraceError
from maeil.outcomes import Outcome
from maeil.trace import Instant, Prefix
from quorum.configuration.catalogue import EXPERIMENT
from quorum.configuration.compose import Composer
from quorum.configuration.option_folders import ConfigDir
from quorum.configuration.schema import Configuration
from quorum.episode.episode_folder import PARTIAL
from quorum.runs.recorded_episode import open_episode
from quorum.runs.run_folder import RunFolder, is_run, no_such_folder, runs_inside
from quorum.runs.sweep_file import DamagedPlan, SweepParent, read_sweep
from quorum.sweeps.grid import MOST_POINTS, Axis, axes, count, points
from quorum.sweeps.plan import Planner, SweepPlan
from quorum.sweeps.problems import Problems, affected, refusal
from quorum.what_if.branch.change import UNCHANGED, Change, instant_of
from quorum.what_if.branch.parent import Parent
from quorum.what_if.branch.planned_cell import Parents, PlannedBranchCell
from quorum_base.user_errors import UserError


@dataclass(frozen=True, slots=True)
class BranchGrid(Planner):
    """Plans a sweep of branches, which varies these in addition to the `KEY=VALUES` of its grid.

    Attributes:
        folders: runs, and sweeps, which include all of their runs that did not fail.
        at: branch points, `STEP` or `STEP:TIME` with a cognitive time; empty: where the first dropped message is sent.
        change: the changes that all of its branches share.
        draws: samples of each branch.
        control: whether each run also continues from each branch point without a change.
    """

    verb: ClassVar[str] = "branch"
    multiplies: ClassVar[bool] = True

    folders: tuple[Path, ...] = field()  # without a default: that of the class above is a property
    at: tuple[str, ...] = ()
    change: Change = UNCHANGED
    draws: int = 1
    control: bool = True

    @property
    def options(self) -> tuple[str, ...]:
        """The options of `quorum branch` that request this."""
        repeated = [*(f"--at {at}" for at in self.at), *self.change.told]
        found = [word for option in repeated for word in option.split(" ", 1)]
        draws = ("--draws", str(self.draws)) if self.draws > 1 else ()
        luck = ("--luck",) if self.change.luck else ()
        return (*found, *draws, *luck, *([] if self.control else ["--no-control"]))

    def plan(self, words: Sequence[str], config_dir: ConfigDir = ()) -> SweepPlan:
        """Plan a sweep of branches.

        Args:
            words: `KEY=VALUES` in Hydra's sweep grammar, with keys that a branch can change.
            config_dir: folders with more options of the groups.

        Raises:
            UserError: there is no such run, a word or a branch point is invalid, no branch can run, or there is nothing
                to plan.
        """
        if any(word.partition("=")[0] == EXPERIMENT for word in words):
            raise UserError(f"{EXPERIMENT}: branches continue recorded runs, so their experiment cannot change")
        edit = self.change
        if not self.at and not edit.drops:
            raise UserError(
                "--at is missing: give the step from which the branches are live", "For example: --at 5 --at 10"
            )
        instants: list[Instant | None] = [*dict.fromkeys(map(instant_of, self.at))] or [None]
        grid = axes(words, Composer(config_dir))
        changes = [
            replace(edit, edits=tuple(override.input_line or "" for override in point), config_dir=config_dir)
            for point in (points(grid) if grid or edit.told else ())
        ]
        if self.control or not changes:
            changes.insert(0, replace(UNCHANGED, luck=edit.luck))
        runs = list(runs_of(self.folders))
        number = len(runs) * len(instants) * len(changes) * self.draws
        if number > MOST_POINTS:
            sizes = f"runs: {len(runs):,}, branch points: {len(instants):,}, changes: {count(grid):,}"
            sizes += f", draws: {self.draws:,}"
            raise UserError(f"the sweep has {number:,} branches ({sizes}): the limit is {MOST_POINTS:,}")

        parents, problems = Parents(), Problems()
        found: dict[str, PlannedBranchCell] = {}
        places: dict[str, str] = {}
        edited: dict[tuple[Path, int], Configuration] = {}  # editing takes 30 ms and does not depend on the instant
        for run, at, (index, change) in product(runs, instants, enumerate(changes)):
            place = _place(run, f"--at {at}" if at is not None else "", varied(change, grid))
            try:
                parent: Parent = parents.open(run.absolute())
                instant = at if at is not None else parent.instant_of_drop(edit.drops)
                branch = parent.branch(instant, change, after=edited.get((run, index)))
            except UserError as error:
                problems.add(place, error, self.draws)
                continue
            edited[run, index] = branch.cell.configuration
            for draw in range(self.draws):
                planned = PlannedBranchCell.of_branch(branch, run, change, draw)
                found.setdefault(planned.name, planned)
                places.setdefault(planned.kind, place)
        if not found:
            raise refusal(problems.found, number)
        repeated = number - len(found) - affected(problems.found)
        return plan_of(found.values(), places, words=tuple(words), repeated=repeated, problems=problems.found)

    def check(self, planned: SweepPlan, folder: Path) -> None:
        """Refuse a sweep of branches whose runs are gone or have changed since it started.

        Args:
            planned: the new plan.
            folder: folder of the sweep, which may not exist yet.

        Raises:
            UserError: a run is gone, or has changed.
        """
        check_parents(planned, folder)


def plan_of(cells: Iterable[PlannedBranchCell], places: Mapping[str, str], **more: Any) -> SweepPlan:
    """Return the plan of a sweep of branches.

    Args:
        cells: the branches.
        places: the arguments that lead to each kind of cell.
        more: its words, repeated cells and problems, if it has any.
    """
    cells = tuple(cells)
    origins = {(cell.run, cell.origin.instant, cell.origin.prefix): None for cell in cells}
    none: dict[str, Any] = {"experiment": None, "words": (), "arms": {}, "repeated": 0, "problems": (), "metrics": ()}
    parents = tuple(SweepParent(run=str(run), at=str(at), prefix=prefix) for run, at, prefix in origins)
    return SweepPlan(cells=cells, places=places, published=None, without_effect="", parents=parents, **none | more)


def check_parents(planned: SweepPlan, folder: Path) -> None:
    """Refuse a sweep of branches whose runs are gone or have changed since it started; see `BranchGrid.check`."""
    before = None
    if folder.is_dir():
        with suppress(DamagedPlan):  # the plan is rewritten, and nothing is known about the earlier one
            before = read_sweep(folder)
    now = {(os.path.realpath(parent.run), parent.at): set[str]() for parent in planned.parents}
    for parent in planned.parents:
        now[os.path.realpath(parent.run), parent.at].add(parent.prefix)
    for parent in before.parents if before is not None else ():
        run = Path(os.path.realpath(folder / parent.run))
        hint = "Restore the run, or start a separate sweep: --name NAME."
        if not run.is_dir():
            raise UserError(f"{folder.name}: the parent run of a branch is missing: {folder / parent.run}", hint)
        if parent.prefix not in now.get((str(run), parent.at), {parent.prefix}) and not _begins_so(run, parent):
            raise UserError(f"{folder.name}: the parent run of a branch has changed: {run}", hint)


def _begins_so(run: Path, parent: SweepParent) -> bool:
    """Whether a run starts with the recorded prefix, with or without a change of the world."""
    trace = open_episode(run).trace
    for changed in (False, True):
        with suppress(TraceError):
            if Prefix(trace, instant_of(parent.at), changed=changed).digest == parent.prefix:
                return True
    return False


def runs_of(folders: Sequence[Path]) -> Iterator[Path]:
    """Return all runs of some folders that did not fail, each once.

    Raises:
        UserError: there is no such folder, or it holds no such run.
    """
    seen: set[Path] = set()
    for folder in folders:
        if not folder.is_dir():
            raise no_such_folder(folder)
        inside = [folder] if is_run(folder) or not folder.is_dir() else [*_finished(folder)]
        if not inside:
            raise UserError(f"{folder}: it holds no finished run that did not fail", _instead(folder))
        for run in inside:
            if (real := run.resolve()) not in seen:
                seen.add(real)
                yield run


def _instead(folder: Path) -> str:
    """Suggest the sweeps inside a folder."""
    inside = sorted(path.parent.name for path in folder.glob("*/sweep.json"))
    return f"It holds sweeps; give one or more of them: {', '.join(inside[:3])}." if inside else ""


def _finished(folder: Path) -> Iterator[Path]:
    """Return the finished runs of a folder that did not fail."""
    for run in runs_inside(folder):
        if (
            PARTIAL not in run.name
            and not run.is_symlink()
            and RunFolder(run).meta().outcome not in (None, Outcome.ERROR)
        ):
            yield run


def varied(change: Change, grid: Sequence[Axis]) -> str:
    """Return the edits of a change that have several values in the grid."""
    swept = {axis.key for axis in grid if len(axis.values) > 1}
    return " ".join(edit for edit in change.edits if edit.partition("=")[0] in swept)


def _place(*words: object) -> str:
    run, *rest = words
    return " ".join([Path(str(run)).name, *(str(word) for word in rest if word)])

"""Branches of recorded runs as the cells of a sweep: runs x instants x changes, and a control without any change."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path

from maeil.errors import TraceError
from maeil.trace import Instant, Prefix
from maeil.user_errors import UserError
from quorum.experiments.branch.change import Change
from quorum.experiments.branch.command import BranchRequest, edits_of_minds, instant_of
from quorum.experiments.branch.parent import Parent
from quorum.experiments.branch.planned_cell import Parents, PlannedBranchCell
from quorum.experiments.configuration.catalogue import EXPERIMENT
from quorum.experiments.configuration.cell import Cell
from quorum.experiments.configuration.compose import Composer
from quorum.experiments.configuration.schema import Configuration
from quorum.experiments.episode.episode_folder import PARTIAL
from quorum.experiments.results.recorded_episode import open_episode
from quorum.experiments.results.run_folder import RunFolder, is_run, no_such_folder, runs_inside
from quorum.experiments.results.sweep_file import DamagedPlan, SweepParent, read_sweep
from quorum.experiments.sweep.grid import MOST_POINTS, Axis, Point, axes, count, points
from quorum.experiments.sweep.plan import SweepPlan
from quorum.experiments.sweep.problems import Problems, affected, refusal


@dataclass(frozen=True, slots=True)
class BranchOptions:
    """What a sweep branches off, and what is another in its branches beside the words of the grid.

    Attributes:
        folders: of runs, and of sweeps, all runs of which are meant that did not end in an error.
        at: the instants: `STEP`, or `STEP:TIME` with a time of the cognitive clock.
        minds: `AGENT=MINDS`: whose mind is which from then on; several are swept.
        says: `AGENT:TEXT`: what a participant says in its first turn to speak from then on.
        plans: `AGENT:ACTIONS`: what an agent plans in its first turn to plan from then on, as JSON.
        drops: ids of messages of the run that their senders do not send.
        world: what of the world is another from then on, as JSON in its own words; None: nothing.
        draws: samples of each branch.
        control: whether each run is also gone on with from each instant without a change.
    """

    folders: tuple[Path, ...]
    at: tuple[str, ...]
    minds: tuple[str, ...] = ()
    says: tuple[str, ...] = ()
    plans: tuple[str, ...] = ()
    drops: tuple[int, ...] = ()
    world: str | None = None
    draws: int = 1
    control: bool = True

    @property
    def words(self) -> tuple[str, ...]:
        """The same as one would type it."""
        options = (("--branch", map(str, self.folders)), ("--at", self.at), ("--mind", self.minds))
        told = (("--say", self.says), ("--plan", self.plans), ("--drop", map(str, self.drops)))
        found = [word for option, values in (*options, *told) for value in values for word in (option, value)]
        world = ("--world", self.world) if self.world is not None else ()
        draws = ("--draws", str(self.draws)) if self.draws > 1 else ()
        return (*found, *world, *draws, *([] if self.control else ["--no-control"]))


def plan_branches(words: Sequence[str], asked: BranchOptions, config_dir: Path | None = None) -> SweepPlan:
    """Plan a sweep of branches.

    Args:
        words: `KEY=VALUES` in Hydra's sweep grammar, of the keys that a branch can change.
        asked: what is branched, when and how.
        config_dir: folder with more options of the groups.

    Raises:
        UserError: there is no such run, a word or an instant is not valid, no branch can be run, or nothing is asked.
    """
    if any(word.partition("=")[0] == EXPERIMENT for word in words):
        raise UserError(f"{EXPERIMENT}: branches go on from recorded runs, which have their experiment")
    if not asked.at:
        raise UserError("--at is missing: say from which step on the branches are live", "For example: --at 5 --at 10")
    instants = list(dict.fromkeys(map(instant_of, asked.at)))
    told = BranchRequest(
        Path(), says=asked.says, plans=asked.plans, drops=asked.drops, world=asked.world, config_dir=config_dir
    ).change
    grid = axes([*words, *edits_of_minds(asked.minds)], Composer(config_dir))
    changes = [Change()] if asked.control else []
    if grid or told.words or told.drops or told.world is not None:
        changes += [replace(told, edits=_edits(point)) for point in points(grid)]
    if not changes:
        raise UserError("--no-control: nothing is changed, so there is nothing to run", "Give KEY=VALUES, or --mind.")
    runs = list(_runs(asked.folders))
    number = len(runs) * len(instants) * len(changes) * asked.draws
    if number > MOST_POINTS:
        sizes = f"runs: {len(runs):,}, instants: {len(instants):,}, changes: {count(grid):,}, draws: {asked.draws:,}"
        raise UserError(f"the sweep has {number:,} branches ({sizes}): at most {MOST_POINTS:,} are planned")

    parents, problems = Parents(), Problems()
    found: dict[str, PlannedBranchCell] = {}
    places: dict[str, str] = {}
    begun: dict[SweepParent, None] = {}
    left: dict[tuple[Path, Instant], int] = {}
    edited: dict[tuple[Path, int], Configuration] = {}  # to edit one takes 30 ms, and it is the same at every instant
    for run, instant, (index, change) in product(runs, instants, enumerate(changes)):
        place = _place(run, f"--at {instant}", _told(change, grid))
        try:
            parent: Parent = parents.open(run.absolute())
            branch = parent.branch(instant, change, after=edited.get((run, index)))
        except UserError as error:
            problems.add(place, error, asked.draws)
            continue
        cell = branch.cell
        edited[run, index] = cell.configuration
        if (run, instant) not in left:
            left[run, instant] = branch.thoughts_left
        for planned in _draws(cell, run, change, asked.draws, left[run, instant]):
            found.setdefault(planned.name, planned)
            places.setdefault(planned.kind, place)
            begun[SweepParent(run=str(run.absolute()), at=str(instant), prefix=planned.branch.prefix)] = None
    if not found:
        raise refusal(problems.found, number)
    return SweepPlan(
        experiment=None,
        words=tuple(words),
        arms={},
        cells=tuple(found.values()),
        repeated=number - len(found) - affected(problems.found),
        problems=problems.found,
        places=places,
        metrics=(),
        published=None,
        without_effect="",
        parents=tuple(begun),
    )


def refuse_other_parents(plan: SweepPlan, folder: Path) -> None:
    """Make sure that the runs which a sweep branched off before are there, and are what they were.

    Args:
        plan: the present one.
        folder: of the sweep; it need not be there.

    Raises:
        UserError: a run is gone, or has changed.
    """
    before = None
    if folder.is_dir():
        with suppress(DamagedPlan):  # it is written anew, and says nothing of what there was before
            before = read_sweep(folder)
    now = {(os.path.realpath(parent.run), parent.at): set[str]() for parent in plan.parents}
    for parent in plan.parents:
        now[os.path.realpath(parent.run), parent.at].add(parent.prefix)
    for parent in before.parents if before is not None else ():
        run = Path(os.path.realpath(folder / parent.run))
        hint = "Bring it back as it was, or start a sweep of its own: --name NAME."
        if not run.is_dir():
            raise UserError(f"{folder.name}: a run that it branches off is gone: {folder / parent.run}", hint)
        if parent.prefix not in now.get((str(run), parent.at), {parent.prefix}) and not _begins_so(run, parent):
            raise UserError(f"{folder.name}: a run that it branches off has changed since: {run}", hint)


def _begins_so(run: Path, parent: SweepParent) -> bool:
    """Whether a run has a beginning, before a change of the world or before any other."""
    trace = open_episode(run).trace
    for changed in (False, True):
        with suppress(TraceError):
            if Prefix(trace, instant_of(parent.at), changed=changed).digest == parent.prefix:
                return True
    return False


def _runs(folders: Sequence[Path]) -> Iterator[Path]:
    """Return the runs that are meant, each once."""
    seen: set[Path] = set()
    for folder in folders:
        if not folder.exists():
            raise no_such_folder(folder)
        inside = [folder] if is_run(folder) or not folder.is_dir() else [*_finished(folder)]
        if not inside:
            raise UserError(f"--branch {folder}: it holds no runs that ended, but for failed ones", _instead(folder))
        for run in inside:
            if (real := run.resolve()) not in seen:
                seen.add(real)
                yield run


def _instead(folder: Path) -> str:
    """Return what may have been meant."""
    inside = sorted(path.parent.name for path in folder.glob("*/sweep.json"))
    return f"It holds sweeps; give one or more of them: {', '.join(inside[:3])}." if inside else ""


def _finished(folder: Path) -> Iterator[Path]:
    """Return the runs of a folder that have ended, and not in an error."""
    for run in runs_inside(folder):
        if PARTIAL not in run.name and not run.is_symlink() and RunFolder(run).meta().outcome not in (None, "error"):
            yield run


def _draws(cell: Cell, run: Path, change: Change, number: int, left: int) -> Iterator[PlannedBranchCell]:
    """Return so many samples of a branch."""
    for draw in range(number):
        branch = replace(cell.branch, draw=draw) if cell.branch is not None else None
        yield PlannedBranchCell.of_branch(replace(cell, branch=branch), run, change, left)


def _edits(point: Point) -> tuple[str, ...]:
    return tuple(override.input_line or "" for override in point)


def _told(change: Change, grid: Sequence[Axis]) -> str:
    """Return of a change what the grid has several values of."""
    swept = {axis.key for axis in grid if len(axis.values) > 1}
    return " ".join(edit for edit in change.edits if edit.partition("=")[0] in swept)


def _place(*words: object) -> str:
    run, *rest = words
    return " ".join([Path(str(run)).name, *(str(word) for word in rest if word)])

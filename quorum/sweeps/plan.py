"""Turns the arguments of a command into the cells of a sweep."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

from quorum.configuration.catalogue import EXPERIMENT
from quorum.configuration.cell import Cell
from quorum.configuration.compose import Composer
from quorum.configuration.default_agents import TALKING, names_agents, needing_talkers, notice_of
from quorum.configuration.effects import EffectCheck
from quorum.configuration.kinds import Kinds
from quorum.configuration.option_folders import ConfigDir
from quorum.configuration.overrides import EXPERIMENT_FILES
from quorum.episode.planned_cell import PlannedCell
from quorum.runs.sweep_file import Published, SweepParent
from quorum.sweeps import experiment_file as named
from quorum.sweeps.grid import Axis, Point, axes, count, joined, points
from quorum.sweeps.lines import linked
from quorum.sweeps.problems import Problem, Problems, affected, listing, look_at, refusal
from quorum_base.user_errors import UserError


@dataclass(frozen=True, slots=True)
class SweepPlan:
    """The plan of a sweep.

    Attributes:
        experiment: name of the experiment, if the command names one.
        words: the `KEY=VALUE` arguments of the command.
        arms: arguments of each arm, without those with several values; empty without arms.
        cells: in planning order.
        repeated: grid points that name the same cell as another point; the cell runs once.
        problems: reasons why other grid points name no runnable cell.
        places: the grid arguments that lead to each kind of cell.
        metrics: metrics that a comparison shows by default; empty: the usual ones.
        published: comparable results published by others.
        without_effect: arguments without effect in some cells, in one line; empty if none.
        parents: recorded runs that the cells continue, with absolute folders; empty if none.
        implied: the minds of arms that name none, with the reason; empty if the default stays.
    """

    experiment: str | None
    words: tuple[str, ...]
    arms: Mapping[str, tuple[str, ...]]
    cells: tuple[PlannedCell, ...]
    repeated: int
    problems: tuple[Problem, ...]
    places: Mapping[str, str]
    metrics: tuple[str, ...]
    published: Published | None
    without_effect: str
    parents: tuple[SweepParent, ...] = ()
    implied: str = ""

    @property
    def notices(self) -> tuple[str, ...]:
        """Notices to print before anything runs."""
        skipped = f"skipped: {listing(self.problems, self.points)}" if self.problems else ""
        return tuple(notice for notice in (self.implied, self.without_effect, skipped) if notice)

    @property
    def points(self) -> int:
        """Number of distinct cells in the grid, including those that cannot run."""
        return len(self.cells) + affected(self.problems)

    def checked(self, folder: Path, *, skip_invalid: bool, with_keys: bool = True, money: bool = False) -> SweepPlan:
        """Check one cell of each kind before anything is written.

        Args:
            folder: folder of the sweep; kinds that already have a cell there are not checked again.
            skip_invalid: whether to leave out cells that cannot run.
            with_keys: whether API keys and provider packages are required; a forecast needs neither.
            money: whether the sweep has a budget in US dollars, so that prices must be known.

        Returns:
            The plan of the cells that can run.

        Raises:
            UserError: a cell cannot run; with `skip_invalid`, only if no cell can.
        """
        problems = Problems(self.problems)
        wrong = look_at(self.cells, folder, with_keys=with_keys, money=money)
        for cell in self.cells:
            if cell.kind in wrong:
                problems.add(self.places[cell.kind], wrong[cell.kind])
        left = tuple(cell for cell in self.cells if cell.kind not in wrong)
        if problems.found and not (skip_invalid and left):
            raise refusal(problems.found, self.points)
        return replace(self, cells=left, problems=problems.found)

    @property
    def name(self) -> str:
        """Default name of the sweep: the experiment's name, plus a hash of the cells if the arguments add to it."""
        if self.experiment is not None and len(self.words) == 1:
            return self.experiment
        digest = hashlib.sha256("\n".join(sorted(cell.hash for cell in self.cells)).encode()).hexdigest()
        return f"{self.experiment or 'sweep'}-{digest[:8]}"


@dataclass(frozen=True, slots=True)
class Planner:
    """Plans the cells of a sweep. The base class plans a grid of `KEY=VALUES` or a named experiment.

    Each planned cell (`quorum.episode.planned_cell`) then gives its worker the start of the episode.

    Attributes:
        verb: name of the command that plays the sweep.
        multiplies: whether it plays more episodes than its arguments name, so that paid models need a budget.
        estimate: the options that show what paid models would take.
    """

    verb: ClassVar[str] = "sweep"
    multiplies: ClassVar[bool] = False
    estimate: ClassVar[str] = "--dry-run"

    @property
    def folders(self) -> tuple[Path, ...]:
        """The folders that the command takes before its arguments."""
        return ()

    @property
    def options(self) -> tuple[str, ...]:
        """Command options specific to this planner."""
        return ()

    def plan(self, words: Sequence[str], config_dir: ConfigDir = ()) -> SweepPlan:
        """Plan the cells.

        Raises:
            UserError: an argument, a configuration or the experiment is not valid; the grid is empty; two arms are the
                same.
        """
        return plan(words, config_dir)

    def check(self, planned: SweepPlan, folder: Path) -> None:
        """Check that a plan continues what the sweep folder holds; the folder need not exist yet.

        Raises:
            UserError: the recorded runs that its cells continue are gone, or have changed.
        """


GRID = Planner()
"""Plans a grid or a named experiment."""


def plan(words: Sequence[str], config_dir: ConfigDir = ()) -> SweepPlan:
    """Plan a sweep.

    Args:
        words: `KEY=VALUES` in Hydra's sweep grammar, optionally with `experiment=NAME` or the file of an experiment.
        config_dir: folders with more group options, including experiments.

    Raises:
        UserError: an argument, a configuration or the experiment is not valid; the grid is empty; two arms are the
            same.
    """
    if not words:
        raise UserError(
            "a sweep needs a grid: KEY=VALUES, experiment=NAME, or a file with an experiment",
            "For example: quorum sweep n=2,4 'seed=range(0,5)'; quorum list experiment shows the named ones.",
        )
    name, file, rest = _split(words)
    experiment = named.Experiment(fixed=(), grid=(), arms={})
    if name is not None:
        experiment = named.load(name, config_dir) if file is None else named.read(file)
    composer = Composer(config_dir)
    for arm, own in experiment.arms.items():
        _single(axes(own, composer), f"arms.{arm}")
    planned = plan_experiment(experiment, rest, config_dir)
    return replace(planned, experiment=name, words=tuple(words))


def plan_experiment(experiment: named.Experiment, words: Sequence[str], config_dir: ConfigDir = ()) -> SweepPlan:
    """Plan a sweep of an experiment, which need not come from a file.

    Args:
        experiment: its grid and its arms.
        words: `KEY=VALUES` that replace the experiment's arguments with the same key.
        config_dir: folders with more group options.

    Raises:
        UserError: see `plan`.
    """
    composer = Composer(config_dir)
    given = axes(words, composer)
    fixed = _single(axes(experiment.fixed, composer), "fixed")
    grid = axes(experiment.grid, composer)
    arms = {arm: axes(own, composer) for arm, own in experiment.arms.items()}
    grids: dict[str | None, tuple[Axis, ...]] = {arm: joined(fixed, grid, own, given) for arm, own in arms.items()}
    grids, implied = _with_agents(grids or {None: joined(fixed, grid, given)}, composer)
    number = sum(map(count, grids.values()))
    effects = EffectCheck((axis.text for joint in grids.values() for axis in joint), config_dir)
    cells, problems, places = _cells(grids, composer, given, effects)
    if not cells:
        raise refusal(problems, number)
    return SweepPlan(
        experiment=None,
        words=tuple(words),
        arms={arm: tuple(axis.text for axis in own if not axis.swept) for arm, own in arms.items()},
        cells=cells,
        repeated=number - len(cells) - affected(problems),
        problems=problems,
        places=places,
        metrics=tuple(experiment.metrics),
        published=experiment.published,
        without_effect=effects.notice,
        implied=implied,
    )


def _split(words: Sequence[str]) -> tuple[str | None, Path | None, list[str]]:
    """Separate the experiment, by its name or as a file, from the other arguments."""
    prefix = f"{EXPERIMENT}="
    files = [word for word in words if word.endswith(EXPERIMENT_FILES) and "=" not in word]
    names = [word.removeprefix(prefix) for word in words if word.startswith(prefix)]
    if len(files) + len(names) > 1:
        raise UserError(f"{' '.join((*files, *names))}: a sweep has one experiment", "Run a sweep for each.")
    if files:
        return Path(files[0]).stem, Path(files[0]), [word for word in words if word not in files]
    if any(not name.isidentifier() and not name.replace("-", "_").isidentifier() for name in names):
        raise UserError(f"{EXPERIMENT}: give the name of one experiment", "quorum list experiment shows them.")
    return (names[0] if names else None), None, [word for word in words if not word.startswith(prefix)]


def _single(found: tuple[Axis, ...], where: str) -> tuple[Axis, ...]:
    for axis in found:
        if axis.swept:
            raise UserError(f"experiment: {where}: {axis.text} gives several values", "Put them in its grid.")
    return found


def _with_agents(
    grids: Mapping[str | None, tuple[Axis, ...]], composer: Composer
) -> tuple[dict[str | None, tuple[Axis, ...]], str]:
    """Add the minds that the arms without minds imply, with the reason: the same for all, as they are compared."""
    overrides = {arm: [value for axis in grid for value in axis.values] for arm, grid in grids.items()}
    unnamed = {arm: values for arm, values in overrides.items() if not names_agents(values)}
    needing = needing_talkers(value for values in unnamed.values() for value in values)
    own = axes([TALKING], composer) if needing else ()
    return {arm: (*grid, *own) if arm in unnamed else grid for arm, grid in grids.items()}, notice_of(needing)


def _cells(
    grids: Mapping[str | None, tuple[Axis, ...]], composer: Composer, given: Sequence[Axis], effects: EffectCheck
) -> tuple[tuple[PlannedCell, ...], tuple[Problem, ...], dict[str, str]]:
    def look(cell: Cell) -> None:
        _refuse_store(cell)
        effects.look_at(cell)

    kinds, problems = Kinds(look), Problems()
    places: dict[str, str] = {}
    found: dict[str, PlannedCell] = {}
    for arm, grid in grids.items():
        for point in points(grid):
            try:
                composed = kinds.cell(composer.compose(point))
            except UserError as error:
                problems.add(_place(arm, grid, point), error)
                continue
            cell = PlannedCell.of(composed, arm)
            if cell.kind not in places:
                places[cell.kind] = _place(arm, grid, point)
            other = found.setdefault(cell.name, cell)
            if other.arm != arm:
                raise _same(str(other.arm), str(arm), cell.name, given)
    return linked(tuple(found.values())), problems.found, places


def _refuse_store(cell: Cell) -> None:
    if cell.configuration.memory.store is not None:
        raise UserError(
            "memory.store: a sweep keeps the memory of a line in the folders of its cells",
            "Leave it out: 'episode=range(0,10)' plays a line of ten episodes.",
        )


def _place(arm: str | None, grid: Sequence[Axis], point: Point) -> str:
    """Return the swept arguments that lead to a point, except seed and draw."""
    words = [
        override.input_line or ""
        for axis, override in zip(grid, point, strict=True)
        if len(axis.values) > 1 and axis.key not in ("seed", "draw")
    ]
    return " ".join([arm, *words] if arm is not None else words)


def _same(one: str, other: str, name: str, given: Sequence[Axis]) -> UserError:
    overridden = ", ".join(axis.text for axis in given)
    hint = f"Does an argument override what distinguishes them? {overridden}" if overridden else ""
    return UserError(f"experiment: the arms {one!r} and {other!r} are the same: both run {name}", hint)

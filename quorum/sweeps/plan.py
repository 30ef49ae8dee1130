"""From the words of a command to the cells of a sweep."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

from quorum.configuration.catalogue import EXPERIMENT
from quorum.configuration.cell import Cell
from quorum.configuration.compose import Composer
from quorum.configuration.effects import EffectCheck
from quorum.configuration.kinds import Kinds
from quorum.configuration.option_folders import ConfigDir
from quorum.episode.planned_cell import PlannedCell
from quorum.runs.sweep_file import Published, SweepParent
from quorum.sweeps import experiment_file as named
from quorum.sweeps.grid import Axis, Point, axes, count, joined, points
from quorum.sweeps.lines import linked
from quorum.sweeps.problems import Problem, Problems, affected, listing, look_at, refusal
from quorum_base.user_errors import UserError


@dataclass(frozen=True, slots=True)
class SweepPlan:
    """What a sweep is to run.

    Attributes:
        experiment: name of the experiment, if the command names one.
        words: the `KEY=VALUE` words of the command.
        arms: arguments of each arm, without those of which it has several values; empty without arms.
        cells: in planning order.
        repeated: points of the grid that name a cell which another point names too; it is run once.
        problems: why other points of the grid name no cell that can be run.
        places: the words of the grid that lead to each kind of cell.
        metrics: what a comparison shows when nothing else is asked for; empty: the usual ones.
        published: what others have published of the same.
        without_effect: words that change nothing in some cells, in one line; empty for none.
        parents: recorded runs that the cells continue, their folders absolute; empty for none.
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

    @property
    def notices(self) -> tuple[str, ...]:
        """What to print before anything is run."""
        skipped = f"skipped: {listing(self.problems, self.points)}" if self.problems else ""
        return tuple(notice for notice in (self.without_effect, skipped) if notice)

    @property
    def points(self) -> int:
        """Number of distinct cells that the grid names, those that cannot be run among them."""
        return len(self.cells) + affected(self.problems)

    def checked(self, folder: Path, *, skip_invalid: bool, with_keys: bool = True, money: bool = False) -> SweepPlan:
        """Look at one cell of each kind before anything is written.

        Args:
            folder: of the sweep; kinds that have a cell there are not looked at again.
            skip_invalid: whether to leave out what cannot be run.
            with_keys: whether keys and packages of providers must be there; a forecast does without.
            money: whether the sweep has a budget of money, so that prices must be known.

        Returns:
            The plan of the cells that can be run.

        Raises:
            UserError: what is wrong; with `skip_invalid`, only if nothing is left to run.
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
        """Usual name of the sweep: the experiment's; with a hash of the cells where the words say more than that."""
        if self.experiment is not None and len(self.words) == 1:
            return self.experiment
        digest = hashlib.sha256("\n".join(sorted(cell.hash for cell in self.cells)).encode()).hexdigest()
        return f"{self.experiment or 'sweep'}-{digest[:8]}"


@dataclass(frozen=True, slots=True)
class Planner:
    """Plans the cells of a sweep. This one plans a grid of `KEY=VALUES` or a named experiment; subclasses plan others.

    A planned cell (`quorum.episode.planned_cell`) then gives each worker the start of its episode.

    Attributes:
        verb: what the command that plays the sweep is called.
        multiplies: whether it plays more episodes than the words of the command name: paid models need a budget.
        estimate: the options that show what paid models would take.
    """

    verb: ClassVar[str] = "sweep"
    multiplies: ClassVar[bool] = False
    estimate: ClassVar[str] = "--dry-run"

    @property
    def folders(self) -> tuple[Path, ...]:
        """The folders that the command names before its words."""
        return ()

    @property
    def options(self) -> tuple[str, ...]:
        """The options of the command that are the planner's own."""
        return ()

    def plan(self, words: Sequence[str], config_dir: ConfigDir = ()) -> SweepPlan:
        """Plan the cells.

        Raises:
            UserError: a word, a configuration or the experiment is not valid; the grid is empty; two arms are the same.
        """
        return plan(words, config_dir)

    def check(self, planned: SweepPlan, folder: Path) -> None:
        """Check that a plan continues what the folder of the sweep holds, which may not exist yet.

        Raises:
            UserError: the recorded runs that its cells continue are gone, or have changed.
        """


GRID = Planner()
"""Plans a grid or a named experiment."""


def plan(words: Sequence[str], config_dir: ConfigDir = ()) -> SweepPlan:
    """Plan a sweep.

    Args:
        words: `KEY=VALUES` in Hydra's sweep grammar, and `experiment=NAME` if wanted.
        config_dir: folders with more options of the groups, experiments among them.

    Raises:
        UserError: a word, a configuration or the experiment is not valid; the grid is empty; two arms are the same.
    """
    if not words:
        raise UserError(
            "a sweep needs a grid: KEY=VALUES, or experiment=NAME",
            "For example: quorum sweep n=2,4 'seed=range(0,5)'; quorum list experiment shows the named ones.",
        )
    name, rest = _split(words)
    experiment = named.load(name, config_dir) if name is not None else named.Experiment(fixed=(), grid=(), arms={})
    composer = Composer(config_dir)
    for arm, own in experiment.arms.items():
        _single(axes(own, composer), f"arms.{arm}")
    planned = plan_experiment(experiment, rest, config_dir)
    return replace(planned, experiment=name, words=tuple(words))


def plan_experiment(experiment: named.Experiment, words: Sequence[str], config_dir: ConfigDir = ()) -> SweepPlan:
    """Plan a sweep of an experiment that need not stand in a file.

    Args:
        experiment: its grid and its arms.
        words: `KEY=VALUES` that take the place of those of the experiment that set the same key.
        config_dir: folders with more options of the groups.

    Raises:
        UserError: as `plan`.
    """
    composer = Composer(config_dir)
    given = axes(words, composer)
    fixed = _single(axes(experiment.fixed, composer), "fixed")
    grid = axes(experiment.grid, composer)
    arms = {arm: axes(own, composer) for arm, own in experiment.arms.items()}
    grids: dict[str | None, tuple[Axis, ...]] = {arm: joined(fixed, grid, own, given) for arm, own in arms.items()}
    grids = grids or {None: joined(fixed, grid, given)}
    number = sum(map(count, grids.values()))
    words_by_key = [(axis.key, axis.text) for joint in grids.values() for axis in joint]
    effects = EffectCheck(words_by_key, lambda: composer.plain([]))
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
    )


def _split(words: Sequence[str]) -> tuple[str | None, list[str]]:
    """Take the experiment out of the words."""
    prefix = f"{EXPERIMENT}="
    names = [word.removeprefix(prefix) for word in words if word.startswith(prefix)]
    if len(names) > 1 or any(not name.isidentifier() and not name.replace("-", "_").isidentifier() for name in names):
        raise UserError(f"{EXPERIMENT}: give the name of one experiment", "quorum list experiment shows them.")
    return (names[0] if names else None), [word for word in words if not word.startswith(prefix)]


def _single(found: tuple[Axis, ...], where: str) -> tuple[Axis, ...]:
    for axis in found:
        if axis.swept:
            raise UserError(f"experiment: {where}: {axis.text} gives several values", "Sweeps stand in its grid.")
    return found


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
                composed = kinds.cell(composer.plain(point))
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
    """Return the words that lead to a point: those that the grid has several of, but for seed and draw."""
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

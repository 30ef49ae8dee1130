"""From the words of a command to the cells of a sweep."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from maeil.user_errors import UserError
from quorum.experiments.configuration.catalogue import EXPERIMENT
from quorum.experiments.configuration.cell import Cell, PlannedCell
from quorum.experiments.configuration.compose import Session, session
from quorum.experiments.configuration.effects import EffectCheck
from quorum.experiments.configuration.inputs import SharedInputs
from quorum.experiments.results.published import Published
from quorum.experiments.sweep import experiment_file as named
from quorum.experiments.sweep.grid import Axis, axes, count, joined, points
from quorum.experiments.sweep.templates import Templates


@dataclass(frozen=True, slots=True)
class SweepPlan:
    """What a sweep is to run.

    Attributes:
        experiment: name of the experiment, if the command names one.
        words: the `KEY=VALUE` words of the command.
        arms: arguments of each arm; empty without arms.
        cells: in planning order.
        repeated: points of the grid that name a cell which another point names too; it is run once.
        metrics: what a comparison shows when nothing else is asked for; empty: the usual ones.
        published: what others have published of the same.
        without_effect: words that change nothing in some cells, in one line; empty for none.
    """

    experiment: str | None
    words: tuple[str, ...]
    arms: Mapping[str, tuple[str, ...]]
    cells: tuple[PlannedCell, ...]
    repeated: int
    metrics: tuple[str, ...]
    published: Published | None
    without_effect: str

    @property
    def notices(self) -> tuple[str, ...]:
        """What is to be told before anything is run."""
        return (self.without_effect,) if self.without_effect else ()

    @property
    def name(self) -> str:
        """Usual name of the sweep: the experiment's; with a hash of the cells where the words say more than that."""
        if self.experiment is not None and len(self.words) == 1:
            return self.experiment
        digest = hashlib.sha256("\n".join(sorted(cell.hash for cell in self.cells)).encode()).hexdigest()
        return f"{self.experiment or 'sweep'}-{digest[:8]}"


def plan(words: Sequence[str], config_dir: Path | None = None) -> SweepPlan:
    """Plan a sweep.

    Args:
        words: `KEY=VALUES` in Hydra's sweep grammar, and `experiment=NAME` if wanted.
        config_dir: folder with more options of the groups, experiments among them.

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
    with session(config_dir) as composing:
        given = axes(rest, composing)
        fixed = _single(axes(experiment.fixed, composing), "fixed")
        grid = axes(experiment.grid, composing)
        arms = {arm: _single(axes(own, composing), f"arms.{arm}") for arm, own in experiment.arms.items()}
        grids: dict[str | None, tuple[Axis, ...]] = {arm: joined(fixed, grid, own, given) for arm, own in arms.items()}
        grids = grids or {None: joined(fixed, grid, given)}
        said = [(axis.key, axis.text) for joint in grids.values() for axis in joint]
        effects = EffectCheck(said, lambda: composing.plain([]))
        cells, repeated = _cells(grids, composing, given, effects)
    return SweepPlan(
        experiment=name,
        words=tuple(words),
        arms={arm: tuple(own) for arm, own in experiment.arms.items()},
        cells=cells,
        repeated=repeated,
        metrics=tuple(experiment.metrics),
        published=experiment.published,
        without_effect=effects.told,
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
    grids: Mapping[str | None, tuple[Axis, ...]], composing: Session, given: Sequence[Axis], effects: EffectCheck
) -> tuple[tuple[PlannedCell, ...], int]:
    count_all = sum(map(count, grids.values()))
    templates, inputs = Templates(composing), SharedInputs()
    found: dict[str, PlannedCell] = {}
    for arm, grid in grids.items():
        for point in points(grid):
            composed = Cell.of(templates.resolve(point), inputs.of)
            effects.look_at(composed)
            cell = PlannedCell.of(composed, arm)
            other = found.setdefault(cell.name, cell)
            if other.arm != arm:
                raise _same(str(other.arm), str(arm), cell.name, given)
    return tuple(found.values()), count_all - len(found)


def _same(one: str, other: str, name: str, given: Sequence[Axis]) -> UserError:
    overridden = ", ".join(axis.text for axis in given)
    hint = f"Does an argument take the place of what tells them apart? {overridden}" if overridden else ""
    return UserError(f"experiment: the arms {one!r} and {other!r} are the same: both run {name}", hint)

"""The labelled episodes of a folder: what methods of attribution get of each, and apart from that what is known."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from maeil.trace import Trace
from maeil.user_errors import UserError
from quorum.agents.prompting.vocabulary import describe, tell
from quorum.experiments.blame.accuracy import Truth
from quorum.experiments.blame.reader import Scene
from quorum.experiments.configuration.registry import worlds
from quorum.experiments.configuration.schema import validate
from quorum.experiments.episode.building import built
from quorum.experiments.episode.fault import read_label
from quorum.experiments.results.run_folder import RunFolder, is_run, no_such_folder, read_whole_trace, runs_inside


@dataclass(frozen=True, slots=True)
class Case:
    """What a method gets of an episode. It holds nothing of the label.

    Attributes:
        run: folder of the run, which only a method that plays it again has a use for.
        trace: what is recorded of it.
        scene: what readers are told of its world.
        seed: of the run, for methods that draw.
    """

    run: Path
    trace: Trace
    scene: Scene
    seed: int


@dataclass(frozen=True, slots=True)
class Labelled:
    """The episodes of a benchmark.

    Attributes:
        cases: what methods get, with what is known.
        without: why other runs of the folder are none of it, each with their number.
    """

    cases: tuple[tuple[Case, Truth], ...]
    without: Mapping[str, int]


def labelled(folder: Path) -> Labelled:
    """Read the labelled episodes of a folder.

    Raises:
        UserError: there is no such folder, or none in it.
    """
    if not folder.exists():
        raise no_such_folder(folder)
    runs = [folder] if is_run(folder) else sorted(runs_inside(folder))
    cases: list[tuple[Case, Truth]] = []
    without: Counter[str] = Counter()
    for run in runs:
        found = _of_run(run)
        if isinstance(found, str):
            without[found] += 1
        else:
            cases.append(found)
    if not cases:
        why = "".join(f"; {number}: {reason}" for reason, number in without.items())
        raise UserError(
            f"{folder}: it holds no labelled episode{why}",
            "quorum sweep experiment=attribution makes some, and so does quorum run fault=one max_steps=STEPS.",
        )
    return Labelled(tuple(cases), dict(without.most_common()))


def _of_run(run: Path) -> tuple[Case, Truth] | str:
    label = read_label(run)
    if label is None:
        return "played without fault=one"
    if label.fault is None:
        return "none of the faults that were tried makes it fail" if label.tries else "it fails without a fault"
    if RunFolder(run).meta().outcome == "error":
        return "ended by an error"
    configuration = validate(RunFolder(run).configuration(), recorded=True)
    trace = read_whole_trace(run)
    world, _ = built(worlds, configuration.env.name, configuration.env, None)
    scene = Scene(world.name, tell(describe(world.vocabulary)), configuration.max_steps)
    fault = label.fault
    truth = Truth(run.resolve().name, configuration.env.name, str(fault.kind), fault.agent, fault.t, fault.t_hat)
    return Case(run, trace, scene, configuration.seed), truth

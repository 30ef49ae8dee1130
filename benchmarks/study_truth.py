"""Whether studies find the truth in a world in which it is known: python -m benchmarks.study_truth.

The loop plays the world of `doors.py` with the arms of `quorum study talk`, for a team that ignores messages and for
one that follows them. `judge` analyses 2,000 studies of each team, as it does for `quorum study`; no two studies of a
team share a board. Each figure stands next to its Monte Carlo error (one standard error) and its required value. The
script ends with code 1 if a figure misses it by more than three errors. It takes half an hour on two processes.
"""

from __future__ import annotations

import argparse
import asyncio
import math
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from benchmarks.doors import CONTENT, TRUTH, Doors, DoorSkills, Guesser, Listener
from maeil import ExtensionContext, LoopSettings, Seeds, run_episode
from maeil.metrics import METRICS
from maeil.trace import Recorder, Stamped, Trace
from quorum.comparison.differences import Cells, Difference
from quorum.comparison.statistics.flips import LEVEL
from quorum.study.analysis import Judged, judge
from quorum.study.control.arms import ControlConfig, build
from quorum.study.noise import NoiseVerdict
from quorum.study.question import EffectFile, load_question
from quorum.topologies.plain import Debate, DebateConfig, Individual

Floats = NDArray[np.float64]
SCORE = METRICS["outcome.score"]
TALK = load_question("talk").effects
TWIN = EffectFile(name="twin", plus="twin", minus="treatment", says="nothing: other draws of the treatment")
"""A comparison without an effect, judged as an effect; the noise floor comes from `again`, as always."""
BOARDS = 12
"""Number of boards of a study."""
OTHERS = (6, 20, 40)
"""Number of boards of the further studies that compare a team only with itself."""
_AT_ONCE = 60
"""Number of boards that a process plays at once: five studies."""


@dataclass(frozen=True, slots=True)
class Arm:
    """An arm.

    Attributes:
        draw: number of the draw.
        talks: whether the team talks.
        control: name of its control arm; empty for none.
    """

    draw: int = 0
    talks: bool = True
    control: str = ""


ARMS = {
    "treatment": Arm(),
    "again": Arm(draw=1),
    "twin": Arm(draw=2),
    "silent": Arm(talks=False),
    "mute": Arm(control="mute"),
    "null": Arm(control="null"),
    "truth": Arm(control="truth"),
}


async def play(team: type[Guesser], arm: Arm, seed: int) -> float:
    """Play an episode.

    Args:
        team: the minds of both agents.
        arm: the arm.
        seed: the board.

    Returns:
        Its `outcome.score`.
    """
    world, place = Doors(), Seeds(seed, f"draw/{arm.draw}")
    topology = Debate(DebateConfig(name="debate", rounds=1)) if arm.talks else Individual()
    events: list[Stamped] = []
    controls = []
    if arm.control:
        context = ExtensionContext(world, topology, place, partial(getattr, DoorSkills(world.name)))
        controls.append(build(ControlConfig.model_validate({"arm": arm.control, "donors": None}), context))
    await run_episode(
        world,
        [team(place.child(agent)) for agent in world.agents],
        topology,
        seed=seed,
        settings=LoopSettings(),
        recorder=Recorder(None, [events.append]),
        extensions=controls,
    )
    score = SCORE.function(Trace(events))
    assert score is not None
    return float(score)


def play_boards(team: type[Guesser], seeds: Sequence[int]) -> Floats:
    """Play all arms on some boards; return their scores, shape (arms, boards)."""

    async def played() -> list[list[float]]:
        return [[await play(team, arm, seed) for seed in seeds] for arm in ARMS.values()]

    return np.array(asyncio.run(played()))


@dataclass(frozen=True, slots=True)
class Studied:
    """A study.

    Attributes:
        talk: the findings of `quorum study talk`; only for studies with all arms.
        twin: its findings if it were about the twin.
    """

    talk: Judged
    twin: Judged

    def effect(self, name: str) -> Difference:
        """Return an effect of talk."""
        return next(effect.difference for effect in self.talk.effects if effect.file.name == name)


def study(scores: Floats) -> Studied:
    """Analyse a study with one run for each arm and board, shape (arms, boards)."""
    cells: dict[str, Cells] = {
        arm: {(board,): [score] for board, score in enumerate(row)}
        for arm, row in zip(ARMS, scores.tolist(), strict=True)
    }
    return Studied(judge(TALK, cells, SCORE), judge([TWIN], cells, SCORE))


@dataclass(frozen=True, slots=True)
class Figure:
    """The mean result of studies.

    Attributes:
        what: name of the result.
        values: one for each study, shape (studies,).
        least: lower limit of their expectation.
        most: upper limit of their expectation.
        unit: "%" for shares.
    """

    what: str
    values: Floats
    least: float = -math.inf
    most: float = math.inf
    unit: str = "%"

    @property
    def value(self) -> float:
        """The mean over studies."""
        return float(self.values.mean())

    @property
    def error(self) -> float:
        """Its Monte Carlo error."""
        return float(self.values.std(ddof=1)) / math.sqrt(len(self.values))

    @property
    def holds(self) -> bool:
        """Whether the bounds hold within three standard errors."""
        return self.least - 3 * self.error <= self.value <= self.most + 3 * self.error


def same_team(studies: Iterable[Studied], boards: int) -> Iterator[Figure]:
    """Yield how often a study calls a team different from itself."""
    found = list(studies)
    significant = [one.talk.same is not None and one.talk.same.p <= LEVEL for one in found]
    above = [_found(one.twin) for one in found]
    yield Figure(f"A/A, {boards} boards: p <= 0.05", _shares(significant), most=0.05)
    yield Figure(f"A/A, {boards} boards: called an effect", _shares(above), most=0.05)


def ignoring(studies: Sequence[Studied]) -> Iterator[Figure]:
    """Yield the findings for a team on which no message has an effect."""
    yield _mean(studies, "content", 0)
    yield _mean(studies, "truth", 0)
    yield Figure("content: interval covers 0", _covers(studies, "content", 0), least=0.95)
    first, *_ = TALK
    yield Figure(f"{first.name}: p <= 0.05", _shares(one.effect(first.name).p <= LEVEL for one in studies), most=0.05)
    some = (any(effect.difference.p_holm <= LEVEL for effect in one.talk.effects[1:]) for one in studies)
    yield Figure("some other effect: p (Holm) <= 0.05", _shares(some), most=0.05)
    yield Figure("some effect at all", _shares(_found(one.talk) for one in studies), most=0.1)


def using(studies: Sequence[Studied]) -> Iterator[Figure]:
    """Yield the findings for a team that follows messages."""
    yield _mean(studies, "turns", 0)
    yield _mean(studies, "envelope", 0)
    yield _mean(studies, "content", CONTENT)
    yield _mean(studies, "truth", TRUTH)
    yield Figure("content: interval covers the true effect", _covers(studies, "content", CONTENT), least=0.95)
    yield Figure("truth: interval covers the true effect", _covers(studies, "truth", TRUTH), least=0.95)
    none = (any(one.effect(name).p_holm <= LEVEL for name in ("turns", "envelope")) for one in studies)
    yield Figure("turns or envelope: p (Holm) <= 0.05", _shares(none), most=0.05)
    content, truth = (np.array([one.effect(name).mean.value for one in studies]) for name in ("content", "truth"))
    ratio = truth.mean() / content.mean()
    # the mean of these is the ratio of the means, and their error that of the ratio by the delta method
    back = ratio + (truth - ratio * content) / content.mean()
    yield Figure("truth / content", back, least=0.9, unit="")
    yield Figure("studies with truth >= 0.9 content", _shares(truth >= 0.9 * content))


def _found(judged: Judged) -> bool:
    return any(effect.verdict is NoiseVerdict.FOUND for effect in judged.effects)


def _shares(values: Iterable[bool]) -> Floats:
    return np.array(list(values), dtype=np.float64)


def _mean(studies: Sequence[Studied], effect: str, expected: float) -> Figure:
    values = np.array([one.effect(effect).mean.value for one in studies])
    return Figure(f"{effect}: effect", values, expected, expected, "points")


def _covers(studies: Sequence[Studied], effect: str, value: float) -> Floats:
    """Return whether intervals contain a value; one without ends contains all."""
    means = [one.effect(effect).mean for one in studies]
    return _shares(not (mean.low > value or mean.high < value) for mean in means)


TEAMS: dict[str, tuple[type[Guesser], Callable[[Sequence[Studied]], Iterator[Figure]]]] = {
    "ignores content": (Guesser, ignoring),
    "uses content": (Listener, using),
}


def measure(studies: int, processes: int) -> Iterator[tuple[str, Figure]]:
    """Yield the figures of each team, with its description.

    Args:
        studies: number of studies of each team. Studies of 20 and 40 boards are fewer, because they share the boards.
        processes: number of processes.
    """
    for label, (team, figures) in TEAMS.items():
        with ProcessPoolExecutor(processes) as pool:
            seeds = range(studies * BOARDS)
            blocks = [seeds[start : start + _AT_ONCE] for start in seeds[::_AT_ONCE]]
            scores = np.concatenate(list(pool.map(partial(play_boards, team), blocks)), axis=1)
            found = list(pool.map(study, _grouped(scores, BOARDS, studies), chunksize=10))
            yield from ((label, figure) for figure in (*same_team(found, BOARDS), *figures(found)))
            for boards in OTHERS:
                others = pool.map(study, _grouped(scores, boards, studies), chunksize=10)
                yield from ((label, figure) for figure in same_team(others, boards))


def _grouped(scores: Floats, boards: int, most: int) -> Iterator[Floats]:
    """Yield the scores of at most this many groups of boards, each of shape (arms, boards)."""
    for start in range(0, scores.shape[1] - boards + 1, boards)[:most]:
        yield scores[:, start : start + boards]


def main() -> int:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description="Compare studies with a world in which the truth is known.")
    parser.add_argument("--studies", type=int, default=2_000, help="number of studies of each team")
    parser.add_argument("--processes", type=int, default=2)
    arguments = parser.parse_args()
    table = Table("team", "what", "measured", "error", "must be", "studies", title="Studies on simulated truth")
    good = True
    for label, figure in measure(arguments.studies, arguments.processes):
        good &= figure.holds
        bounds = _bounds(figure) + ("" if figure.holds else ": missed")
        table.add_row(
            label,
            figure.what,
            *map(partial(_written, figure), (figure.value, figure.error)),
            bounds,
            f"{len(figure.values):,}",
        )
    Console().print(table)
    return 0 if good else 1


def _bounds(figure: Figure) -> str:
    if figure.least == figure.most:
        return _written(figure, figure.least)
    ends = [(">=", figure.least), ("<=", figure.most)]
    return " and ".join(f"{sign} {_written(figure, end)}" for sign, end in ends if math.isfinite(end))


def _written(figure: Figure, value: float) -> str:
    return f"{100 * value:.2f} %" if figure.unit == "%" else f"{value:.3f} {figure.unit}".strip()


if __name__ == "__main__":
    sys.exit(main())

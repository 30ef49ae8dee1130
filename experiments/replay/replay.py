"""What is replayed: one run, or two side by side, which must be of the same board; and their frames in step."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import repeat

from maeil import World
from maeil.user_errors import UserError
from quorum.experiments.common.sanitize import sanitize
from quorum.experiments.configuration.team_label import label_of_factors
from quorum.experiments.replay.frames import Frame, P, frames
from quorum.experiments.results.recorded_episode import RecordedEpisode
from quorum.experiments.results.rows import flatten
from quorum.experiments.results.same_board import check_same_board, differences

_MOST_NAMED = 4
"""Differences between two configurations that a label names."""


@dataclass(frozen=True, slots=True)
class Replay:
    """Runs of one board, and the steps of them that are shown.

    Attributes:
        runs: one or two.
        labels: who each of them is.
        first: the first step.
        last: the last one, of the run that takes longest.
    """

    runs: Sequence[RecordedEpisode]
    labels: Sequence[str]
    first: int
    last: int

    def __len__(self) -> int:
        return self.last - self.first + 1

    def frames(self, picture: Callable[[World], P]) -> Iterator[tuple[Frame[P], ...]]:
        """Return the frames of all runs in step; a run that is over holds its last one.

        Raises:
            UserError: a run cannot be brought back.
        """
        tracks = [_held(frames(run, picture, min(self.first, run.steps), self.last)) for run in self.runs]
        for _ in range(len(self)):
            yield tuple(next(track) for track in tracks)


def _held(track: Iterator[Frame[P]]) -> Iterator[Frame[P]]:
    frame = None
    for frame in track:
        yield frame
    if frame is not None:
        yield from repeat(frame)


def prepare_replay(runs: Sequence[RecordedEpisode], first: int, last: int | None) -> Replay:
    """Put runs side by side.

    Args:
        runs: one or two.
        first: the first step that is shown.
        last: the last one; None, or one beyond the end: until all runs are over.

    Raises:
        UserError: the runs are not of one board, or there are no such steps.
    """
    for run in runs[1:]:
        check_same_board(runs[0].beginning, run.beginning)
    steps = max(run.steps for run in runs)
    if first > steps:
        which = "the runs end" if len(runs) > 1 else f"{runs[0].folder} ends"
        raise UserError(f"--from {first}: {which} with step {steps}")
    if last is not None and last < first:
        raise UserError(f"--to {last}: it is before --from {first}")
    return Replay(runs, _labels(runs), first, steps if last is None else min(last, steps))


def _labels(runs: Sequence[RecordedEpisode]) -> list[str]:
    labels = [_label(run) for run in runs]
    if len(set(labels)) == len(labels):
        return labels
    one, other = runs
    own = list(differences(one.beginning, other.beginning))[:_MOST_NAMED]
    return [
        " · ".join([labels[0], *(f"{key}={value}" for key, value, _ in own)]),
        " · ".join([labels[1], *(f"{key}={value}" for key, _, value in own)]),
    ]


def _label(run: RecordedEpisode) -> str:
    start = run.trace.start
    names = [name for name in run.answering_models.models if name != "simulated"]
    team = label_of_factors(flatten(run.configuration)) or run.name_of("agents")
    minds = f"{team} ({', '.join(names)})" if names else team
    arm = [f"arm {run.arm}"] if run.arm else []
    size = f"{len(start.agents)} agents" if len(start.agents) > 1 else "1 agent"
    parts = [*arm, start.world, size, run.name_of("topology"), minds, f"seed {start.seed}"]
    return " · ".join(sanitize(part, 80) for part in parts)

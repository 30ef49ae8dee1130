"""What is replayed: one run, or two side by side, which must be of the same board; and their frames in step."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import repeat

import orjson

from maeil import World
from maeil.user_errors import UserError
from quorum.experiments.common.sanitize import sanitize
from quorum.experiments.replay.frames import Frame, P, frames
from quorum.experiments.results.recorded_episode import RecordedEpisode
from quorum.experiments.results.rows import flatten

_MOST_NAMED = 4
"""Differences between two configurations that a message or a label names."""
_SHARED = ("env.n", "env.max_steps")
"""What `env` repeats of a common knob that is named itself, or that is no part of a board."""


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
        _check_same_board(runs[0], run)
    steps = max(run.steps for run in runs)
    if first > steps:
        which = "the runs end" if len(runs) > 1 else f"{runs[0].folder} ends"
        raise UserError(f"--from {first}: {which} with step {steps}")
    if last is not None and last < first:
        raise UserError(f"--to {last}: it is before --from {first}")
    return Replay(runs, _labels(runs), first, steps if last is None else min(last, steps))


def _check_same_board(one: RecordedEpisode, other: RecordedEpisode) -> None:
    if _board(one) == _board(other):
        return
    kind = (one.trace.start.world, other.trace.start.world)
    ours = [d for d in _differences(one, other) if d[0] in ("n", "seed") or d[0].startswith("env.")]
    differences = [f"{key} {value} and {another}" for key, value, another in ours if key not in _SHARED]
    if kind[0] != kind[1]:
        differences = [f"env.name {sanitize(kind[0], 40)} and {sanitize(kind[1], 40)}"]
    differences = differences or ["the boards that their traces begin with"]
    raise UserError(
        f"{one.folder} and {other.folder}: they are not of the same board; what differs: "
        f"{', '.join(differences[:_MOST_NAMED])}{' ...' if len(differences) > _MOST_NAMED else ''}",
        "Side by side stand two runs of one board: the same env, n and seed.",
    )


def _board(run: RecordedEpisode) -> bytes:
    """Return what two runs of one board share; how long a run may take is no part of it."""
    start = run.trace.start
    board = {key: value for key, value in start.board.items() if key != "max_steps"}
    return orjson.dumps([start.world, start.seed, board])


def _labels(runs: Sequence[RecordedEpisode]) -> list[str]:
    labels = [_label(run) for run in runs]
    if len(set(labels)) == len(labels):
        return labels
    own = [d for d in _differences(*runs) if not d[0].startswith("prompts.")][:_MOST_NAMED]
    return [
        " · ".join([labels[0], *(f"{key}={value}" for key, value, _ in own)]),
        " · ".join([labels[1], *(f"{key}={value}" for key, _, value in own)]),
    ]


def _label(run: RecordedEpisode) -> str:
    start = run.trace.start
    names = [name for name in run.answering_models.models if name != "simulated"]
    minds = f"{run.name_of('agents')} ({', '.join(names)})" if names else run.name_of("agents")
    arm = [f"arm {run.arm}"] if run.arm else []
    size = f"{len(start.agents)} agents" if len(start.agents) > 1 else "1 agent"
    parts = [*arm, start.world, size, run.name_of("topology"), minds, f"seed {start.seed}"]
    return " · ".join(sanitize(part, 80) for part in parts)


def _differences(one: RecordedEpisode, other: RecordedEpisode) -> Iterator[tuple[str, str, str]]:
    """Return each key that two configurations do not share, with both values; those of the top first."""
    a, b = flatten(one.configuration), flatten(other.configuration)
    for key in sorted(a.keys() | b.keys(), key=lambda key: (key.count("."), key)):
        if a.get(key) != b.get(key):
            own, others = (sanitize(str(leaves.get(key, "none")), 40) for leaves in (a, b))
            yield sanitize(key, 60), own, others

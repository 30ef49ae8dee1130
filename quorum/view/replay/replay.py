"""Replays: one run, or two of one board side by side, with the picture and the caption of each step."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, repeat
from typing import Generic, TypeVar

from maeil import World
from maeil.contracts import check_type
from maeil.trace.events import MessageSent, ThoughtEnd
from maeil.world import Progress, closing_world
from quorum.configuration.team_label import label_of_factors
from quorum.display.sanitize import sanitize
from quorum.runs.recorded_episode import RecordedEpisode
from quorum.runs.rows import flatten
from quorum.view.same_board import Beginning, check_same_board, differences
from quorum_base.drawing import Canvas, Drawable, Drawing
from quorum_base.user_errors import UserError

P = TypeVar("P")
LONGEST = 240
"""Maximum characters of a message."""
_NAMED = 4
"""Maximum named recipients of a message."""


@dataclass(frozen=True, slots=True)
class Frame(Generic[P]):
    """An episode at one environment step, before the step is taken.

    Attributes:
        t: the environment step.
        picture: the world.
        progress: progress of the team.
        thoughts: number of thoughts of this instant.
        messages: number of messages of this instant.
        said: the last message so far, in a line; empty for none.
        end: how the episode ended; empty before its last frame.
    """

    t: int
    picture: P
    progress: Progress
    thoughts: int
    messages: int
    said: str
    end: str


def drawable(run: RecordedEpisode) -> tuple[Canvas, Callable[[World], Drawing]]:
    """Return the canvas of a run's world, and the function that draws it.

    Raises:
        UserError: the world cannot be drawn.
    """
    with closing_world(run.world()) as world:
        if not isinstance(world, Drawable):
            raise UserError(
                f"{run.folder}: the world {run.name_of('env')!r} cannot be drawn",
                "It has no canvas() and draw(), see quorum_base/drawing.py; without --out, `quorum replay` shows text.",
            )
        next(run.replay(world))
        return check_type(world.canvas(), Canvas, world.canvas, "a quorum_base.drawing.Canvas"), _draw


def _draw(world: World) -> Drawing:
    assert isinstance(world, Drawable)
    return check_type(world.draw(), Drawing, world.draw, "a quorum_base.drawing.Drawing")


def frames(run: RecordedEpisode, picture: Callable[[World], P], first: int, last: int) -> Iterator[Frame[P]]:
    """Return the frames of a run from step `first` to step `last`, or to its end.

    Args:
        run: the recorded run.
        picture: draws the world.
        first: earlier steps are replayed, but not drawn.
        last: later steps are neither replayed nor drawn.

    Raises:
        UserError: the world cannot be built, or deviates from the trace.
    """
    names = [*run.trace.start.agents, *run.trace.start.coordinators]
    thoughts = Counter(stamped.t for stamped in run.trace.stamped(ThoughtEnd))
    sent = run.trace.stamped(MessageSent)
    messages = Counter(stamped.t for stamped in sent)
    said, heard = "", 0
    with closing_world(run.world()) as world:
        for t in islice(run.replay(world), last + 1):
            while heard < len(sent) and sent[heard].t <= t:
                heard += 1
            if t < first:
                continue
            if heard:
                message = sent[heard - 1]
                assert isinstance(message.event, MessageSent)
                said = _line(message.t, message.event, names)
            end = _end(run) if t == run.steps else ""
            yield Frame(t, picture(world), world.progress(), thoughts[t], messages[t], said, end)


def _line(t: int, message: MessageSent, names: list[str]) -> str:
    """Write a message in a line: `step 12, agent_0 to agent_1: ...`."""
    recipients = [_name(index, names) for index in message.recipients]
    others = len(names) - 1
    if len(recipients) == others > 1:
        to = "all"
    elif len(recipients) > _NAMED:
        to = f"{', '.join(recipients[:_NAMED])} and {len(recipients) - _NAMED} more"
    else:
        to = ", ".join(recipients)
    words = " ".join(message.content[: 4 * LONGEST].split())
    if len(message.content) > 4 * LONGEST and len(words) <= LONGEST:
        words += " …"
    return f"step {t}, {_name(message.sender, names)} to {to}: {sanitize(words, LONGEST)}"


def _name(index: int, names: list[str]) -> str:
    return sanitize(names[index], 40) if 0 <= index < len(names) else f"participant {index}"


def _end(run: RecordedEpisode) -> str:
    end = run.trace.end
    if end is None:
        return "the trace breaks off here"
    reason = f": {sanitize(end.reason, 120)}" if end.reason else ""
    return f"end: {sanitize(end.outcome, 20)}{reason}"


SIMULATED = "simulated model"
"""Mark next to the label of a run with a simulated model."""

ACTING = "all carry out their plans"


def caption(frame: Frame[P], steps: int, remark: str) -> tuple[str, str]:
    """Return the position in the episode, and a detail: the world's remark, who is thinking, or how it ended.

    Args:
        frame: the instant.
        steps: number of steps of the whole episode.
        remark: the world's remark about the instant.
    """
    progress = frame.progress
    goals = f"{progress.reached} of {progress.goals} goals, " if progress.goals else ""
    count = f"step {frame.t} of {steps} · {goals}score {progress.score:g}"
    thinking = f"{_number(frame.thoughts, 'thought')}, {_number(frame.messages, 'message')}"
    detail = " · ".join(part for part in (remark, frame.end or (thinking if frame.thoughts else ACTING)) if part)
    return count, detail


def _number(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


_MOST_NAMED = 4
"""Maximum number of configuration differences in a label."""


@dataclass(frozen=True, slots=True)
class Replay:
    """Runs of one board, and the range of steps to show.

    Attributes:
        runs: one or two.
        labels: description of each run.
        first: the first step.
        last: the last step, of the longest run.
    """

    runs: Sequence[RecordedEpisode]
    labels: Sequence[str]
    first: int
    last: int

    def __len__(self) -> int:
        return self.last - self.first + 1

    def frames(self, picture: Callable[[World], P]) -> Iterator[tuple[Frame[P], ...]]:
        """Return the frames of all runs in parallel; a run that is over keeps its last one.

        Raises:
            UserError: a run cannot be replayed.
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
    """Prepare runs to be shown side by side.

    Args:
        runs: one or two.
        first: the first step to show.
        last: the last step; None, or one beyond the end: until all runs are over.

    Raises:
        UserError: the runs are not of one board, or there are no such steps.
    """
    for run in runs[1:]:
        check_same_board(Beginning.of(runs[0]), Beginning.of(run))
    steps = max(run.steps for run in runs)
    if first > steps:
        which = "the runs end" if len(runs) > 1 else f"{runs[0].folder} ends"
        raise UserError(f"--from {first}: {which} with step {steps}")
    if last is not None and last < first:
        raise UserError(f"--to {last}: it is before --from {first}")
    return Replay(runs, _labels(runs), first, steps if last is None else min(last, steps))


def _labels(runs: Sequence[RecordedEpisode]) -> list[str]:
    labels = [label_of(run) for run in runs]
    if len(set(labels)) == len(labels):
        return labels
    one, other = runs
    own = list(differences(Beginning.of(one), Beginning.of(other)))[:_MOST_NAMED]
    return [
        " · ".join([labels[0], *(f"{key}={value}" for key, value, _ in own)]),
        " · ".join([labels[1], *(f"{key}={value}" for key, _, value in own)]),
    ]


def label_of(run: RecordedEpisode) -> str:
    """Describe a run: world, size, topology, minds and seed."""
    start = run.trace.start
    names = [name for name in run.answering_models.models if name != "simulated"]
    team = label_of_factors(flatten(run.configuration)) or run.name_of("agents")
    minds = f"{team} ({', '.join(names)})" if names else team
    arm = [f"arm {run.arm}"] if run.arm else []
    size = f"{len(start.agents)} agents" if len(start.agents) > 1 else "1 agent"
    parts = [*arm, start.environment, size, run.name_of("topology"), minds, f"seed {start.seed}"]
    return " · ".join(sanitize(part, 80) for part in parts)

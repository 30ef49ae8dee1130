"""The frames of an episode: what there is to see and to say at each environment step."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Generic, TypeVar

from maeil import World
from maeil.contracts import check_type
from maeil.drawing import Canvas, Drawable, Drawing
from maeil.trace.events import MessageSent, ThoughtEnd
from maeil.user_errors import UserError
from maeil.world import Progress
from quorum.experiments.common.sanitize import sanitize
from quorum.experiments.results.recorded_episode import RecordedEpisode

P = TypeVar("P")
LONGEST = 240
"""Characters of a message that are shown."""
_NAMED = 4
"""Recipients of a message that are named."""


@dataclass(frozen=True, slots=True)
class Frame(Generic[P]):
    """An episode at one environment step, before the step is taken.

    Attributes:
        t: the environment step.
        picture: the world.
        progress: how far the team has come.
        thoughts: thoughts of this instant.
        messages: messages of this instant.
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
    """Return the canvas of a run's world, and what draws it.

    Raises:
        UserError: the world cannot be drawn.
    """
    world = run.world()
    if not isinstance(world, Drawable):
        raise UserError(
            f"{run.folder}: the world {run.name_of('env')!r} cannot be drawn",
            "It has no canvas() and draw(), see maeil/drawing.py; `quorum replay` without --out shows its text.",
        )
    next(run.replay(world))
    return check_type(world.canvas(), Canvas, world.canvas, "a maeil.drawing.Canvas"), _draw


def _draw(world: World) -> Drawing:
    assert isinstance(world, Drawable)
    return check_type(world.draw(), Drawing, world.draw, "a maeil.drawing.Drawing")


def frames(run: RecordedEpisode, picture: Callable[[World], P], first: int, last: int) -> Iterator[Frame[P]]:
    """Return the frames of a run from step `first` to step `last`, or to its end.

    Args:
        run: what was recorded.
        picture: draws the world, one way or another.
        first: the earlier ones are replayed, and not drawn.
        last: the later ones are neither.

    Raises:
        UserError: the world cannot be built, or does something else than the trace says.
    """
    world = run.world()
    names = [*run.trace.start.agents, *run.trace.start.coordinators]
    thoughts = Counter(stamped.t for stamped in run.trace.stamped(ThoughtEnd))
    sent = run.trace.stamped(MessageSent)
    messages = Counter(stamped.t for stamped in sent)
    said, heard = "", 0
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

"""What stands under a picture, the same in a film and in the terminal."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from quorum.experiments.replay.frames import Frame

SIMULATED = "simulated model"
"""Stands beside the label of a run in which no real model answered."""

ACTING = "all carry out their plans"


@dataclass(frozen=True, slots=True)
class Caption:
    """The lines of a frame.

    Attributes:
        count: where the episode stands.
        detail: what the world says of the instant, who thinks, how it ended.
        said: the last message.
    """

    count: str
    detail: str
    said: str


def caption(frame: Frame[Any], steps: int, remark: str) -> Caption:
    """Write the lines of a frame.

    Args:
        frame: the instant.
        steps: of the whole episode.
        remark: what the world says of the instant.
    """
    progress = frame.progress
    count = f"step {frame.t} of {steps} · {progress.reached} of {progress.goals} goals, score {progress.score:g}"
    thinking = f"{_number(frame.thoughts, 'thought')}, {_number(frame.messages, 'message')}"
    detail = " · ".join(part for part in (remark, frame.end or (thinking if frame.thoughts else ACTING)) if part)
    return Caption(count, detail, frame.said)


def _number(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"

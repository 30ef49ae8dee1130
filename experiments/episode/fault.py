"""What was made to go wrong in an episode: the label of a benchmark of attribution, and the file that holds it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import orjson

from maeil.user_errors import UserError
from quorum.experiments.configuration.fault import FaultKind

FAULT = "fault.json"
"""The file in the folder of a run that holds the label. Nothing else in the folder tells it."""


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that one participant does wrong.

    Attributes:
        agent: its name.
        t: environment step of the turn in which it does.
        t_hat: cognitive time at which the thought of that turn begins.
        kind: what it does wrong.
        draw: seed of what is drawn for it: which wrong plan, which wrong name.
        delay: steps that a late plan waits.
    """

    agent: str
    t: int
    t_hat: int | float
    kind: FaultKind
    draw: int
    delay: int


@dataclass(frozen=True, slots=True)
class Label:
    """What the file says of an episode with `fault=one`.

    Attributes:
        fault: what goes wrong in it; None: nothing, and it belongs to no benchmark.
        reason: why there is none; empty where there is one.
        clean_steps: environment steps of the episode without it.
        tries: faults that were tried.
    """

    fault: Fault | None
    reason: str
    clean_steps: int
    tries: int

    def write(self, folder: Path) -> None:
        """Keep it in the folder of its run."""
        (folder / FAULT).write_bytes(orjson.dumps(asdict(self), option=orjson.OPT_INDENT_2) + b"\n")


def read_label(folder: Path) -> Label | None:
    """Return the label of a run; None where it was played without the group `fault`.

    Raises:
        UserError: the file cannot be read.
    """
    file = folder / FAULT
    try:
        if not file.exists():
            return None
        return _label(orjson.loads(file.read_bytes()))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UserError(f"{file}: it is no label of a fault: {type(error).__name__}") from error


def _label(values: Mapping[str, Any]) -> Label:
    said = values["fault"]
    fault = None
    if said is not None:
        t_hat = said["t_hat"]
        if isinstance(t_hat, bool) or not isinstance(t_hat, int | float):
            raise TypeError("t_hat")
        kind = FaultKind(said["kind"])
        fault = Fault(str(said["agent"]), int(said["t"]), t_hat, kind, int(said["draw"]), int(said["delay"]))
    return Label(fault, str(values["reason"]), int(values["clean_steps"]), int(values["tries"]))

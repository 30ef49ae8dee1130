"""Brings an episode back: its trace says what was done, and its configuration builds the world that it was done in."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson
import yaml
from pydantic import NonNegativeInt, TypeAdapter, ValidationError

from maeil import World
from maeil.errors import ReplayMismatch
from maeil.trace import Trace, replay
from maeil.trace.events import EpisodeEnd, EpisodeStart, Event, MessageSent, StepTaken, ThoughtEnd
from maeil.user_errors import UserError, nearest
from quorum.experiments.common.sanitize import sanitize
from quorum.experiments.configuration.registry import worlds
from quorum.experiments.configuration.schema import component_values
from quorum.experiments.episode.answering_models import AnsweringModels, answering_models
from quorum.experiments.results.recompute import checked_trace
from quorum.experiments.results.run_folder import is_run
from quorum.experiments.results.sweep_file import read_sweep

_SHOWN = 3
"""Runs of a sweep that a message names."""
_INSTANT = TypeAdapter[int](NonNegativeInt)


@dataclass(frozen=True, slots=True)
class Recorded:
    """A run as it lies on disk.

    Attributes:
        folder: where it is.
        configuration: resolved, as it was run; read from a file, so anything may be in it.
        trace: its events.
        answerers: the language models that answered in it.
        arm: the arm of its sweep; empty for none.
    """

    folder: Path
    configuration: dict[str, Any]
    trace: Trace
    answering_models: AnsweringModels
    arm: str

    @property
    def steps(self) -> int:
        """Environment steps that were taken."""
        return len(self.trace.stamped(StepTaken))

    @property
    def remark(self) -> str:
        """What is wrong with a trace that can be read all the same; empty for nothing."""
        if self.trace.end is not None:
            return ""
        return f"{self.folder}: the trace breaks off in step {self.steps}: the run was killed, or is still going on"

    def name_of(self, group: str) -> str:
        """Give the name of the component of a group, fit to be shown."""
        values = self.configuration.get(group)
        return sanitize(str(values.get("name", "?")) if isinstance(values, dict) else "?", 40)


def open_run(folder: Path) -> Recorded:
    """Read the folder of a run.

    Raises:
        UserError: it is no such folder, or its trace or its configuration cannot be read.
    """
    if not folder.exists():
        names = sorted(path.name for path in folder.parent.glob("*") if path.is_dir()) if folder.name else []
        raise UserError(f"{folder}: there is no such folder", nearest(folder.name, names))
    if not folder.is_dir():
        raise UserError(f"{folder}: it is a file", f"Give the folder of a run: {folder.parent}.")
    if not is_run(folder):
        raise UserError(f"{folder}: it is no run", _runs_inside(folder))
    trace = checked_trace(folder)
    _check_values(folder, trace)
    configuration = _configuration(folder / "config.yaml")
    return Recorded(folder, configuration, trace, answering_models(trace), _arm(folder, configuration))


def world_of(run: Recorded) -> World:
    """Build the world of a run. Nothing but a registered component is called, whatever the configuration says.

    Raises:
        UserError: there is no such world, or it cannot be built from its values.
    """
    try:
        env = component_values(worlds, run.configuration)
        world: World = worlds.get(env.name).build(env, None)
    except (UserError, ValueError) as error:
        hint = "A world of a third party needs --plugin MODULE; one of another version may need that version."
        raise UserError(f"{run.folder}: its world cannot be built: {error}", hint) from error
    return world


def instants(run: Recorded, world: World) -> Iterator[int]:
    """Bring a world through a run, step by step, and check that it is the same episode.

    No mind and no model is asked: seed and joint actions are all it takes.

    Args:
        run: what was recorded.
        world: of `world_of`.

    Yields:
        The environment step that the world stands at, from 0.

    Raises:
        UserError: the world does something else than the trace says.
    """
    try:
        yield from replay(run.trace, world)
    except ReplayMismatch as error:
        raise UserError(
            f"{run.folder}: the episode cannot be brought back: {sanitize(str(error), 400)}",
            "The rules of the world have changed since, or the folder was changed; run the episode again.",
        ) from error
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        raise UserError(
            f"{run.folder}: damaged: a step of its trace cannot be taken ({type(error).__name__}: {error})",
            "It was changed after it was written; run the episode again.",
        ) from error


def _check_values(folder: Path, trace: Trace) -> None:
    """Make sure that what is read of the events is of its type: a line of a trace may hold any JSON."""
    for kind in (EpisodeStart, StepTaken, MessageSent, ThoughtEnd, EpisodeEnd):
        adapter = TypeAdapter[Event](kind)
        for stamped in trace.stamped(kind):
            try:
                adapter.validate_json(orjson.dumps(stamped.event), strict=True)
                _INSTANT.validate_python(stamped.t, strict=True)
            except ValidationError as error:
                first = error.errors(include_url=False, include_input=False)[0]
                where = ".".join(map(str, first["loc"])) or "t"
                raise UserError(
                    f"{folder}: damaged: event {stamped.seq} ({kind.kind}): {where}: {first['msg']}",
                    "It was changed after it was written; run the episode again.",
                ) from error


def _configuration(file: Path) -> dict[str, Any]:
    try:
        data = yaml.safe_load(file.read_bytes())
        orjson.dumps(data)  # what a configuration holds, JSON can hold
    except OSError as error:
        raise UserError(f"{file}: cannot be read: {error.strerror or error}") from error
    except (yaml.YAMLError, TypeError, ValueError, RecursionError) as error:
        raise UserError(f"{file}: damaged: {sanitize(str(error), 200)}") from error
    if not isinstance(data, dict):
        raise UserError(f"{file}: damaged: it holds no configuration")
    return data


def _arm(folder: Path, configuration: dict[str, Any]) -> str:
    with suppress(UserError):  # a sweep's plan that cannot be read costs the label of an arm, nothing more
        sweep = read_sweep(folder.resolve().parent)
        for cell in sweep.cells if sweep is not None else ():
            if cell.hash == configuration.get("hash"):
                return cell.arm or ""
    return ""


def _runs_inside(folder: Path) -> str:
    inside = sorted(path.name for path in folder.iterdir() if path.is_dir() and is_run(path))
    if not inside:
        return "Give the folder of a run: the one that holds trace.jsonl."
    more = f" ... ({len(inside)} runs)" if len(inside) > _SHOWN else ""
    return f"It holds runs: give one of them, {', '.join(str(folder / name) for name in inside[:_SHOWN])}{more}."

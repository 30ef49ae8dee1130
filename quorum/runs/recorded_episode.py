"""Recorded episodes: the trace holds the actions, and the configuration rebuilds the world."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from maeil import World
from maeil.errors import ReplayMismatch, TraceError
from maeil.trace import Trace, replay
from maeil.trace.events import StepTaken
from maeil.trace.story import Story
from quorum.configuration.checked_values import component_values
from quorum.configuration.registry import worlds
from quorum.display.sanitize import sanitize
from quorum.episode.record import AnsweringModels, answering_models
from quorum.runs.run_folder import RunFolder, contradicts_itself, is_run, require_folder, runs_inside
from quorum.runs.sweep_file import read_sweep
from quorum_base.user_errors import UserError

_MOST_NAMED = 3
"""Runs of a sweep listed in a message, at most."""
_DAMAGED = "It was changed after it was written; run the episode again."


@dataclass(frozen=True, slots=True)
class RecordedEpisode:
    """A run on disk.

    Attributes:
        folder: its folder.
        configuration: the resolved configuration of the run; untrusted, as it is read from a file.
        trace: its events.
        answering_models: the language models that answered in it.
        arm: the arm of its sweep; empty for none.
    """

    folder: Path
    configuration: Mapping[str, Any]
    trace: Trace
    answering_models: AnsweringModels
    arm: str

    @property
    def story(self) -> Story:
        """The fate of each plan, message, thought and attempt.

        Raises:
            UserError: the events of the trace contradict each other.
        """
        try:
            return self.trace.story
        except TraceError as error:
            raise contradicts_itself(self.folder, str(error)) from error

    @property
    def steps(self) -> int:
        """Number of environment steps."""
        return len(self.trace.stamped(StepTaken))

    @property
    def remark(self) -> str:
        """A remark on a flawed but readable trace; empty if there is none."""
        if self.trace.end is not None:
            return ""
        return f"{self.folder}: the trace breaks off in step {self.steps}: the run was killed, or is still running"

    def name_of(self, group: str) -> str:
        """Return the name of a group's component, safe to display."""
        values = self.configuration.get(group)
        return sanitize(str(values.get("name", "?")) if isinstance(values, dict) else "?", 40)

    def world(self) -> World:
        """Build its world.

        Raises:
            UserError: there is no such world, or its values are not valid.
        """
        try:
            return rebuild_world(self.configuration)
        except UserError as error:
            hint = "For a third-party world, add --plugin MODULE; for a world of another version, install that version."
            raise UserError(f"{self.folder}: its world cannot be built: {error}", hint) from error

    def replay(self, world: World) -> Iterator[int]:
        """Replay the episode in a world step by step, and check that it matches the trace.

        No mind or model is called: seed and joint actions suffice.

        Args:
            world: a new world from `world()`.

        Yields:
            The current environment step of the world, from 0.

        Raises:
            UserError: the world deviates from the trace.
        """
        try:
            yield from replay(self.trace, world)
        except ReplayMismatch as error:
            raise UserError(
                f"{self.folder}: the episode cannot be restored: {sanitize(str(error), 400)}",
                "The rules of the world have changed since, or the folder was changed; run the episode again.",
            ) from error
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
            raise UserError(
                f"{self.folder}: damaged: a step of its trace cannot be replayed ({type(error).__name__}: {error})",
                _DAMAGED,
            ) from error


def open_episode(folder: Path) -> RecordedEpisode:
    """Read the folder of a run.

    Raises:
        UserError: it is not a run folder, or its trace or configuration cannot be read.
    """
    require_run(folder)
    files = RunFolder(folder)
    trace = files.trace()
    return RecordedEpisode(folder, files.configuration(), trace, answering_models(trace), _arm(files))


def require_run(folder: Path) -> None:
    """Check that a folder is that of a run.

    Raises:
        UserError: it is not; the hint lists the runs in it.
    """
    require_folder(folder)
    if not is_run(folder):
        raise UserError(f"{folder}: it is not a run", _instead(folder))


def rebuild_world(configuration: Mapping[str, Any]) -> World:
    """Build the world of a configuration. Only registered components are called, whatever the configuration says.

    Args:
        configuration: resolved but not validated.

    Raises:
        UserError: there is no such world, or its values are not valid.
    """
    try:
        env = component_values(worlds, configuration, recorded=True)
        world: World = worlds.get(env.name).build(env, None)
    except (ArithmeticError, AttributeError, LookupError, MemoryError, TypeError, ValueError) as error:
        raise UserError(f"env: {error}") from error
    return world


def _arm(files: RunFolder) -> str:
    with suppress(UserError):  # an unreadable plan or meta.json only costs the arm's label
        sweep, own = read_sweep(files.path.resolve().parent), files.meta().hash
        for cell in sweep.cells if sweep is not None else ():
            if cell.hash == own:
                return cell.arm or ""
    return ""


def _instead(folder: Path) -> str:
    inside = [path.name for path in runs_inside(folder)]
    if not inside:
        return "Give the folder of a run: the one that contains trace.jsonl."
    more = f" ... ({len(inside)} runs)" if len(inside) > _MOST_NAMED else ""
    return (
        f"It contains runs: give one of them, {', '.join(str(folder / name) for name in inside[:_MOST_NAMED])}{more}."
    )

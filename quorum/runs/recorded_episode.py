"""Recorded episodes: the trace holds the actions, and the configuration rebuilds the world.

For code that compares runs side by side: whether two share a board, and in what else they differ.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from maeil import World
from maeil.errors import ReplayMismatch, TraceError
from maeil.trace import Trace, read_event, replay
from maeil.trace.events import EpisodeStart, StepTaken
from maeil.trace.story import Story
from quorum.configuration.checked_values import component_values
from quorum.configuration.registry import worlds
from quorum.display.sanitize import sanitize
from quorum.episode.record import AnsweringModels, answering_models
from quorum.runs.rows import flatten
from quorum.runs.run_folder import RunFolder, contradicts_itself, is_run, require_folder, runs_inside
from quorum.runs.sweep_file import read_sweep
from quorum_base.user_errors import UserError

_MOST_NAMED = 3
"""Runs of a sweep listed in a message, at most."""
_DAMAGED = "It was changed after it was written; run the episode again."
_MOST_DIFFERENCES = 4
"""Differences listed in a message, at most."""
_REPEATED = ("env.n", "env.max_steps", "prompts.")
"""Repeated values: `env` repeats common keys, and minds repeat the prompts that they use."""


@dataclass(frozen=True, slots=True)
class Beginning:
    """The start of a run and its configuration.

    Attributes:
        folder: folder of the run.
        start: first event of its trace.
        configuration: the resolved configuration of the run; untrusted, as it is read from a file.
    """

    folder: Path
    start: EpisodeStart
    configuration: Mapping[str, Any]


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
    def beginning(self) -> Beginning:
        """Its start and its configuration."""
        return Beginning(self.folder, self.trace.start, self.configuration)

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


def read_beginning(folder: Path) -> Beginning:
    """Read the start of a run in any state, without the rest of its trace.

    Raises:
        DamagedFile: the first event or the configuration cannot be read.
    """
    run = RunFolder(folder)
    name = run.require_trace()
    with closing(run.files.lines(name)) as lines:  # type: ignore[type-var] # it is a generator
        first = next(lines, b"")
    try:
        start = read_event(first).event
    except (ValueError, RecursionError) as error:
        raise run.files.damaged(name, f"its first event cannot be read: {error}") from error
    if not isinstance(start, EpisodeStart):
        raise run.files.damaged(name, f"it does not begin with '{EpisodeStart.kind}'")
    return Beginning(folder, start, run.configuration())


def check_same_board(one: Beginning, other: Beginning) -> None:
    """Reject two runs that do not start on the same board; step limits may differ.

    Raises:
        UserError: they differ in world, size, seed, or another value of the world.
    """
    if _board(one) == _board(other):
        return
    worlds = (one.start.world, other.start.world)
    ours = [d for d in differences(one, other) if d[0] in ("n", "seed") or d[0].startswith("env.")]
    differing = [f"{key} {value} and {another}" for key, value, another in ours]
    if worlds[0] != worlds[1]:
        differing = [f"env.name {sanitize(worlds[0], 40)} and {sanitize(worlds[1], 40)}"]
    differing = differing or ["the boards at the start of their traces"]
    raise UserError(
        f"{one.folder} and {other.folder}: they do not play the same board; differences: "
        f"{', '.join(differing[:_MOST_DIFFERENCES])}{' ...' if len(differing) > _MOST_DIFFERENCES else ''}",
        "Compare two runs of one board: the same env, n and seed.",
    )


def _board(run: Beginning) -> bytes:
    board = {key: value for key, value in run.start.board.items() if key != "max_steps"}
    return orjson.dumps([run.start.world, run.start.seed, board])


def differences(one: Beginning, other: Beginning) -> Iterator[tuple[str, str, str]]:
    """Yield each key in which two configurations differ, with both values; top-level keys come first."""
    a, b = flatten(one.configuration), flatten(other.configuration)
    for key in sorted(a.keys() | b.keys(), key=lambda key: (key.count("."), key)):
        if a.get(key) != b.get(key) and not key.startswith(_REPEATED):
            own, others = (sanitize(str(leaves.get(key, "none")), 40) for leaves in (a, b))
            yield sanitize(key, 60), own, others

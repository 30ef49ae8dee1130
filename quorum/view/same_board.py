"""Whether two runs start on the same board, and in what else they differ, to show them side by side."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import orjson

from maeil.trace import read_event
from maeil.trace.events import EpisodeStart
from quorum.display.sanitize import sanitize
from quorum.runs.recorded_episode import RecordedEpisode
from quorum.runs.rows import flatten
from quorum.runs.run_folder import RunFolder
from quorum_base.user_errors import UserError

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
    configuration: Mapping[str, object]

    @classmethod
    def of(cls, run: RecordedEpisode) -> Beginning:
        """Return the start of a run and its configuration."""
        return cls(run.folder, run.trace.start, run.configuration)


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
    ours = [d for d in differences(one, other) if d[0] in ("n", "seed") or d[0].startswith("env.")]
    differing = [f"{key} {value} and {another}" for key, value, another in ours]
    if one.start.world != other.start.world:
        differing = [f"env.name {sanitize(one.start.world, 40)} and {sanitize(other.start.world, 40)}"]
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

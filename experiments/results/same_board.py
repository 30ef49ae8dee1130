"""Whether two runs are of one board, and what parts them otherwise: for all that shows runs side by side."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from maeil.trace import read_event
from maeil.trace.events import EpisodeStart
from maeil.user_errors import UserError
from quorum.experiments.common.sanitize import sanitize
from quorum.experiments.results.rows import flatten
from quorum.experiments.results.run_folder import TRACES, RunFolder

_MOST_NAMED = 4
"""Differences that a message names."""
_REPEATED = ("env.n", "env.max_steps", "prompts.")
"""What stands again elsewhere: `env` repeats common knobs, and minds the prompts that they use."""


@dataclass(frozen=True, slots=True)
class Beginning:
    """Where a run begins, and how it was configured.

    Attributes:
        folder: of the run.
        start: the first event of its trace.
        configuration: resolved, as it was run; read from a file, so anything may be in it.
    """

    folder: Path
    start: EpisodeStart
    configuration: Mapping[str, Any]


def read_beginning(folder: Path) -> Beginning:
    """Read the beginning of a run in whatever state; the rest of its trace is not looked at.

    Raises:
        DamagedFile: the first event or the configuration cannot be read.
    """
    run = RunFolder(folder)
    name = run.trace_name()
    if name is None:
        raise run.files.damaged(TRACES[0], "there is no such file")
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
    """Refuse two runs that do not begin on the same board; how long they may take is no part of it.

    Raises:
        UserError: another world, size or seed, or another value of the world's.
    """
    if _board(one) == _board(other):
        return
    worlds = (one.start.world, other.start.world)
    ours = [d for d in differences(one, other) if d[0] in ("n", "seed") or d[0].startswith("env.")]
    differing = [f"{key} {value} and {another}" for key, value, another in ours]
    if worlds[0] != worlds[1]:
        differing = [f"env.name {sanitize(worlds[0], 40)} and {sanitize(worlds[1], 40)}"]
    differing = differing or ["the boards that their traces begin with"]
    raise UserError(
        f"{one.folder} and {other.folder}: they are not of the same board; what differs: "
        f"{', '.join(differing[:_MOST_NAMED])}{' ...' if len(differing) > _MOST_NAMED else ''}",
        "Side by side stand two runs of one board: the same env, n and seed.",
    )


def _board(run: Beginning) -> bytes:
    board = {key: value for key, value in run.start.board.items() if key != "max_steps"}
    return orjson.dumps([run.start.world, run.start.seed, board])


def differences(one: Beginning, other: Beginning) -> Iterator[tuple[str, str, str]]:
    """Return each key that two configurations do not share, with both values; those of the top first."""
    a, b = flatten(one.configuration), flatten(other.configuration)
    for key in sorted(a.keys() | b.keys(), key=lambda key: (key.count("."), key)):
        if a.get(key) != b.get(key) and not key.startswith(_REPEATED):
            own, others = (sanitize(str(leaves.get(key, "none")), 40) for leaves in (a, b))
            yield sanitize(key, 60), own, others

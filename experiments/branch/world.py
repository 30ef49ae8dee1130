"""What `--world` asks for: read, written in one form, and tried on the world of the run before anything is played."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson

from maeil.errors import ChangeRefused
from maeil.extensions.change import ChangeAt, change_world
from maeil.trace import Instant
from maeil.user_errors import UserError
from quorum.experiments.common.sanitize import sanitize
from quorum.experiments.results.recorded_episode import RecordedEpisode

_EXAMPLE = (
    """For example, in CUBE: --world '{"agents": {"agent_0": [3, 4]}}'; docs/branch.md has those of each world."""
)
_LONGEST = 600
"""Characters of a reason that are shown."""


def read_changes(text: str) -> Mapping[str, Any]:
    """Read the changes of a world, a JSON object.

    Raises:
        UserError: it is none, or names nothing.
    """
    try:
        changes = orjson.loads(text)
    except orjson.JSONDecodeError as error:
        raise UserError(f"--world {sanitize(text, _LONGEST)}: it is no JSON: {error}", _EXAMPLE) from error
    if not isinstance(changes, dict) or not changes:
        raise UserError(f"--world {sanitize(text, _LONGEST)}: it is no JSON object that names something", _EXAMPLE)
    return changes


def written(changes: Mapping[str, Any]) -> str:
    """Return the option as the branch tells it: equal for equal changes, however they were written."""
    return f"--world {orjson.dumps(changes, option=orjson.OPT_SORT_KEYS).decode()}"


def tried(changes: Mapping[str, Any], episode: RecordedEpisode, instant: Instant) -> ChangeAt:
    """Make a change on the world of a run, brought to an instant, and return it.

    Raises:
        UserError: it is not the begin of a step, the world cannot be brought there, or it refuses the change.
    """
    if instant.t_hat is not None:
        raise UserError(
            f"--at {instant} with --world: the world stands still while the team thinks",
            f"Give --at {instant.t}: the world is changed at the begin of the step, before anybody thinks.",
        )
    world = episode.world()
    for t in episode.replay(world):
        if t == instant.t:
            break
    try:
        change_world(world, changes)
    except ChangeRefused as refusal:
        raise UserError(
            f"--world, at step {instant.t}: {sanitize(str(refusal), _LONGEST)}",
            "docs/branch.md says what can be changed.",
        ) from refusal
    return ChangeAt(instant.t, changes)

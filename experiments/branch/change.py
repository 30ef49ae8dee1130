"""What a branch changes, and how a command or a recorded branch describes it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from maeil.errors import ChangeRefused
from maeil.extensions.change import ChangeAt, change_world
from maeil.trace import Instant
from maeil.trace.story import Story
from maeil.user_errors import UserError
from quorum.experiments.common.sanitize import sanitize
from quorum.experiments.configuration.cell import Branch
from quorum.experiments.episode.branch_minds import DroppedMessage, ScriptedAnswer
from quorum.experiments.results.recorded_episode import RecordedEpisode

_EXAMPLE = (
    """For example, in CUBE: --world '{"agents": {"agent_0": [3, 4]}}'; docs/branch.md lists the terms of each world."""
)
_LONGEST_REASON = 600
_LONGEST_EDIT = 200


@dataclass(frozen=True, slots=True)
class Change:
    """What a branch changes from its branch point on. An empty change gives the run itself.

    Attributes:
        edits: `KEY=VALUE` of the configuration.
        words: scripted answers of participants.
        drops: ids of messages of the run that are not delivered.
        config_dir: folder with more options of the groups that edits name.
        world: a change of the world state, in the world's own terms; None: no change.
    """

    edits: Sequence[str] = ()
    words: Sequence[ScriptedAnswer] = ()
    drops: Sequence[int] = ()
    config_dir: Path | None = None
    world: Mapping[str, Any] | None = None


def change_of(branch: Branch, run: Path) -> Change:
    """Read the change of a recorded branch.

    Args:
        branch: as its folder describes it.
        run: its folder, for messages.

    Raises:
        UserError: this version does not know a part of it.
    """
    words: list[ScriptedAnswer] = []
    drops: list[int] = []
    world = None
    for text in branch.told:
        option, _, what = text.partition(" ")
        who, _, content = what.partition(":")
        if option == "--say":
            words.append(ScriptedAnswer(who, text=content))
        elif option == "--plan":
            words.append(ScriptedAnswer(who, actions=content))
        elif option == "--drop" and what.isdecimal():
            drops.append(int(what))
        elif option == "--world":
            world = read_world_change(what)
        else:
            raise UserError(
                f"{run}: it is a branch with a change that this version does not know: {sanitize(text, _LONGEST_EDIT)}",
                "Update quorum-harness.",
            )
    return Change(branch.edits, words, drops, world=world)


def read_world_change(text: str) -> Mapping[str, Any]:
    """Read a change of the world state, a JSON object.

    Raises:
        UserError: it is no JSON object, or is empty.
    """
    try:
        changes = orjson.loads(text)
    except orjson.JSONDecodeError as error:
        raise UserError(f"--world {sanitize(text, _LONGEST_REASON)}: it is no JSON: {error}", _EXAMPLE) from error
    if not isinstance(changes, dict) or not changes:
        raise UserError(
            f"--world {sanitize(text, _LONGEST_REASON)}: it is no JSON object that names something", _EXAMPLE
        )
    return changes


def write_world_change(changes: Mapping[str, Any]) -> str:
    """Write a change of the world state as an option, in one form for equal changes."""
    return f"--world {orjson.dumps(changes, option=orjson.OPT_SORT_KEYS).decode()}"


def try_world_change(changes: Mapping[str, Any], episode: RecordedEpisode, instant: Instant) -> ChangeAt:
    """Make a change on the world of a recorded run, before anything is played.

    Raises:
        UserError: the branch point is not the start of a step, the run cannot be replayed up to it, or the world
            refuses the change.
    """
    if instant.t_hat is not None:
        raise UserError(
            f"--at {instant} with --world: the world stands still while the team thinks",
            f"Give --at {instant.t}: the world changes at the start of the step, before anybody thinks.",
        )
    world = episode.world()
    for t in episode.replay(world):
        if t == instant.t:
            break
    try:
        change_world(world, changes)
    except ChangeRefused as refusal:
        raise UserError(
            f"--world, at step {instant.t}: {sanitize(str(refusal), _LONGEST_REASON)}",
            "docs/branch.md lists what you can change.",
        ) from refusal
    return ChangeAt(instant.t, changes)


def find_messages(story: Story, ids: Sequence[int]) -> Sequence[tuple[DroppedMessage, Instant]]:
    """Return messages with the start of the thought that sends each, in the order of the run.

    Args:
        story: of the run.
        ids: of the messages.

    Raises:
        UserError: the run has no such message.
    """
    before: Counter[tuple[int, int]] = Counter()
    found: dict[int, tuple[DroppedMessage, Instant]] = {}
    for life in story.messages:
        message, t, start = life.message, life.sent.t, life.thought
        if message.message in ids and start is not None:
            drop = DroppedMessage(message.message, message.sender, t, before[t, message.sender])
            found[message.message] = drop, Instant(start.t, start.t_hat)
        before[t, message.sender] += 1
    for wanted in ids:
        if wanted not in found:
            known = f"Its messages are 0 to {len(story.messages) - 1}, in the order of sending."
            raise UserError(
                f"--drop {wanted}: the run has no such message",
                known if story.messages else "Nobody said anything in it.",
            )
    return list(found.values())

"""The change of a branch, and how a command or a recorded branch describes it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import orjson

from maeil.errors import ChangeRefused
from maeil.trace import Instant
from maeil.trace.story import Story
from maeil.world import DrawsLots, closing_world
from quorum.configuration.option_folders import ConfigDir
from quorum.display.sanitize import sanitize
from quorum.runs.recorded_episode import RecordedEpisode
from quorum.what_if.branch.branch_minds import DroppedMessage, ScriptedAnswer
from quorum.what_if.branch.forced_answer import ANSWER, ForcedAnswer
from quorum.what_if.branch.origin import BranchOrigin
from quorum.what_if.extensions.change import ChangeAt, change_world
from quorum_base.user_errors import UserError

_EXAMPLE = (
    """For example, in CUBE: --world '{"agents": {"agent_0": [3, 4]}}'; docs/branch.md lists the terms of each world."""
)
_AT = re.compile(r"(\d{1,9})(?::(\d{1,12}(?:\.\d{1,12})?))?")
_STEP = re.compile(r"\d{1,9}")
_LONGEST_REASON = 600
_LONGEST_EDIT = 200
_PROBE = "--probe"
PROBE = f"{_PROBE} beliefs"
"""The option of belief probes; versions up to 0.26 record it without its value."""


@dataclass(frozen=True, slots=True)
class Change:
    """What a branch changes from its branch point on. An empty change reproduces the run.

    Attributes:
        edits: `KEY=VALUE` of the configuration.
        words: scripted answers of participants.
        drops: ids of messages of the run that are not delivered.
        config_dir: folders with more options of the groups that edits name.
        world: a change of the world state, in the world's own terms; None: no change.
        luck: whether the world redraws its luck; it depends on the draw and not on the other changes.
        probe: whether the agents answer a belief probe, and the branch then ends.
        answer: the answer to the request with which the branch starts; None: the model's own.
    """

    edits: Sequence[str] = ()
    words: Sequence[ScriptedAnswer] = ()
    drops: Sequence[int] = ()
    config_dir: ConfigDir = ()
    world: Mapping[str, Any] | None = None
    luck: bool = False
    probe: bool = False
    answer: ForcedAnswer | None = None

    def comes_first(self, instant: Instant) -> bool:
        """Return whether, at this branch point, it precedes everything else in the step."""
        return self.world is not None or self.probe or (self.luck and instant.t_hat is None)

    @property
    def told(self) -> tuple[str, ...]:
        """All changes other than edits, as options of a command."""
        world = [write_world_change(self.world)] if self.world is not None else []
        probe = [PROBE] if self.probe else []
        answer = [str(self.answer)] if self.answer is not None else []
        return (*map(str, self.words), *(f"--drop {message}" for message in self.drops), *world, *probe, *answer)


UNCHANGED = Change()
"""The run itself, without a change."""


def read_change(
    edits: Sequence[str] = (),
    *,
    says: Sequence[str] = (),
    plans: Sequence[str] = (),
    drops: Sequence[int] = (),
    world: str | None = None,
    luck: bool = False,
    probe: bool = False,
    config_dir: ConfigDir = (),
) -> Change:
    """Read everything that a branch changes, as a command gives it.

    Args:
        edits: `KEY=VALUE` from the branch point on.
        says: `AGENT[@STEP]:TEXT`: a message for a participant's next turn to speak, from that step on.
        plans: `AGENT[@STEP]:ACTIONS`: a plan, in JSON, for an agent's next turn to plan, from that step on.
        drops: ids of messages that are not delivered.
        world: a change of the world state, in JSON.
        luck: whether the world redraws its luck.
        probe: whether the agents answer a belief probe, and the branch then ends.
        config_dir: folders with more options of the groups.

    Raises:
        UserError: a part of it cannot be read, or cannot be combined with a probe.
    """
    if probe and (says or plans or drops or luck or world is not None):
        raise UserError(
            f"{PROBE} ends the branch, so --say, --plan, --drop, --world and --luck would have no effect",
            "Branch the run with the change first, and probe that branch at a later step.",
        )
    words = (
        *(ScriptedAnswer(who, text=text, since=t) for who, t, text in (_split("--say", said) for said in says)),
        *(ScriptedAnswer(who, actions=text, since=t) for who, t, text in (_split("--plan", said) for said in plans)),
    )
    changed = read_world_change(world) if world is not None else None
    return Change(tuple(edits), words, tuple(sorted(set(drops))), config_dir, changed, luck, probe)


def edits_of_minds(minds: Sequence[str]) -> tuple[str, ...]:
    """Return `AGENT=MIND` as `KEY=VALUE`.

    Raises:
        UserError: the agent or the mind is missing.
    """
    for text in minds:
        if not re.match(r"[^=.\s]+=.", text):
            raise UserError(f"--mind {text}: give AGENT=MIND", "For example: --mind agent_2=heuristic")
    return tuple(f"agents.members.{text}" for text in minds)


def _split(option: str, text: str) -> tuple[str, int, str]:
    who, _, what = text.partition(":")
    who, at, step = who.partition("@")
    if not who or not what.strip() or (at and _STEP.fullmatch(step) is None):
        meant = "TEXT" if option == "--say" else "ACTIONS"
        raise UserError(f"{option} {text}: give AGENT:{meant}", f"For example: {option} agent_0:'...'")
    return who, int(step or 0), what


def instant_of(at: str) -> Instant:
    """Read a branch point, `STEP` or `STEP:TIME`.

    Raises:
        UserError: it is neither.
    """
    found = _AT.fullmatch(at)
    if found is None:
        raise UserError(f"--at {at}: give a step, or a step and a cognitive time", "For example: --at 12 or --at 12:57")
    step, time = found.groups()
    return Instant(int(step), None if time is None else float(time) if "." in time else int(time))


def change_of(origin: BranchOrigin, run: Path) -> Change:
    """Read the change of a recorded branch.

    Args:
        origin: as recorded in its folder.
        run: its folder, for messages.

    Raises:
        UserError: this version does not know a part of it.
    """
    told: dict[str, list[str]] = {"--say": [], "--plan": [], "--drop": [], "--world": [], _PROBE: [], ANSWER: []}
    for text in origin.told:
        option, _, what = text.partition(" ")
        if option not in told or (option == "--drop" and not what.isdecimal()):
            raise UserError(
                f"{run}: it is a branch with a change that this version does not know: {sanitize(text, _LONGEST_EDIT)}",
                "Update quorum-harness.",
            )
        told[option].append(what)
    drops, world = [int(message) for message in told["--drop"]], next(iter(told["--world"]), None)
    found = read_change(
        origin.edits,
        says=told["--say"],
        plans=told["--plan"],
        drops=drops,
        world=world,
        luck=origin.luck,
        probe=bool(told[_PROBE]),
    )
    return replace(found, answer=next(map(ForcedAnswer.read, told[ANSWER]), None))


def read_world_change(text: str) -> Mapping[str, Any]:
    """Read a change of the world state, a JSON object.

    Raises:
        UserError: it is not a JSON object, or is empty.
    """
    try:
        changes = orjson.loads(text)
    except orjson.JSONDecodeError as error:
        raise UserError(f"--world {sanitize(text, _LONGEST_REASON)}: not JSON: {error}", _EXAMPLE) from error
    if not isinstance(changes, dict) or not changes:
        raise UserError(f"--world {sanitize(text, _LONGEST_REASON)}: not a JSON object that names something", _EXAMPLE)
    return changes


def write_world_change(changes: Mapping[str, Any]) -> str:
    """Write a change of the world state as an option; equal changes give equal text."""
    return f"--world {orjson.dumps(changes, option=orjson.OPT_SORT_KEYS).decode()}"


def try_world_change(change: ChangeAt, episode: RecordedEpisode, instant: Instant) -> ChangeAt:
    """Try a change on the world of a recorded run before playing anything.

    Raises:
        UserError: the state would change and the branch point is not the start of a step, the run cannot be replayed up
            to it, or the world refuses the change.
    """
    with closing_world(episode.world()) as world:
        if change.luck is not None and not isinstance(world, DrawsLots):
            raise UserError(
                f"--luck: the rules of '{world.name}' are not random",
                "Leave --luck out: --draws draws models and minds again.",
            )
        if change.changes is None:
            return change
        if instant.t_hat is not None:
            raise UserError(
                f"--at {instant} with --world: the world stands still while the team thinks",
                f"Give --at {instant.t}: the world changes at the start of the step, before anybody thinks.",
            )
        for t in episode.replay(world):
            if t == instant.t:
                break
        try:
            change_world(world, change.changes)
        except ChangeRefused as refusal:
            raise UserError(
                f"--world, at step {instant.t}: {sanitize(str(refusal), _LONGEST_REASON)}",
                "docs/branch.md lists what you can change.",
            ) from refusal
        return change


def find_messages(story: Story, ids: Sequence[int]) -> Sequence[tuple[DroppedMessage, Instant]]:
    """Return messages with the start of the thought that sends each, in the order of the run.

    Args:
        story: the story of the run.
        ids: ids of the messages.

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

"""Check that the prompts of control arms differ from the treatment's only in message bytes.

The audit replays the episode of a recorded run with its recorded answers, and once more for each arm. In an arm, the
minds see what the arm gives them to read and write their prompts. Whatever they ask, they get the answers recorded at
the same place. Whatever they make of these, they do what they did in the treatment. So the episodes differ only in what
the minds read, and prompts can be compared one by one. Nothing is sent to a model.

Message bytes are the blocks that hold messages, or what a mind has read in messages (`MESSAGES`). Templates omit such a
block if it is empty, with the heading and text of its section. So a section that holds nothing else also counts as
message bytes, and so does the text that replaces an empty dialogue. In `prompts=short`, which has no blocks, these are
the lines of messages and of open tasks. Everything else must be equal.

Some minds call their model only if they have read something to ask about: a reviewer of HMAS-2 its part of a joint
plan, an actor of LLaMAC a part that it cannot do. Such a mind makes no call in an arm that takes that away, or makes
one in an arm that adds it. The audit counts these calls as `missing` or `extra`, and then does not hold.
"""

from __future__ import annotations

import difflib
import hashlib
import re
from asyncio import Future, ensure_future
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from operator import eq
from pathlib import Path

from maeil.calls import current_ledger
from maeil.clock import ClockUnit
from maeil.errors import EpisodeStop
from maeil.mind import Mind, Thought, View
from quorum.agents.llm.errors import LanguageModelError
from quorum.agents.llm.protocol import Model, Reply, Request
from quorum.agents.prompting.blocks import BLOCK
from quorum.configuration.cell import Cell
from quorum.configuration.inputs import inputs_of
from quorum.configuration.providers.replay import recorded_calls
from quorum.configuration.schema import Configuration, validate
from quorum.episode.built import Parts
from quorum.episode.in_memory import play_in_memory
from quorum.episode.start import Start
from quorum.runs.recorded_episode import open_episode
from quorum.runs.run_folder import RunFolder
from quorum.storage.memory_file import MEMORY_BEFORE, read_memory
from quorum_base.user_errors import UserError

_OF_TURNS = frozenset({"unread", "memory", "constraints"})
MESSAGES: Mapping[str, frozenset[str]] = {
    "talker": frozenset({"dialogue", "proposal", "commitments", "history"}),
    "reviewer": frozenset({"suggestion", "others"}),
    "actor": frozenset({"suggestion", "partners", "failed_check"}),
    "proposer": frozenset({"proposals", "commitments"}),
    "committer": frozenset({"proposals", "commitments"}),
    **dict.fromkeys(("centre", "debater", "assessor", "explorer", "exploiter"), frozenset({"dialogue", "objections"})),
}
"""The blocks of a prompt that hold messages or what was read in them, by the role of the model call.

All other roles have `unread`, `memory`, and the open tasks, which come with messages.
"""
_NOTHING_SAID = "\nNothing yet."
_SECTION = re.compile(r"^(?=# )", re.MULTILINE)
_SHORT = re.compile(r"^(?:new )?@.*$|^open \{.*$", re.MULTILINE)
"""The lines of `prompts=short` that hold messages, or open tasks. A text of an agent cannot start a line there."""


@dataclass(frozen=True, slots=True)
class ControlAudit:
    """The prompts of an arm, compared with those of the treatment.

    Attributes:
        arm: its name.
        calls: number of calls of the treatment's minds.
        equal: number of these whose prompts are equal except for message bytes.
        altered: number of these whose prompts differ in message bytes: where the arm had an effect.
        missing: number of these that the arm's minds did not make.
        extra: number of calls that only the arm's minds made.
        treatment: SHA-256 of all prompts of the treatment without message bytes.
        control: SHA-256 of those of the arm.
        difference: the first difference, as lines; empty for none.
    """

    arm: str
    calls: int
    equal: int
    altered: int
    missing: int
    extra: int
    treatment: str
    control: str
    difference: str

    @property
    def holds(self) -> bool:
        """Whether all prompts are equal except for message bytes."""
        return self.equal == self.calls and not self.extra


def audit_controls(run: Path, arms: Sequence[str], donors: Path | None = None) -> Sequence[ControlAudit]:
    """Compare the prompts of control arms with those of a recorded run.

    Args:
        run: folder of the treatment, whose minds called language models.
        arms: values of `extension.control.arm`.
        donors: file of messages of another board, for `shuffled`.

    Raises:
        UserError: there is no such run or arm, or no donors for `shuffled`; or the run made no model calls, is a
            branch, or has a clock that counts seconds.
    """
    episode = open_episode(run)
    c = validate(episode.configuration, recorded=True)
    hint = "Give a run with language models that is not a branch and whose clock does not count seconds."
    if c.clock.unit is ClockUnit.SECONDS:
        raise UserError(f"{run}: clock=seconds: its thoughts took real time, which cannot be reproduced", hint)
    if RunFolder(episode.folder).meta().origin is not None or not c.uses_models:
        raise UserError(f"{run}: its prompts cannot be compared", hint)
    treatment = _played(run, c, {})
    return [_compared(arm, treatment, _played(run, _controlled(c, arm, donors), treatment)) for arm in arms]


def _controlled(treatment: Configuration, arm: str, donors: Path | None) -> Configuration:
    """Return the configuration of an arm."""
    plain = treatment.to_json()
    values = {"arm": arm, "donors": str(donors) if arm == "shuffled" and donors is not None else None}
    return validate({**plain, "extension": {**plain.get("extension", {}), "control": values}})


@dataclass(slots=True)
class _Thought:
    """A thought: its requests, its answers, and its outcome, which may be an error."""

    asked: list[Request] = field(default_factory=list)
    answers: list[Future[Reply]] = field(default_factory=list)
    outcome: Future[Thought] | None = None


_Books = dict[str, list[_Thought]]
"""The thoughts of each participant, in order."""


class _NothingRecorded(EpisodeStop):
    """A thought made more requests than that of the treatment had answers."""


def _played(run: Path, c: Configuration, treatment: _Books) -> _Books:
    """Play the episode of a run in memory, perhaps in another arm, and return its thoughts."""
    notes, cell = _Notes(treatment), Cell(c, inputs_of(c))
    start = Start(read_memory(run, MEMORY_BEFORE))
    play_in_memory(cell, (), start=start, recorded=recorded_calls(run, "run"), watch=notes)
    return notes.books


@dataclass(eq=False)
class _Notes:
    """Records the thoughts of all participants; those of an arm get the outcomes of the treatment."""

    treatment: _Books
    books: _Books = field(default_factory=lambda: defaultdict(list))

    def model(self, name: str, model: Model) -> Model:
        return _Watched(model, self.books[name], self.treatment.get(name))

    def team(self, parts: Parts) -> Parts:
        minds = list(map(self._mind, parts.world.agents, parts.minds))
        return replace(parts, minds=minds, coordinators=[(name, self._mind(name, m)) for name, m in parts.coordinators])

    def _mind(self, name: str, mind: Mind) -> Mind:
        return _Noted(mind, self.books[name], self.treatment.get(name))


@dataclass(eq=False)
class _Watched:
    """A model whose requests are recorded; in an arm it gives the treatment's answer at the same place."""

    model: Model
    thoughts: list[_Thought]
    treatment: Sequence[_Thought] | None

    async def complete(self, request: Request) -> Reply:
        now = self.thoughts[-1]
        now.asked.append(request)
        if self.treatment is None:
            now.answers.append(ensure_future(self.model.complete(request)))
            return await now.answers[-1]
        answers = self.treatment[len(self.thoughts) - 1].answers
        place = len(now.asked) - 1
        if place >= len(answers) or answers[place].cancelled():
            raise _NothingRecorded
        return await answers[place]


@dataclass(eq=False)
class _Noted:
    """A mind whose thoughts are recorded; in an arm they get the outcomes of the treatment."""

    mind: Mind
    thoughts: list[_Thought]
    treatment: Sequence[_Thought] | None

    async def think(self, view: View) -> Thought:
        now = _Thought()
        self.thoughts.append(now)
        if self.treatment is None:
            now.outcome = ensure_future(self._think(view))
            return await now.outcome
        with suppress(EpisodeStop, LanguageModelError):
            await self.mind.think(view)
        outcome = self.treatment[len(self.thoughts) - 1].outcome
        assert outcome is not None
        return await outcome

    async def _think(self, view: View) -> Thought:
        thought = await self.mind.think(view)
        return replace(thought, calls=thought.calls or current_ledger().calls)


def _compared(arm: str, treatment: _Books, control: _Books) -> ControlAudit:
    counts: Counter[str] = Counter()
    difference = ""
    before, after = hashlib.sha256(), hashlib.sha256()
    for name, thoughts in treatment.items():
        for one, other in zip(thoughts, control[name], strict=True):
            wanted, asked = (list(map(without_messages, thought.asked)) for thought in (one, other))
            before.update("".join(f"{name}\0{text}\0" for text in wanted).encode())
            after.update("".join(f"{name}\0{text}\0" for text in asked).encode())
            counts["calls"] += len(wanted)
            counts["equal"] += sum(map(eq, wanted, asked))
            counts["altered"] += sum(a.messages != b.messages for a, b in zip(one.asked, other.asked, strict=False))
            counts["missing"] += max(len(wanted) - len(asked), 0)
            counts["extra"] += max(len(asked) - len(wanted), 0)
            if not difference and wanted != asked:
                difference = _difference(name, "\n".join(wanted), "\n".join(asked))
    return ControlAudit(arm, **counts, treatment=before.hexdigest(), control=after.hexdigest(), difference=difference)


def _difference(name: str, one: str, other: str) -> str:
    """Return a diff of two prompts of a participant."""
    names = f"{name}, treatment", f"{name}, control"
    return "\n".join(difflib.unified_diff(one.splitlines(), other.splitlines(), *names, n=1, lineterm=""))


def without_messages(request: Request) -> str:
    """Return the text of a prompt without message bytes."""
    role = request.origin.role if request.origin is not None else ""
    blanked = (_blanked(message.content, MESSAGES.get(role, _OF_TURNS)) for message in request.messages)
    return "\n\n".join(blanked)


def _blanked(text: str, names: frozenset[str]) -> str:
    """Remove some blocks from a text, and sections that hold nothing else or report that nothing was said."""
    if BLOCK.search(text) is None:
        text = _SHORT.sub("", text)
    return re.sub(r"\n{2,}", "\n", "".join(_kept(_SECTION.split(text), names))).strip()


def _kept(sections: Sequence[str], names: frozenset[str]) -> Iterator[str]:
    for section in sections:
        found = {name for name, _ in BLOCK.findall(section)}
        if (found and found <= names) or section.rstrip().endswith(_NOTHING_SAID):
            continue
        yield BLOCK.sub(lambda block: "" if block[1] in names else block[0], section)

"""The decisions of a recorded run: prompts whose answers committed a plan or sent messages."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import orjson

from maeil.trace import Instant
from quorum.agents.llm.protocol import Finish
from quorum.agents.llm.structured import NoAnswer, extract
from quorum.agents.llm.validation import validator_of
from quorum.episode.call_ledger import records_of
from quorum.runs.recorded_episode import RecordedEpisode
from quorum.runs.recorded_prompt import calls_of
from quorum_base.user_errors import UserError

Record = Mapping[str, Any]


def digest_of(call: Record) -> str:
    """Return the SHA-256 of a request: its messages and the schema of its answer."""
    request = call["request"]
    return sha256(orjson.dumps([request["messages"], request["answer"]], option=orjson.OPT_SORT_KEYS)).hexdigest()


def is_usable(call: Record) -> bool:
    """Whether a call has an answer of the requested form, so that no repeated request followed it."""
    reply = call.get("reply")
    if reply is None or not reply["text"].strip() or reply["finish"] == Finish.REFUSAL:
        return False
    form, sampling = call["request"]["answer"], call["request"]["sampling"]
    try:
        if form is not None:
            cut = sampling["max_tokens"] if reply["finish"] == Finish.LENGTH else None
            extract(reply["text"], validator_of(form["schema"]), cut)
    except NoAnswer:
        return False
    return True


@dataclass(frozen=True, slots=True)
class Decision:
    """A decision: the first request of a thought, whose answer had an effect.

    Attributes:
        agent: name of the participant.
        instant: the start of the thought.
        line: number of the call in `calls.jsonl`.
        place: number of the call among those of the participant.
        call: its complete record.
    """

    agent: str
    instant: Instant
    line: int
    place: int
    call: Record

    def again(self, run: Path) -> Record | None:
        """Return the call of this decision in a branch of the run; None if it has no usable answer.

        Raises:
            UserError: the calls are damaged, or the branch asked something else.
        """
        own = (call for call in calls_of(run) if call.get("agent") == self.agent)
        call = next((call for number, call in enumerate(own) if number == self.place), None)
        if call is not None and digest_of(call) != digest_of(self.call):
            raise UserError(f"{run}: {self.agent} got another prompt at {self.instant} than in the recorded run")
        return call if call is not None and is_usable(call) else None


def decisions_of(episode: RecordedEpisode) -> list[Decision]:
    """Return the decisions of a run, in the order of time.

    A thought that only continues a plan has no effect that another answer could be compared with. Prompts with pictures
    are left out, since conversational data sets of text cannot hold them.

    Raises:
        UserError: the calls are damaged.
    """
    try:
        return list(_decisions(episode))
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise UserError(f"{episode.folder}: its calls are damaged: {type(error).__name__}: {error}") from error


def _decisions(episode: RecordedEpisode) -> Iterator[Decision]:
    start, story = episode.trace.start, episode.story
    names = (*start.agents, *start.coordinators)
    waiting: defaultdict[tuple[str, int], deque[tuple[int, int, Record]]] = defaultdict(deque)
    asked: defaultdict[str, int] = defaultdict(int)
    for line, call in enumerate(calls_of(episode.folder)):
        waiting[call["agent"], call["t"]].append((line, asked[call["agent"]], call))
        asked[call["agent"]] += 1
    starts = [*(life.thought for life in story.plans), *(life.thought for life in story.messages)]
    effects = {id(start) for start in starts if start is not None}
    seen: set[tuple[str, Instant]] = set()
    for thought in story.thoughts:
        name, instant = names[thought.agent], Instant(thought.start.t, thought.start.t_hat)
        records = waiting[name, thought.start.t]
        own = [records.popleft() for call in thought.calls for _ in range(min(records_of(call), len(records)))]
        first = (name, instant) not in seen
        seen.add((name, instant))
        acted = id(thought.start) in effects or name in start.coordinators
        if own and first and acted and thought.took_effect and records_of(thought.calls[0]) == 1:
            line, place, call = own[0]
            if is_usable(call) and not any(message.get("pictures") for message in call["request"]["messages"]):
                yield Decision(name, instant, line, place, call)

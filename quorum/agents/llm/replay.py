"""Replay: answers from recorded calls, without a network."""

from __future__ import annotations

import asyncio
import difflib
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

import orjson

from maeil.errors import EpisodeStop
from quorum.agents.llm import errors
from quorum.agents.llm.caps import capped
from quorum.agents.llm.paid import charge
from quorum.agents.llm.protocol import Origin, Reply, Request, Sampling
from quorum.agents.llm.provided import ProvidedModel
from quorum.agents.llm.recording import CANCELLED
from quorum.agents.llm.records import WALL, describe_request, read_reply, read_sampling, request_key

_MOST_COMPARED = 64
_MOST_LINES = 30
_CANCELLED_SECONDS = 60.0


class Replay(ProvidedModel):
    """A model that returns recorded answers, by participant and request, in the order of the recording.

    A call that failed fails again in the same way; one that was cancelled waits to be cancelled.

    Args:
        records: records written by `Recording`, in order.
        whole: expands a record whose request is reduced to its sampling parameters; see `recording.Folding`.

    Raises:
        LookupError, TypeError, AttributeError: a record is malformed.
    """

    def __init__(
        self,
        records: Iterable[Mapping[str, Any]],
        whole: Callable[[Mapping[str, Any]], Mapping[str, Any]] = lambda record: record,
    ) -> None:
        self._records: list[Mapping[str, Any]] = []
        self._whole = whole
        self._left: dict[tuple[str, str], deque[Mapping[str, Any]]] = defaultdict(deque)
        self._samplings: dict[str, list[Sampling]] = defaultdict(list)
        for record in records:
            self._records.append(record)
            self._left[record["agent"], record["key"]].append(record)
            sampling = read_sampling(record["request"]["sampling"])
            if sampling not in self._samplings[record["agent"]]:
                self._samplings[record["agent"]].append(sampling)

    def sampling_of(self, agent: str) -> Sampling:
        """Return the sampling parameters of a participant's first answer; of another's if it made no request."""
        drawn = self._samplings.get(agent) or next(iter(self._samplings.values()), [Sampling(None, 1)])
        return drawn[0]

    def as_recorded(self, request: Request) -> Request | None:
        """Return a request with the sampling parameters recorded for it; None if its participant did not make it.

        Sampling parameters may differ by call and by role.
        """
        agent = request.origin.agent if request.origin is not None else ""
        known = (capped(replace(request, sampling=sampling)) for sampling in self._samplings.get(agent, ()))
        return next((drawn for drawn in known if (agent, request_key(drawn)) in self._left), None)

    def knows(self, request: Request) -> bool:
        """Return whether this participant made exactly this request."""
        agent = request.origin.agent if request.origin is not None else ""
        return (agent, request_key(request)) in self._left

    async def complete(self, request: Request) -> Reply:
        """Return the recorded answer.

        Raises:
            NotRecorded: this request was not recorded, or not as often (the message shows the difference to the nearest
                recorded one), or its record is damaged.
        """
        origin = request.origin or Origin("", 0)
        try:
            return await self._recorded(request, origin)
        except (LookupError, TypeError, ValueError, AttributeError) as error:
            damage = f"the record is damaged ({type(error).__name__}: {error})"
            raise errors.NotRecorded(f"{_who(origin)}: {damage}") from error

    async def _recorded(self, request: Request, origin: Origin) -> Reply:
        left = self._recorded_as(request, origin.agent)
        if not left:
            raise errors.NotRecorded(self._difference(request, origin, left is not None))
        record = left.popleft()
        if "reply" in record:
            return read_reply(record["reply"])
        failure = record["failure"]
        if failure["kind"] == CANCELLED:
            await asyncio.sleep(_CANCELLED_SECONDS)
            raise errors.NotRecorded(f"{_who(origin)}: this call was cancelled when it was recorded")
        paid = failure.get("answer")
        raise charge(_failure(failure), None if paid is None else read_reply(paid["record"]))

    def _recorded_as(self, request: Request, agent: str) -> deque[Mapping[str, Any]] | None:
        """Find the records of a request, whatever its output limit, which differs by call."""
        known = None
        for longest in dict.fromkeys(drawn.max_tokens for drawn in (request.sampling, *self._samplings[agent])):
            drawn = replace(request.sampling, max_tokens=longest)
            left = self._left.get((agent, request_key(replace(request, sampling=drawn))))
            if left:
                return left
            known = known if left is None else left
        return known

    def _difference(self, request: Request, origin: Origin, known: bool) -> str:
        if known:
            return f"{_who(origin)}: this call was made more often than it was recorded"
        asked = _lines(describe_request(request))
        near = sorted(self._records, key=lambda record: (record["agent"] != origin.agent, abs(record["t"] - origin.t)))
        others = [_lines(self._whole(record)["request"]) for record in near[:_MOST_COMPARED]]
        if not others:
            return f"{_who(origin)}: no call was recorded"
        matcher = difflib.SequenceMatcher(a=asked, autojunk=False)
        best, closeness = others[0], -1.0
        for other in others:
            matcher.set_seq2(other)
            if matcher.quick_ratio() > closeness:
                best, closeness = other, matcher.quick_ratio()
        lines = list(difflib.unified_diff(best, asked, "recorded", "asked", n=1, lineterm=""))
        shown = lines[:_MOST_LINES] + (["[...]"] if len(lines) > _MOST_LINES else [])
        return "\n".join([f"{_who(origin)}: this call was not recorded; the nearest recorded call differs:", *shown])


def _who(origin: Origin) -> str:
    return f"{origin.agent or 'somebody'} at t = {origin.t}"


def _lines(request: Mapping[str, Any]) -> list[str]:
    """Return a request as comparable lines: prompts by their own lines, the rest as JSON."""
    lines = []
    for message in request["messages"]:
        lines.append(f"[{message['role']}]")
        lines.extend(f"[picture {picture['hash']}]" for picture in message.get("pictures", ()))
        lines.extend(message["content"].splitlines())
    rest = {name: value for name, value in request.items() if name != "messages"}
    lines.extend(orjson.dumps(rest, option=orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS).decode().splitlines())
    return lines


def _failure(record: Mapping[str, Any]) -> errors.LanguageModelError | EpisodeStop:
    if "budget" in record:
        return errors.BudgetReached(**record["budget"])
    kind = getattr(errors, record["kind"], None)
    if kind is errors.InfrastructureFailed:
        return errors.InfrastructureFailed(record["message"], record.get(WALL, {}).get("attempts", 0))
    if isinstance(kind, type) and issubclass(kind, errors.LanguageModelError | EpisodeStop):
        return kind(record["message"])
    return errors.NotRecorded(f"a failure of an unknown kind was recorded: {record['kind']}")

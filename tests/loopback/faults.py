"""The faults that the server can be asked for: of the network, of the protocol, and of the answer."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from quorum.agents.llm.protocol import Finish, Reply, Request


class FaultKind(StrEnum):
    """What goes wrong with one request."""

    RATE_LIMIT = "rate_limit"  # 429, with Retry-After where `seconds` is given
    SERVER_ERROR = "server_error"  # 500
    OVERLOADED = "overloaded"  # 529
    SILENCE = "silence"  # never an answer
    DRIP = "drip"  # a byte every `seconds`
    RESET = "reset"  # the connection is reset before an answer
    RESET_HALFWAY = "reset_halfway"  # the connection is reset within the body
    STALE = "stale"  # a good answer, after which the kept connection is dead for the next request
    HTML = "html"  # 200 with a page of a proxy
    BROKEN_JSON = "broken_json"  # 200 with half of the JSON
    NO_CHOICES = "no_choices"  # 200 with an empty list of answers
    NO_USAGE = "no_usage"  # 200 without token counts
    UNAUTHORIZED = "unauthorized"  # 401 that repeats the key that was sent
    UNKNOWN_MODEL = "unknown_model"  # 404
    BAD_REQUEST = "bad_request"  # 400
    NO_CREDIT = "no_credit"  # 429 that no waiting helps against
    NO_SCHEMA = "no_schema"  # 400 where a JSON schema is asked for, else nothing
    NO_TOOLS = "no_tools"  # 400 where a JSON schema or a tool is asked for, else nothing
    NO_RESOURCES = "no_resources"  # 429 of the tier flex, which has no room now
    NO_TEMPERATURE = "no_temperature"  # 400 where a temperature is sent, else nothing
    CUT_OFF = "cut_off"  # half of the answer, marked as cut off
    REFUSAL = "refusal"  # the model refuses
    WRONG_ENUM = "wrong_enum"  # a value outside of an enumeration
    PROSE = "prose"  # prose around the JSON
    CODE_FENCE = "code_fence"  # the JSON in a code fence
    EMPTY_PLAN = "empty_plan"  # every list of the answer is empty
    EMPTY = "empty"  # an answer without text
    ANSWER = "answer"  # `text` in place of the answer


@dataclass(frozen=True, slots=True)
class Fault:
    """One fault.

    Attributes:
        kind: what goes wrong.
        seconds: Retry-After, or the pace of a dripping body.
        text: the answer of `ANSWER`.
    """

    kind: FaultKind
    seconds: float | None = None
    text: str = ""


Faults = Sequence[Fault | None] | Callable[[int], Fault | None]
"""Faults by number of the request: a list, after whose end nothing goes wrong, or a function."""

REFUSED = "I cannot help with that."
STATUSES: dict[FaultKind, tuple[int, str, str]] = {
    FaultKind.RATE_LIMIT: (429, "rate_limit_error", "Too many requests."),
    FaultKind.SERVER_ERROR: (500, "api_error", "Something broke."),
    FaultKind.OVERLOADED: (529, "overloaded_error", "Overloaded."),
    FaultKind.UNKNOWN_MODEL: (404, "not_found_error", "The model does not exist."),
    FaultKind.BAD_REQUEST: (400, "invalid_request_error", "The messages are not well formed."),
    FaultKind.NO_CREDIT: (429, "insufficient_quota", "You have used up your quota."),
    FaultKind.NO_SCHEMA: (400, "invalid_request_error", "This server does not support json_schema output."),
    FaultKind.NO_TOOLS: (400, "invalid_request_error", "This server does not support json_schema output or tools."),
    FaultKind.NO_RESOURCES: (429, "resource_unavailable", "Resources for this tier are not available now."),
    FaultKind.NO_TEMPERATURE: (400, "invalid_request_error", "Unsupported value: temperature is not supported."),
}
"""Status, type and text of the faults that are plain HTTP errors."""


def planned(faults: Faults, number: int) -> Fault | None:
    """Return the fault of a request."""
    if callable(faults):
        return faults(number)
    return faults[number] if number < len(faults) else None


def spoil(reply: Reply, fault: Fault, request: Request) -> Reply:
    """Return an answer as a fault of the answer leaves it; other faults leave it as it is."""
    text = reply.text
    match fault.kind:
        case FaultKind.CUT_OFF:
            return replace(reply, text=text[: len(text) // 2], finish=Finish.LENGTH)
        case FaultKind.REFUSAL:
            return replace(reply, text=REFUSED, finish=Finish.REFUSAL)
        case FaultKind.WRONG_ENUM:
            return replace(reply, text=_wrong_enum(text, request))
        case FaultKind.PROSE:
            return replace(reply, text=f"Let me think {{step by step}}.\n\n{text}\n\nI hope that this helps!")
        case FaultKind.CODE_FENCE:
            return replace(reply, text=f"Here it is:\n```json\n{text}\n```\n")
        case FaultKind.EMPTY_PLAN:
            return replace(reply, text=json.dumps(_without_items(json.loads(text))))
        case FaultKind.EMPTY:
            return replace(reply, text="")
        case FaultKind.ANSWER:
            return replace(reply, text=fault.text)
        case _:
            return reply


def _without_items(value: Any) -> Any:
    if isinstance(value, list):
        return []
    if isinstance(value, dict):
        return {name: _without_items(inner) for name, inner in value.items()}
    return value


def _wrong_enum(text: str, request: Request) -> str:
    """Replace every string that the schema enumerates somewhere by one that it does not."""
    choices = _enumerated(request.answer.schema) if request.answer is not None else set()

    def spoiled(value: Any) -> Any:
        if isinstance(value, dict):
            return {name: spoiled(inner) for name, inner in value.items()}
        if isinstance(value, list):
            return [spoiled(inner) for inner in value]
        return "no-such-value" if isinstance(value, str) and value in choices else value

    return json.dumps(spoiled(json.loads(text)))


def _enumerated(schema: Any) -> set[str]:
    found: set[str] = set()
    if isinstance(schema, Mapping):
        found |= {choice for choice in schema.get("enum", ()) if isinstance(choice, str)}
        if isinstance(schema.get("const"), str):
            found.add(schema["const"])
        for inner in schema.values():
            found |= _enumerated(inner)
    elif isinstance(schema, list):
        for inner in schema:
            found |= _enumerated(inner)
    return found

"""Structured answers: extract them from model output, validate them, and request them again with the reasons."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from math import isfinite
from typing import Any, NoReturn

import orjson

from quorum.agents.llm.errors import AnswerInvalid, EmptyAnswer
from quorum.agents.llm.protocol import ChatMessage, ChatRole, Finish, Model, Rejected, Reply, Request
from quorum.agents.llm.records import CallEntry
from quorum.agents.llm.validation import Validator, validator_of, whole_number

_FENCE = re.compile(r"```[A-Za-z]*[ \t]*\n(.*?)```", re.DOTALL)
_WHOLE_FENCE = re.compile(r"```[A-Za-z]*[ \t]*\n(.*?)`{0,3}", re.DOTALL)
_LONGEST_NUMBER = 40
_BRACE = re.compile(r"[{}]")
_BRACE_OR_STRING = re.compile(r'[{}]|"(?:[^"\\]++|\\.)*+("?)', re.DOTALL)


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")


def _number(text: str) -> int | float:
    """Read a number with a point or an exponent. JSON has one kind of number, so 2.0 is the integer 2."""
    value = float(text)
    if not isfinite(value):
        raise ValueError(f"{text[:_LONGEST_NUMBER]} is too large")
    whole = whole_number(value)
    return value if whole is None else whole


def _integer(text: str) -> int:
    if len(text) > _LONGEST_NUMBER:
        raise ValueError(f"{text[:_LONGEST_NUMBER]}... is too large")
    return int(text)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Make an object from its pairs; reject duplicate keys, because it is unclear which value counts."""
    found = dict(pairs)
    for key, value in pairs if len(found) < len(pairs) else ():
        if found[key] != value:
            raise ValueError(f"it has the key {json.dumps(key)} twice, with different values")
    return found


_DECODER = json.JSONDecoder(
    parse_constant=_refuse_constant, parse_float=_number, parse_int=_integer, object_pairs_hook=_object
)


class NoAnswer(Exception):
    """A text holds no answer that matches the schema.

    Attributes:
        reasons: why not.
    """

    def __init__(self, *reasons: str) -> None:
        super().__init__("; ".join(reasons))
        self.reasons = reasons


def extract(text: str, validator: Validator, most_tokens: int | None = None) -> Any:
    """Return the value in a text: the text itself as JSON, else the only JSON object in it that matches.

    The time is linear in the length of the text, whatever it contains: each character is read only a few times. Whole
    numbers become integers however they are written.

    Args:
        text: the model's output.
        validator: validator of the answer schema.
        most_tokens: the token limit that has cut the text off; None if none did.

    Raises:
        NoAnswer: there is no such value, or there are several different ones.
    """
    if most_tokens is not None and not is_whole(text):
        raise NoAnswer(f"the answer was cut off: it may have {most_tokens} tokens at most; be shorter")
    if not text.strip():
        raise NoAnswer("the answer is empty")
    try:
        value = _parse(text.strip())
    except ValueError as error:
        problem = f"the answer is no JSON: {error}"
    else:
        reasons = validator.reasons(value)
        if reasons:
            raise NoAnswer(*reasons)
        return value
    checked = [(value, validator.reasons(value)) for value in _candidates(text)]
    fitting = {orjson.dumps(value, option=orjson.OPT_SORT_KEYS): value for value, reasons in checked if not reasons}
    if len(fitting) == 1:
        return next(iter(fitting.values()))
    if fitting:
        raise NoAnswer(f"the answer holds {len(fitting)} different objects that fit: give one")
    if len(checked) == 1:
        raise NoAnswer(*checked[0][1])
    raise NoAnswer(problem)


def _candidates(text: str) -> Iterator[Any]:
    """Return the JSON objects in a text: those in code fences, else all objects in the prose."""
    fenced = []
    for block in _FENCE.findall(text):
        try:
            fenced.append(_parse(block.strip()))
        except ValueError:
            continue
    if fenced:
        yield from fenced
        return
    yield from (value for _, _, value in objects_in(text))


def objects_in(text: str, begin: int = 0) -> Iterator[tuple[int, int, Any]]:
    """Return the top-level JSON objects in a text, with their start and end.

    An object without an end hides the objects after it.

    Args:
        text: prose with objects.
        begin: where to start, in characters.
    """
    place = text.find("{", begin)
    while place >= 0:
        end = _end_of_braces(text, place)
        with suppress(ValueError):
            # Decode only the object's own text: the decoder's errors count all lines before their position.
            yield place, end, _parse(text[place:end])
        place = text.find("{", end)


def _end_of_braces(text: str, place: int) -> int:
    """Return the end of the braces that open at a place, so that no part of a broken object passes for a whole one.

    Braces in strings are ignored. An unclosed quotation mark starts no string, and neither does any later one: they all
    follow backslashes within the string that it would start.
    """
    depth = 0
    for token in _braces(text, place):
        depth += 1 if token.group() == "{" else -1
        if depth == 0:
            return token.end()
    return len(text)


def _braces(text: str, place: int) -> Iterator[re.Match[str]]:
    for token in _BRACE_OR_STRING.finditer(text, place):
        if not token.group().startswith('"'):
            yield token
        elif not token.group(1):
            yield from _BRACE.finditer(text, token.start())
            return


def _parse(text: str) -> Any:
    try:
        return _recordable(_DECODER.decode(text))
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def _recordable(value: Any) -> Any:
    """Reject valid JSON that records cannot hold: numbers beyond 64 bits, lone surrogates."""
    try:
        orjson.dumps(value)
    except TypeError as error:
        raise ValueError(f"it holds what cannot be recorded ({error})") from None
    return value


_LONGEST_QUOTED = 4000
_NOTHING = "(nothing)"
EMPTY = "the answer is empty"
"""Reason for requesting again after an empty answer."""
ROOM_FACTOR = 2


class Structuring:
    """A model whose answers match their schema.

    The text is parsed as it stands, else searched for the only JSON object that matches (in prose or code fences), and
    validated. Invalid answers go back to the model with the reasons, at most `max_repairs` times. Every answer is added
    to the ledger of its thought when it arrives. Free text is accepted as it is.

    An empty answer (only thoughts, nothing, a refusal) leaves nothing to fix: the same request is sent once more, with
    twice the token limit. If that answer is empty too, the call fails.

    Args:
        model: the model.
        max_repairs: maximum number of repeated requests.
        widens: whether a request with a higher token limit may be sent; a replay only knows those that were sent.
    """

    def __init__(self, model: Model, max_repairs: int, widens: Callable[[Request], bool] = lambda _: True) -> None:
        self._model = model
        self._max_repairs = max_repairs
        self._widens = widens

    async def complete(self, request: Request) -> Reply:
        """Answer a request; tokens, cost, time and tries are totals over all answers.

        Raises:
            EmptyAnswer: the answer was empty, twice.
            AnswerInvalid: no answer matched the schema.
            quorum.agents.llm.validation.UnsupportedSchema: the schema has a keyword that cannot be checked.
        """
        entry = CallEntry()
        validator = None if request.answer is None else validator_of(request.answer.schema)
        rejected: list[Rejected] = []
        left = self._max_repairs
        widened = wider_now = False
        asked = request
        while True:
            reply = await entry.ask(self._model, asked, wider=wider_now)
            wider_now = False
            refused = reply.finish is Finish.REFUSAL
            if refused or not reply.text.strip():  # the text of a refusal is no answer
                if widened:
                    raise _failed(entry, rejected, reply.finish)
                if self._widens(wider := _with_more_room(asked)):
                    rejected.append(Rejected(reply.text, (f"{EMPTY} ({reply.finish})",)))
                    asked, request, widened = wider, _with_more_room(request), True
                    wider_now = True
                    continue
            if validator is None:
                return entry.whole(None, rejected)
            most = request.sampling.max_tokens * (request.sampling.room_factor or 1)
            try:
                if refused:
                    raise NoAnswer("the answer is a refusal")
                value = extract(reply.text, validator, most if reply.finish is Finish.LENGTH else None)
            except NoAnswer as error:
                rejected.append(Rejected(reply.text, error.reasons))
            else:
                return entry.whole(value, rejected)
            if not left:
                raise _failed(entry, rejected)
            left -= 1
            asked = replace(request, messages=(*request.messages, *_ask_again(rejected[-1])))


def _with_more_room(request: Request) -> Request:
    return replace(request, sampling=replace(request.sampling, room_factor=ROOM_FACTOR))


def _failed(entry: CallEntry, rejected: Sequence[Rejected], empty: Finish | None = None) -> AnswerInvalid:
    """Record that a call has failed, and return the failure."""
    failure = (
        EmptyAnswer(empty.value, entry.whole(None, rejected))
        if empty is not None
        else AnswerInvalid(rejected[-1].reasons, entry.whole(None, rejected[:-1]))
    )
    entry.fail(failure)
    return failure


def is_whole(text: str) -> bool:
    """Return whether a text cut off at the token limit is one complete JSON object nevertheless.

    Either it just fit, or only whitespace followed. Prose around an object might continue with another one.
    """
    fenced = _WHOLE_FENCE.fullmatch(text.strip())
    try:
        return isinstance(_parse((text if fenced is None else fenced[1]).strip()), dict)
    except ValueError:
        return False


def _ask_again(answer: Rejected) -> tuple[ChatMessage, ChatMessage]:
    text = answer.text if len(answer.text) <= _LONGEST_QUOTED else answer.text[:_LONGEST_QUOTED] + " [...]"
    reasons = "\n".join(f"- {reason}" for reason in answer.reasons)
    return (
        ChatMessage(ChatRole.ASSISTANT, text.strip() or _NOTHING),
        ChatMessage(
            ChatRole.USER,
            f"This answer cannot be taken:\n{reasons}\nAnswer again, with one JSON object of the wanted form alone.",
        ),
    )

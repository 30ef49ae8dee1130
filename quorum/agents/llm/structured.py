"""Structured answers: found in what a model wrote, checked by their schema, and asked for again with the reasons."""

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
from quorum.agents.llm.protocol import ChatMessage, ChatRole, Finish, Model, Rejected, Reply, Request, Sampling
from quorum.agents.llm.records import CallEntry, describe_reply
from quorum.agents.llm.validation import Validator, validator_of, whole_number

_FENCE = re.compile(r"```[A-Za-z]*[ \t]*\n(.*?)```", re.DOTALL)
_WHOLE_FENCE = re.compile(r"```[A-Za-z]*[ \t]*\n(.*?)`{0,3}", re.DOTALL)
_LONGEST_NUMBER = 40
_BRACE = re.compile(r"[{}]")
_BRACE_OR_STRING = re.compile(r'[{}]|"(?:[^"\\]++|\\.)*+("?)', re.DOTALL)


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")


def _number(text: str) -> int | float:
    """Read a number with a point or an exponent: JSON knows one kind of number, so 2.0 is the integer 2."""
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
    """Make an object of its pairs, no key of which may have two values: nothing says which of them is meant."""
    found = dict(pairs)
    for key, value in pairs if len(found) < len(pairs) else ():
        if found[key] != value:
            raise ValueError(f"it has the key {json.dumps(key)} twice, with different values")
    return found


_DECODER = json.JSONDecoder(
    parse_constant=_refuse_constant, parse_float=_number, parse_int=_integer, object_pairs_hook=_object
)


class NoAnswer(Exception):
    """A text holds no answer of the wanted form.

    Attributes:
        reasons: why not.
    """

    def __init__(self, *reasons: str) -> None:
        super().__init__("; ".join(reasons))
        self.reasons = reasons


def extract(text: str, validator: Validator) -> Any:
    """Return the value of a text: the text itself as JSON, else the one object in it that fits.

    The time grows with the length of the text, whatever stands in it: no character is looked at more than a few times.
    Whole numbers come as integers however they are written.

    Args:
        text: what the model wrote.
        validator: of the wanted form.

    Raises:
        NoAnswer: there is no such value, or there are several different ones.
    """
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
    """Return the JSON objects in a text: those in code fences, or else all that stand in the prose."""
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
    """Return the JSON objects in a text, none within another: where each begins and ends, and the object.

    An object that nothing ends hides those that follow it.

    Args:
        text: prose with objects.
        begin: where to begin, in characters.
    """
    place = text.find("{", begin)
    while place >= 0:
        end = _end_of_braces(text, place)
        with suppress(ValueError):
            # Of a part that is cut out: the decoder's own errors count the lines of all that stands before them.
            yield place, end, _parse(text[place:end])
        place = text.find("{", end)


def _end_of_braces(text: str, place: int) -> int:
    """Return where the braces end that open at a place, so that no part of a broken object is taken for a whole one.

    Braces in strings do not count. A quotation mark that nothing closes begins no string, and no later one can: all of
    them follow backslashes within the string that it would start.
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
    """Refuse what JSON can say and no record can hold: numbers beyond 64 bits, lone surrogates."""
    try:
        orjson.dumps(value)
    except TypeError as error:
        raise ValueError(f"it holds what cannot be recorded ({error})") from None
    return value


_LONGEST_QUOTED = 4000
_NOTHING = "(nothing)"
EMPTY = "the answer is empty"
"""Reason for which an answer without anything is asked for again."""
ROOM_FACTOR = 2


class Structuring:
    """A model whose answers are of the wanted form.

    The text is parsed as it stands, else searched for the one JSON object that fits (prose around it, code fences),
    and checked by the schema. What is wrong goes back to the model with the reasons, at most `max_repairs` times. Every
    answer is entered in the ledger of its thought when it comes. A free text is taken as it is.

    An answer that is empty (only thoughts, nothing, a refusal) has nothing to mend: the same is asked once more, with
    twice the room. If that comes back empty, too, the call has failed.

    Args:
        model: the model.
        max_repairs: how often an answer may be asked for again.
        widens: whether a request with more room may be sent; a replay knows those that were.
    """

    def __init__(self, model: Model, max_repairs: int, widens: Callable[[Request], bool] = lambda _: True) -> None:
        self._model = model
        self._max_repairs = max_repairs
        self._widens = widens

    async def complete(self, request: Request) -> Reply:
        """Answer a request; tokens, money, time and tries are those of all answers together.

        Raises:
            EmptyAnswer: no answer came, twice.
            AnswerInvalid: no answer of the wanted form came.
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
            if is_empty(reply):
                if widened:
                    raise _failed(entry, rejected, reply.finish)
                if self._widens(wider := _with_more_room(asked)):
                    rejected.append(Rejected(reply.text, (f"{EMPTY} ({reply.finish})",)))
                    asked, request, widened = wider, _with_more_room(request), True
                    wider_now = True
                    continue
            if validator is None:
                return entry.whole(None, rejected)
            try:
                value = _value(reply, validator, request.sampling)
            except NoAnswer as error:
                rejected.append(Rejected(reply.text, error.reasons))
            else:
                return entry.whole(value, rejected)
            if not left:
                raise _failed(entry, rejected)
            left -= 1
            asked = replace(request, messages=(*request.messages, *_ask_again(rejected[-1])))


def is_empty(reply: Reply) -> bool:
    """Whether a reply holds no answer at all; the text of a refusal is none."""
    return reply.finish is Finish.REFUSAL or not reply.text.strip()


def _with_more_room(request: Request) -> Request:
    return replace(request, sampling=replace(request.sampling, room_factor=ROOM_FACTOR))


def _failed(entry: CallEntry, rejected: Sequence[Rejected], empty: Finish | None = None) -> AnswerInvalid:
    """Book that a call has failed, and return the failure."""
    whole = entry.whole(None, rejected if empty is not None else rejected[:-1])
    failure: AnswerInvalid
    if empty is not None:
        failure = EmptyAnswer(empty.value, whole.usage.completion, describe_reply(whole))
    else:
        failure = AnswerInvalid(rejected[-1].reasons, whole.usage.completion, describe_reply(whole))
    entry.fail(failure)
    return failure


def _value(reply: Reply, validator: Validator, sampling: Sampling) -> Any:
    if reply.finish is Finish.LENGTH and not is_whole(reply.text):
        max_tokens = sampling.max_tokens * (sampling.room_factor or 1)
        raise NoAnswer(f"the answer was cut off: it may have {max_tokens} tokens at most; be shorter")
    if reply.finish is Finish.REFUSAL:
        raise NoAnswer("the answer is a refusal")
    return extract(reply.text, validator)


def is_whole(text: str) -> bool:
    """Whether a text that was cut off at the longest answer is one JSON object nevertheless.

    It had just enough room, or nothing but blanks followed. Prose around an object may go on to another one.
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

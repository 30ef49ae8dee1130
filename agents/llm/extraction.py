"""Finding the JSON object in what a model wrote. Nothing is guessed: what is ambiguous is refused."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import suppress
from typing import Any, NoReturn

import orjson

from quorum.agents.llm.validation import Validator, whole_number

_FENCE = re.compile(r"```[A-Za-z]*[ \t]*\n(.*?)```", re.DOTALL)
_BRACE = re.compile(r"[{}]")
_BRACE_OR_STRING = re.compile(r'[{}]|"(?:[^"\\]++|\\.)*+("?)', re.DOTALL)


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")


def _number(text: str) -> int | float:
    """Read a number with a point or an exponent: JSON knows one kind of number, so 2.0 is the integer 2."""
    value = float(text)
    whole = whole_number(value)
    return value if whole is None else whole


_DECODER = json.JSONDecoder(parse_constant=_refuse_constant, parse_float=_number)


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
    place = text.find("{")
    while place >= 0:
        end = _end_of_braces(text, place)
        with suppress(ValueError):
            # Of a part that is cut out: the decoder's own errors count the lines of all that stands before them.
            yield _parse(text[place:end])
        place = text.find("{", end)


def _end_of_braces(text: str, place: int) -> int:
    """Return where the braces end that open at a place, so that no part of a broken object is taken for a whole one.

    Braces in strings do not count. A quotation mark that nothing closes begins no string, and no later one can: all of
    them stand behind backslashes inside of what it would begin.
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

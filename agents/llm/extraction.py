"""Finding the JSON object in what a model wrote. Nothing is guessed: what is ambiguous is refused."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, NoReturn

import orjson

from quorum.agents.llm.validation import Validator

_FENCE = re.compile(r"```[A-Za-z]*[ \t]*\n(.*?)```", re.DOTALL)
_BRACE_OR_STRING = re.compile(r'[{}]|"(?:[^"\\]|\\.)*"')


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")


_DECODER = json.JSONDecoder(parse_constant=_refuse_constant)


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
    candidates = list(_candidates(text))
    checked = [(value, validator.reasons(value)) for value in candidates]
    fitting: list[Any] = []
    for value, reasons in checked:
        if not reasons and value not in fitting:
            fitting.append(value)
    if len(fitting) == 1:
        return fitting[0]
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
        try:
            value, end = _DECODER.raw_decode(text, place)
            yield _recordable(value)
        except (ValueError, RecursionError):
            end = _end_of_braces(text, place)
        place = text.find("{", end)


def _end_of_braces(text: str, place: int) -> int:
    """Return where the braces end that open at a place, so that no part of a broken object is taken for a whole one."""
    depth = 0
    for token in _BRACE_OR_STRING.finditer(text, place):
        depth += {"{": 1, "}": -1}.get(token.group(), 0)
        if depth == 0:
            return token.end()
    return len(text)


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

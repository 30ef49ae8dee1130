"""Symbolic actions, the parts of a plan, and the vocabulary that a world offers."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict, ValidationError

from maeil.errors import InvalidThought


class SymbolicAction(BaseModel):
    """One symbolic action with its arguments.

    A world subclasses it once per action; the subclass narrows `action` to a `Literal` with a default, and its
    fields carry their ranges, so that the class is at once the check, the schema for a model and its documentation.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    phrase: ClassVar[str] = ""
    """The action in words, for people: `push block {block} by {steps} cell(s)`.

    A name in braces stands for the value of that argument. Text in brackets is omitted if one of its arguments is null,
    and `(s)` is omitted after the number 1. The phrase need not mention every argument. Without a phrase, people see
    the action's name and arguments.
    """

    action: str

    def arguments(self) -> dict[str, Any]:
        """Return the arguments without the action's name, JSON-ready."""
        return self.model_dump(mode="json", exclude={"action"})

    def __str__(self) -> str:
        """Return the action as a call: `push_block(block=3, steps=2, timeout=null)`."""
        return as_call(self.model_dump(mode="json"))


def as_call(action: Mapping[str, Any]) -> str:
    """Write a JSON-ready action, with its name in `action`, as a call."""
    shown = [f"{key}={'null' if value is None else value}" for key, value in action.items() if key != "action"]
    return f"{action['action']}({', '.join(shown)})"


_CALL = re.compile(r"(\w+)\((.*)\)", re.DOTALL)
_BETWEEN = re.compile(r", (?=\w+=)")


def read_call(call: str) -> dict[str, Any]:
    """Parse a call into plain data: the inverse of `as_call`, for arguments that are numbers, null, or words.

    Raises:
        ValueError: the text is not a call.
    """
    found = _CALL.fullmatch(call)
    if found is None:
        raise ValueError(f"{call!r} is not a call of an action")
    given = (pair.partition("=") for pair in _BETWEEN.split(found[2]) if pair)
    return {"action": found[1], **{key: _value(word) for key, _, word in given}}


def _value(word: str) -> Any:
    try:
        return json.loads(word)
    except ValueError:
        return word


class ActionStatus(StrEnum):
    """How a symbolic action ended."""

    SUCCESS = "success"
    FAILED = "failed"
    TIMEOUT = "timeout"
    CANCELLED = "cancelled"


class Vocabulary:
    """The symbolic actions that the agents of a world may use, by name.

    Args:
        actions: the action models; the default of each model's `action` field is its name.
        only: for an action, by name, the indices of the agents that may use it; all agents may use the other actions.
    """

    def __init__(self, *actions: type[SymbolicAction], only: Mapping[str, Sequence[int]] | None = None) -> None:
        self._models: dict[str, type[SymbolicAction]] = {}
        for model in actions:
            name = model.model_fields["action"].default
            if not isinstance(name, str) or name in self._models:
                raise ValueError(f"{model.__qualname__}: the default of `action` must be a unique name")
            self._models[name] = model
        self.only: Mapping[str, Sequence[int]] = dict(only or {})
        if unknown := self.only.keys() - self._models.keys():
            raise ValueError(f"only: unknown action {min(unknown)!r}; the actions are: {', '.join(self._models)}")

    def of(self, agent: int) -> Vocabulary:
        """Return the actions of one agent."""
        if not self.only:
            return self
        return Vocabulary(*(m for name, m in self._models.items() if agent in self.only.get(name, (agent,))))

    def __iter__(self) -> Iterator[type[SymbolicAction]]:
        return iter(self._models.values())

    def __contains__(self, action: object) -> bool:
        return type(action) in self._models.values()

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the actions, in the order of the vocabulary."""
        return tuple(self._models)

    def parse(self, data: Mapping[str, Any]) -> SymbolicAction:
        """Make an action from plain data.

        Raises:
            InvalidThought: the action is unknown, or an argument is missing, unknown or out of range.
        """
        name = data.get("action")
        model = self._models.get(name) if isinstance(name, str) else None
        if model is None:
            raise InvalidThought((f"unknown action {name!r}; the actions are: {', '.join(self._models)}",))
        try:
            return model.model_validate(dict(data))
        except ValidationError as error:
            reasons = tuple(
                f"{name}: {'.'.join(map(str, e['loc'])) or 'arguments'}: {e['msg']}" for e in error.errors()
            )
            raise InvalidThought(reasons) from None

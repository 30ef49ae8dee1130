"""Reads untrusted YAML: plain data only, in linear time."""

from __future__ import annotations

import math
from typing import Any

import yaml

DEEPEST = 64
"""Maximum nesting depth of lists and maps."""
_LONGEST_NUMBER = 100
"""Maximum characters of a number; longer ones cannot be part of a configuration."""
_INTEGERS = range(-(2**63), 2**64)
"""Range of integers that our JSON library reads and writes."""
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # libyaml's parser if available: no recursion, 20x faster
_RESOLVER = yaml.resolver.Resolver()
_CONSTRUCTOR = yaml.constructor.SafeConstructor()
_TAG = "tag:yaml.org,2002:"
_CONSTRUCTED = {
    f"{_TAG}null": _CONSTRUCTOR.construct_yaml_null,
    f"{_TAG}bool": _CONSTRUCTOR.construct_yaml_bool,
    f"{_TAG}int": _CONSTRUCTOR.construct_yaml_int,
    f"{_TAG}float": _CONSTRUCTOR.construct_yaml_float,
    f"{_TAG}str": lambda node: node.value,
}


class NotPlain(ValueError):
    """The text is not YAML, or contains data that JSON cannot represent."""


def parse_yaml(data: bytes) -> Any:
    """Return the data of one document: maps with string keys, lists, strings, numbers, booleans, null.

    Rejects all tags, aliases, dates, numbers beyond 64 bits, and repeated keys.

    Raises:
        NotPlain: it is not such a document; the message ends with the line.
    """
    builder = _Builder()
    try:
        for event in yaml.parse(data, Loader=_LOADER):
            builder.take(event)
    except yaml.MarkedYAMLError as error:
        raise NotPlain(f"{error.problem}{_line(error.problem_mark)}") from error
    except yaml.YAMLError as error:
        raise NotPlain(str(error).partition("\n")[0]) from error
    return builder.result()


class _Builder:
    """Builds data from parser events without recursion."""

    def __init__(self) -> None:
        self._documents: list[Any] = []
        self._open: list[Any] = [self._documents]
        """Incomplete lists and maps, the outermost first."""
        self._keys: list[str | None] = [None]
        """For each of them, the key whose value comes next; None if a key or a list item comes next."""

    def take(self, event: yaml.Event) -> None:
        match event:
            case yaml.AliasEvent():
                raise _refused("an alias", event)
            case yaml.ScalarEvent():
                self._add(_scalar(event), event)
            case yaml.SequenceStartEvent():
                self._begin([], event)
            case yaml.MappingStartEvent():
                self._begin({}, event)
            case yaml.SequenceEndEvent() | yaml.MappingEndEvent():
                self._open.pop()
                self._keys.pop()

    def _begin(self, container: list[Any] | dict[str, Any], event: yaml.Event) -> None:
        if event.tag is not None:
            raise _refused(f"the tag {event.tag}", event)
        if len(self._open) > DEEPEST:
            raise _refused(f"more than {DEEPEST} lists and maps inside one another", event)
        self._add(container, event)
        self._open.append(container)
        self._keys.append(None)

    def _add(self, value: Any, event: yaml.Event) -> None:
        into, key = self._open[-1], self._keys[-1]
        if isinstance(into, list):
            into.append(value)
        elif key is not None:
            into[key] = value
            self._keys[-1] = None
        elif not isinstance(value, str):
            raise _refused("a key that is not text", event)
        elif value in into:
            raise _refused(f"the repeated key {value!r}", event)
        else:
            self._keys[-1] = value

    def result(self) -> Any:
        if len(self._documents) > 1:
            raise NotPlain("it holds several documents")
        return self._documents[0] if self._documents else None


def _scalar(event: yaml.ScalarEvent) -> Any:
    if event.tag is not None:
        raise _refused(f"the tag {event.tag}", event)
    tag = _RESOLVER.resolve(yaml.ScalarNode, event.value, event.implicit)
    construct = _CONSTRUCTED.get(tag)
    if construct is None:  # a date or a merge
        raise _refused(f"a {tag.removeprefix(_TAG)}", event)
    if tag != f"{_TAG}str" and len(event.value) > _LONGEST_NUMBER:
        raise _refused(f"a number of {len(event.value)} characters", event)
    value = construct(yaml.ScalarNode(tag, event.value))
    if isinstance(value, float) and not math.isfinite(value):
        raise _refused("a number that is not finite", event)
    if type(value) is int and value not in _INTEGERS:
        raise _refused("a number of more than 64 bits", event)
    if isinstance(value, str) and not value.isascii():
        _check_text(value, event)
    return value


def _check_text(text: str, event: yaml.Event) -> None:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise _refused("half a character", event) from error


def _refused(what: str, event: yaml.Event) -> NotPlain:
    return NotPlain(f"{what} is not allowed in a configuration{_line(event.start_mark)}")


def _line(mark: yaml.Mark | None) -> str:
    return f" (line {mark.line + 1})" if mark is not None else ""

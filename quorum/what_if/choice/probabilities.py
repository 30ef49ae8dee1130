"""The probability of each choice at the place of an answer that names it, from a service's log-probabilities.

The request of a turn gets a narrower schema: all texts before the target of the task are empty, all lists too, its kind
is fixed, and its target is one of the choices, with which the answer ends. The service decodes by this schema, so the
answer reaches the choice by the same path in all arms, and the tokens that it lists there hold the probabilities. This
needs no prefilled answers, which OpenAI does not accept.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import exp
from typing import Any

from quorum.agents.llm.protocol import TokenLogprobs

TOP = 20
"""Number of alternatives to request for each token: the maximum of OpenAI and, by default, of vLLM."""
REQUESTED = {"logprobs": True, "top_logprobs": TOP}
"""Fields of a chat completion that request log-probabilities."""
_TARGET = re.compile(r'"target"\s*:\s*"')
Ask = Callable[[Sequence[str]], Awaitable[Sequence[TokenLogprobs]]]
"""Returns the tokens of an answer whose target is one of some choices."""


class NoChoice(Exception):
    """The tokens of an answer do not show its choice."""


def narrowed(schema: Mapping[str, Any], kind: str, choices: Sequence[str]) -> Mapping[str, Any] | None:
    """Return the schema of an answer that ends with the target of its first task; None if it has no task.

    Args:
        schema: the schema of the whole answer.
        kind: kind of the task.
        choices: its possible targets.
    """
    task = _object({"kind": {"type": "string", "const": kind}, "target": {"type": "string", "enum": list(choices)}})
    types = schema.get("$defs", {})
    found = _up_to_task(schema, types, task)
    return {**found, "$defs": types} if found is not None else None


def _up_to_task(part: Mapping[str, Any], types: Mapping[str, Any], task: Mapping[str, Any]) -> Mapping[str, Any] | None:
    if "$ref" in part:
        return _up_to_task(types[part["$ref"].rpartition("/")[2]], types, task)
    if "anyOf" in part:
        return next(filter(None, (_up_to_task(one, types, task) for one in part["anyOf"])), None)
    properties: Mapping[str, Any] = part.get("properties", {})
    if properties.keys() == {"kind", "target"}:
        return task
    before: dict[str, Any] = {}
    for name, one in properties.items():
        if (found := _up_to_task(one, types, task)) is not None:
            return _object({**before, name: found})
        before[name] = _empty(one)
    return None


def _empty(part: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the schema of the shortest value of a field; a field that is neither text nor a list stays as it is."""
    if {"type": "null"} in part.get("anyOf", ()):
        return {"type": "null"}
    if part.get("type") == "array":
        return {**part, "maxItems": 0}
    return {"type": "string", "const": ""} if part.get("type") == "string" and "const" not in part else part


def _object(properties: Mapping[str, Any]) -> Mapping[str, Any]:
    return {
        "type": "object", "properties": properties, "required": list(properties), "additionalProperties": False,
    }  # fmt: skip


@dataclass(frozen=True, slots=True)
class Distribution:
    """The probabilities of some choices.

    Attributes:
        shares: probability of each choice, given that the answer names one of them.
        listed: probability that the answer names one of them, among all answers that agree up to their first
            difference. A service that renormalises over what the schema allows reports 1.
        bounded: choices that the service does not list; each has the probability of the last listed token.
    """

    shares: Mapping[str, float]
    listed: float
    bounded: frozenset[str]


async def distribution(ask: Ask, choices: Sequence[str]) -> Distribution:
    """Ask for the probabilities of some choices; again for choices that share tokens, such as `block_1` and `block_10`.

    Args:
        ask: asks for an answer.
        choices: at least two, all different.

    Raises:
        NoChoice: the answer does not reach its target, or its tokens do not tell the choices apart.
    """
    tokens = await ask(choices)
    places = [found.end() for found in _TARGET.finditer("".join(token.token for token in tokens))]
    if not places:
        raise NoChoice("the answer does not reach its target")
    reader = _Reader(ask, tokens, places[-1])
    masses = await reader.masses(0, choices)
    listed = sum(masses.values())
    shares = {choice: masses[choice] / listed for choice in choices}
    return Distribution(shares, min(listed, 1.0), frozenset(reader.bounded))


@dataclass
class _Reader:
    """Reads the probabilities of choices from an answer.

    Attributes:
        ask: asks for another answer.
        tokens: the tokens of the answer.
        begin: where its target begins, in characters.
        bounded: the choices that were not listed.
    """

    ask: Ask
    tokens: Sequence[TokenLogprobs]
    begin: int
    bounded: set[str] = field(default_factory=set)

    async def masses(self, first: int, choices: Sequence[str]) -> Mapping[str, float]:
        """Return the probability of each choice at the first token that distinguishes them.

        Args:
            first: number of the first token to read.
            choices: the choices that agree with all tokens before it.
        """
        for number in range(first, len(self.tokens)):
            groups, own = self._groups(number, choices)
            if not own:
                raise NoChoice("the answer names no choice")
            if len(groups) > 1 or own != tuple(choices):
                return await self._divided(groups, own, number, choices)
        raise NoChoice("its tokens do not tell the choices apart")

    def _groups(self, number: int, choices: Sequence[str]) -> tuple[Mapping[tuple[str, ...], float], tuple[str, ...]]:
        """Return the probability of each group of choices that agree with the same tokens in a place of the answer.

        Returns:
            The groups, and the one of the token that was chosen.
        """
        token = self.tokens[number]
        before = "".join(one.token for one in self.tokens[:number])
        lead, value = max(0, self.begin - len(before)), before[self.begin :]
        start = token.token[:lead]  # before the target: fixed by the schema
        groups: defaultdict[tuple[str, ...], float] = defaultdict(float)
        for text, logprob in {**token.top, token.token: token.logprob}.items():
            if text.startswith(start):
                groups[_fitting(choices, value + text[lead:])] += exp(logprob)
        groups.pop((), None)
        return groups, _fitting(choices, value + token.token[lead:])

    async def _divided(
        self, groups: Mapping[tuple[str, ...], float], own: tuple[str, ...], number: int, choices: Sequence[str]
    ) -> Mapping[str, float]:
        """Divide the probability of each group among its choices."""
        masses = dict.fromkeys(choices, 0.0)
        for group, mass in groups.items():
            if group == own and len(group) > 1:
                shares = await self.masses(number + 1, group)
            elif len(group) == len(choices):
                continue  # another spelling of what all choices share does not change their proportions
            else:
                found = await distribution(self.ask, group) if len(group) > 1 else None
                shares = found.shares if found is not None else {group[0]: 1.0}
                self.bounded |= found.bounded if found is not None else frozenset()
            for choice, share in shares.items():
                masses[choice] += mass * share / sum(shares.values())
        least = exp(min((*self.tokens[number].top.values(), self.tokens[number].logprob)))
        for choice in choices:
            if not masses[choice]:
                masses[choice] = least
                self.bounded.add(choice)
        return masses


def _fitting(choices: Sequence[str], text: str) -> tuple[str, ...]:
    """Return the choices that an answer may name if its target begins with a text."""
    closed = ((choice, f'{choice}"') for choice in choices)
    return tuple(choice for choice, end in closed if end.startswith(text) or text.startswith(end))

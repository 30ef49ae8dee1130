"""The simulated model answers a belief probe, from the data of the prompt alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson

from maeil.extensions.probe.facts import DONE, NOTHING, OPEN, UNKNOWN, ProbeSkills, named_in
from maeil.mind import View
from quorum.agents.skills import Chooser, role_of


def believe(view: View, blocks: Mapping[str, str], world: str, chooser: Chooser) -> dict[str, str]:
    """Return a choice for each question.

    A place and the state of a task are what the observation shows. What a teammate has named, and what it works on, is
    what it has named last in the messages that the prompt shows. A poor choice is drawn from all choices.

    Args:
        view: what the prompt shows.
        blocks: of the prompt by name, as JSON.
        world: its name.
        chooser: makes the choices of this answer.

    Raises:
        KeyError, ValueError: the block of the questions is not what the probe writes.
    """
    places: Any = role_of(world, "places", "llm=simulated", default=ProbeSkills().places)
    where = places(view.observation)
    things = where.keys() - set(view.names)
    questions: Mapping[str, Any] = orjson.loads(blocks["questions"])
    found = {}
    for name, question in questions.items():
        choices, about = question["choices"], question["about"]
        if chooser.is_poor():
            found[name] = chooser.any_of(choices)
        elif question["fact"] == "place":
            found[name] = where.get(about, UNKNOWN)
        elif question["fact"] == "state":
            found[name] = OPEN if about in things else DONE if things else UNKNOWN
        else:
            found[name] = _heard(view, about, choices)
        if found[name] not in choices:
            found[name] = NOTHING if NOTHING in choices else UNKNOWN
    return found


def _heard(view: View, mate: str, choices: list[str]) -> str:
    """Return what a teammate has named last, of some choices."""
    things = [choice for choice in choices if choice not in (NOTHING, UNKNOWN)]
    for message in reversed((*view.memory, *view.unread)):
        named = named_in(message.content, things)
        if view.names[message.sender] == mate and named:
            return min(named)
    return UNKNOWN

"""The simulated model with a theory of mind: hypotheses are rules of the following list, by their words.

It foresees by a rule what an agent takes up next of what it may (`Speaker.prospects`), sees what others have taken up
by what they say and where they stand, and plans with what it expects of others (`Speaker.anticipate`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import orjson

from maeil.mind import Thought
from maeil.plans import Task
from quorum.agents.answer_parts import AnswerPart, Asked
from quorum.agents.prompting.answers import task_value
from quorum.agents.simulated.reading import read_view
from quorum.agents.skills import Chooser, Prospect, Speaker
from quorum.methods.tom.answers import TomRole

NEAREST = "It does what it says; else it takes what is nearest to it."

Rule = Callable[[Prospect, Task | None], Any]

RULES: Mapping[str, Rule] = {
    NEAREST: lambda one, _last: (not one.said, one.steps),
    "It keeps the task that it had last; else it takes what is nearest.": lambda one, last: (
        one.task != last,
        one.steps,
    ),
    "It takes the heaviest first.": lambda one, _last: (-one.hands, one.steps),
    "It takes the lightest first.": lambda one, _last: (one.hands, one.steps),
    "It takes first what is nearest to its end.": lambda one, _last: (one.left, one.steps),
}
"""What each rule goes by, the smallest first; the last task that is known of the agent is given to it."""


def foresee(rule: str, prospects: Sequence[Prospect], last: Task | None = None) -> Task | None:
    """Return what an agent takes up next by a rule, by its words; by the first rule where there is none of these words.

    Args:
        rule: the words of the hypothesis.
        prospects: what it may take up; nothing: no task.
        last: the last task that is known of it.
    """
    key = RULES.get(rule, RULES[NEAREST])
    best = min(prospects, key=lambda one: (key(one, last), one.task.target), default=None)
    return best.task if best is not None else None


def play(blocks: Mapping[str, str], speaker: Speaker[Any], chooser: Chooser) -> dict[str, Any]:
    """Answer in a role.

    Args:
        blocks: the blocks of the prompt, as JSON; `turn` says which role.
        speaker: the rules of its world.
        chooser: makes the choices; where one is poor, a hypothesis about one of the others is drawn at random.
    """
    turn, others = orjson.loads(blocks["turn"]), orjson.loads(blocks["others"])
    seen = {**blocks, "turn": orjson.dumps({**turn, "may": []}).decode()}
    view = read_view(seen, speaker.read_observation(blocks["observation"]), speaker.vocabulary)
    prospects = {name: speaker.prospects(view, view.names.index(name)) for name in others}
    match turn["role"]:
        case TomRole.OBSERVER:
            return {"thoughts": "I look around.", "acts": _acts(others, prospects)}
        case TomRole.HYPOTHESIZER:
            rules = [{"agent": name, "hypothesis": _rule(known, chooser)} for name, known in others.items()]
            return {"thoughts": "I think of rules.", "hypotheses": rules}
        case _:
            return {"thoughts": "I go by the rules.", "predictions": _forecasts(others, prospects)}


def _acts(others: Mapping[str, Any], prospects: Mapping[str, Sequence[Prospect]]) -> list[dict[str, Any]]:
    """What others have taken up: what they have said, else where they stand, where that is not what is known."""
    found = []
    for name, known in others.items():
        taken = [one for one in prospects[name] if one.said] or [one for one in prospects[name] if one.there]
        if taken and task_value(taken[0].task) != known["last"]:
            found.append({"agent": name, "task": task_value(taken[0].task)})
    return found


def _rule(known: Mapping[str, Any], chooser: Chooser) -> str:
    """The first rule about somebody of whom nothing is known; later, one of those that are not shown already."""
    if not known["acts"] and not chooser.is_poor():
        return NEAREST
    tried = {one["hypothesis"] for one in known["hypotheses"]}
    left = [rule for rule in RULES if rule not in tried] or list(RULES)
    return chooser.any_of(left)


def _forecasts(others: Mapping[str, Any], prospects: Mapping[str, Sequence[Prospect]]) -> list[dict[str, Any]]:
    """What each hypothesis lets one expect."""
    return [
        {
            "agent": name,
            "hypothesis": int(number),
            "task": task_value(foresee(rule, prospects[name], Task(**known["last"]) if known["last"] else None)),
        }
        for name, known in others.items()
        for number, rule in known["hypotheses"].items()
    ]


class TomPart(AnswerPart):
    """Theory of mind adds no key to answers: the simulated model plans by what it expects of others."""

    name = "tom"

    def thinks(self, asked: Asked) -> Thought | None:
        """Answer a turn whose prompt says what is expected of others."""
        view = asked.view
        expected = {
            view.names.index(name): Task(**task) if task is not None else None
            for name, task in orjson.loads(asked.blocks.get("expected", "{}")).items()
        }
        return asked.speaker.anticipate(view, expected, asked.chooser) if expected else None


part = TomPart()

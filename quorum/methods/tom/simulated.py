"""The simulated model with a theory of mind. Its hypotheses are the rules in `RULES`, matched by their text.

Given a rule, it predicts which of an agent's options (`Speaker.prospects`) the agent chooses next. It infers the tasks
of others from their messages and positions, and plans around its predictions (`Speaker.anticipate`).
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
"""The sort key of each rule, smallest first. Each key function also receives the agent's last known task."""


def foresee(rule: str, prospects: Sequence[Prospect], last: Task | None = None) -> Task | None:
    """Return the task that an agent takes next under a rule; an unknown rule is treated as the first one.

    Args:
        rule: the text of the hypothesis.
        prospects: the tasks the agent can take; if empty, the result is None.
        last: the agent's last known task.
    """
    key = RULES.get(rule, RULES[NEAREST])
    best = min(prospects, key=lambda one: (key(one, last), one.task.target), default=None)
    return best.task if best is not None else None


def play(blocks: Mapping[str, str], speaker: Speaker[Any], chooser: Chooser) -> dict[str, Any]:
    """Answer in a role.

    Args:
        blocks: the blocks of the prompt, as JSON; `turn` names the role.
        speaker: the rules of the world.
        chooser: makes the choices; a poor choice is a hypothesis drawn at random.
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
    """Return new tasks of others, from their messages or else their positions; skip tasks already known."""
    found = []
    for name, known in others.items():
        taken = [one for one in prospects[name] if one.said] or [one for one in prospects[name] if one.there]
        if taken and task_value(taken[0].task) != known["last"]:
            found.append({"agent": name, "task": task_value(taken[0].task)})
    return found


def _rule(known: Mapping[str, Any], chooser: Chooser) -> str:
    """Return the first rule for an agent without known acts; later, draw a rule that has not been tried."""
    if not known["acts"] and not chooser.is_poor():
        return NEAREST
    tried = {one["hypothesis"] for one in known["hypotheses"]}
    left = [rule for rule in RULES if rule not in tried] or list(RULES)
    return chooser.any_of(left)


def _forecasts(others: Mapping[str, Any], prospects: Mapping[str, Sequence[Prospect]]) -> list[dict[str, Any]]:
    """Return the task that each hypothesis predicts."""
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
    """Theory of mind adds no key to answers; the simulated model plans around its predictions of others."""

    name = "tom"

    def thinks(self, asked: Asked) -> Thought | None:
        """Answer a turn whose prompt contains predictions about others."""
        view = asked.view
        expected = {
            view.names.index(name): Task(**task) if task is not None else None
            for name, task in orjson.loads(asked.blocks.get("expected", "{}")).items()
        }
        return asked.speaker.anticipate(view, expected, asked.chooser) if expected else None


part = TomPart()

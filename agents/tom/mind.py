"""The mind that has hypotheses about the others: observe, score, hypothesize, predict, and then plan."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from maeil.calls import Call
from maeil.extensions.predictions import Predictions
from maeil.mind import Act as TurnAct
from maeil.mind import Thought, View
from quorum.agents.naive import NaiveMind
from quorum.agents.prompting.answers import task_value
from quorum.agents.tom.answers import read_acts, read_forecasts, read_hypotheses
from quorum.agents.tom.asking import RoleAsker
from quorum.agents.tom.hypotheses import Act, Partner
from quorum.agents.tom.settings import TomRole


class TomMind:
    """The mind of one agent (Hypothetical Minds, arXiv 2407.07086): a zero-shot planner that knows what to expect.

    Before a turn in which its agent needs a plan, at its first try, it asks its model in three roles, each for all of
    the others at once, each only where there is something to ask:

    1. observer: what each has taken up since it was predicted. The hypotheses are scored by it.
    2. hypothesizer: another hypothesis about each of whom none is valid, with those before it that are worth something.
    3. predictor: what each does next, by its valid hypothesis, or by all that are kept where none is.

    Then the turn itself is asked, as of a zero-shot mind, with what is expected of each in its prompt. So a turn takes
    1 to 4 calls, whatever the size of the team, and each of them `repairs` more at most. Turns for talk, and those of
    one who could go on with its plan, take 1; the latter is shown what was expected last. A role that gives no valid
    answer leaves things as they are.

    Args:
        planner: asks the turns themselves.
        asker: asks in the roles.
        partners: the others, as far as they are known; it is brought up to date.
    """

    def __init__(self, planner: NaiveMind, asker: RoleAsker, partners: Sequence[Partner]) -> None:
        self._planner = planner
        self._asker = asker
        self._partners = {partner.name: partner for partner in partners}

    async def think(self, view: View) -> Thought:
        """Find out what the others do next, where the agent needs a plan, and answer the turn."""
        if TurnAct.PLAN not in view.turn.acts or not self._partners:
            return await self._planner.think(view)
        calls: list[Call] = []
        if not view.may_resume and not view.problems:
            await self._observe(view, calls)
            await self._hypothesize(view, calls)
            await self._predict(view, calls)
        expected = tuple(one.expected for one in self._partners.values() if one.expected is not None)
        thought = await self._planner.answer(view, expected)
        said = () if view.may_resume else expected
        return replace(thought, answers={**thought.answers, Predictions.name: said}, calls=(*calls, *thought.calls))

    async def _observe(self, view: View, calls: list[Call]) -> None:
        awaited = {name: one for name, one in self._partners.items() if one.awaited}
        if not awaited:
            return
        shown = {name: {"last": task_value(one.last)} for name, one in awaited.items()}
        acts = await self._asker.ask(TomRole.OBSERVER, view, shown, lambda value: read_acts(value, awaited), calls)
        for name, task in (acts or {}).items():
            awaited[name].observe(Act(view.t, task))

    async def _hypothesize(self, view: View, calls: list[Call]) -> None:
        wanting = {name: one for name, one in self._partners.items() if one.valid is None}
        if not wanting:
            return
        shown = {
            name: {
                "acts": [[act.t, task_value(act.task)] for act in one.acts],
                "hypotheses": [{"hypothesis": h.text, "value": round(h.value, 3)} for h in one.shown],
            }
            for name, one in wanting.items()
        }
        texts = await self._asker.ask(
            TomRole.HYPOTHESIZER, view, shown, lambda value: read_hypotheses(value, wanting), calls
        )
        for name, text in (texts or {}).items():
            wanting[name].add(text)

    async def _predict(self, view: View, calls: list[Call]) -> None:
        known = {name: one for name, one in self._partners.items() if one.hypotheses}
        if not known:
            return
        shown = {
            name: {"last": task_value(one.last), "hypotheses": {str(h.number): h.text for h in one.predicting}}
            for name, one in known.items()
        }
        forecasts = await self._asker.ask(
            TomRole.PREDICTOR, view, shown, lambda value: read_forecasts(value, known), calls
        )
        for name, tasks in (forecasts or {}).items():
            known[name].predict(tasks)

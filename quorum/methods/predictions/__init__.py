"""Predictions: minds predict the others' next tasks, and metrics score them (Hypothetical Minds, arXiv 2407.07086).

No agent sees another's predictions. Minds that predict require this extension; users do not select it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from maeil.component import Component
from maeil.extension import Extension, ExtensionConfig, ExtensionContext
from maeil.mind import Act, Thought, View
from maeil.plans import Task
from maeil.review import check_part
from maeil.team import Participant
from quorum.methods.predictions.events import Predicted


@dataclass(frozen=True, slots=True)
class Prediction:
    """A prediction about another agent.

    Attributes:
        agent: index of the other agent.
        task: the task of its next plan, ignoring plans committed by repairs or fallbacks; None: no task.
    """

    agent: int
    task: Task | None


class Predictions(Extension):
    """Records predictions. A thought answers with a tuple of `Prediction`, at most one per other agent."""

    name = "predictions"

    def review(self, thought: Thought, view: View, author: Participant) -> Sequence[str]:
        """Return the reasons to refuse predictions."""
        predictions = thought.answers.get(self.name, ())
        check_part(predictions, tuple, author, "the predictions of its Thought", "a tuple of Prediction")
        if not predictions:
            return ()
        for prediction in predictions:
            check_part(prediction, Prediction, author, "a prediction of its Thought", "a Prediction")
        if Act.PLAN not in view.turn.acts:
            return ("this turn is for speaking, not for predictions",)
        agents = [prediction.agent for prediction in predictions]
        twice = sorted({agent for agent in agents if agents.count(agent) > 1})
        others = set(range(len(self.episode.team.agents))) - {author.index}
        return (
            *(f"there are two predictions of agent {agent}" for agent in twice),
            *(f"a prediction is of {agent}, which is no other agent" for agent in sorted(set(agents) - others)),
        )

    def answered(self, view: View, answer: Any) -> None:
        """Record predictions."""
        if answer:
            written = [
                {"agent": one.agent, "task": asdict(one.task) if one.task is not None else None} for one in answer
            ]
            self.episode.record(Predicted(view.agent, written))


def build(_config: ExtensionConfig, _context: ExtensionContext) -> Predictions:
    """Make the extension."""
    return Predictions()


component = Component(ExtensionConfig, build)
REQUIRED = {Predictions.name: ExtensionConfig()}
"""The extension required by minds that predict."""

"""Predictions: minds say what they expect others to do, and metrics score it (Hypothetical Minds, arXiv 2407.07086).

Nobody sees a prediction. Minds that make them require this extension; it is not chosen by itself.
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
    """What a mind expects of another agent.

    Attributes:
        agent: index of the other agent.
        task: what its next plan that no repair or fallback commits is for; None: it serves no task.
    """

    agent: int
    task: Task | None


class Predictions(Extension):
    """Records predictions. A thought answers with a tuple of `Prediction`, at most one for each other agent."""

    name = "predictions"

    def review(self, thought: Thought, view: View, author: Participant) -> Sequence[str]:
        """Return why predictions are refused."""
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
"""What the component of minds that predict requires."""

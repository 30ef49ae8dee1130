"""The simulated model in a world without rules: random plans that match the schema."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import orjson
from pydantic import ConfigDict

from maeil.actions import SymbolicAction, Vocabulary
from maeil.mind import Thought, View
from maeil.plans import Plan, Task
from quorum.agents.prompting.answers import PLAN
from quorum.agents.prompting.instances import random_instance, resolved
from quorum.agents.skills import Chooser, JointPlanRequest, Speaker, take_turn

LONGEST = 3
"""Maximum number of actions in a plan."""


class UnreadObservation:
    """An observation of an unknown world: kept but never used."""

    def __init__(self, text: str) -> None:
        self._text = text

    def text(self) -> str:
        """Return the JSON."""
        return self._text


class AnyAction(SymbolicAction):
    """An action of a vocabulary that is known by its schema alone."""

    model_config = ConfigDict(frozen=True, extra="allow")


class UninformedSpeaker(Speaker[UnreadObservation]):
    """Makes plans that match the answer schema and are independent of the world.

    Args:
        schema: schema of the wanted answer; its definitions hold the plan.
    """

    observation = UnreadObservation
    vocabulary = Vocabulary()

    def __init__(self, schema: Mapping[str, Any]) -> None:
        self._definitions: Mapping[str, Any] = schema.get("$defs", {})

    def read_observation(self, text: str) -> UnreadObservation:
        """Keep the observation of a prompt."""
        return UnreadObservation(orjson.dumps(orjson.loads(text)).decode())

    def answer(self, view: View, chooser: Chooser) -> Thought:
        """Commit a random plan; say nothing useful."""
        return take_turn(view, self._plan(chooser.rng, careful=bool(view.problems)), "I know nothing of this world.")

    def propose(self, request: JointPlanRequest) -> dict[int, Plan]:
        """Draw a plan for each agent in the request."""
        return {agent: self._plan(request.chooser.rng, careful=agent in request.refused) for agent in request.asked}

    def drafts(
        self,
        observation: UnreadObservation,  # noqa: ARG002
        agent: int,  # noqa: ARG002
        task: Task,  # noqa: ARG002
        chooser: Chooser,
    ) -> Sequence[Plan]:
        """Draw a plan."""
        return [self._plan(chooser.rng, careful=False)]

    def _plan(self, rng: np.random.Generator, *, careful: bool) -> Plan:
        """Draw a plan; a careful one, after a refusal, is just the action with the fewest arguments."""
        if PLAN not in self._definitions:
            return Plan(())  # a turn for messages only
        actions = self._definitions[PLAN]["properties"]["actions"]
        if careful:
            options = actions["items"].get("anyOf", [actions["items"]])
            kinds = [resolved(option, self._definitions) for option in options]
            fewest = min(kinds, key=lambda kind: len(kind["properties"]))
            drawn = [random_instance(fewest, self._definitions, rng)]
        else:
            drawn = random_instance(actions, self._definitions, rng, LONGEST)
        return Plan(tuple(AnyAction(**action) for action in drawn), None, "drawn at random")

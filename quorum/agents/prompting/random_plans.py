"""Valid random plans, drawn from the action schemas (`agents=random`)."""

from __future__ import annotations

from typing import Any

import numpy as np
import orjson

from maeil.errors import InvalidThought
from maeil.mind import View
from maeil.plans import Plan
from maeil.world import World
from quorum.agents.prompting.answers import plan_model, tidy
from quorum.agents.prompting.blocks import write_json
from quorum.agents.prompting.instances import random_instance, with_words
from quorum.agents.prompting.schemas import ground

LONGEST = 3
"""Maximum number of actions in a plan."""
TRIES = 100
"""Maximum number of draws until the world accepts a plan; then the agent idles for a step."""


class RandomPlans:
    """Draws plans for an agent: length, actions and arguments, each uniformly, until the plan is valid.

    Texts with a pattern, such as place names, are drawn from those that the agent sees.

    Args:
        world: provides the actions.
        rng: random generator.
    """

    def __init__(self, world: World, rng: np.random.Generator) -> None:
        self._world = world
        self._rng = rng
        model = plan_model(world.vocabulary, LONGEST, rationale=False, task=False)
        self._schema = tidy(model.model_json_schema())

    def draw(self, view: View) -> Plan:
        """Draw a plan that the world accepts in its current state."""
        schema = ground(self._schema, self._world.ids(view.agent), self._world.agents)
        schema = with_words(schema, _words(orjson.loads(write_json(view.observation))))
        own = self._world.vocabulary.of(view.agent)
        for _ in range(TRIES):
            drawn = random_instance(schema, schema.get("$defs", {}), self._rng)
            try:
                plan = Plan(tuple(map(own.parse, drawn["actions"])), None, "drawn at random")
            except InvalidThought:
                continue
            if not self._world.check_plan(view.agent, plan):
                return plan
        return Plan((self._world.idle,), None, "nothing valid was drawn")


def _words(seen: Any) -> set[str]:
    """Return the texts in a JSON value."""
    if isinstance(seen, str):
        return {seen}
    if isinstance(seen, dict):
        return set(seen).union(*map(_words, seen.values()))
    return set().union(*map(_words, seen)) if isinstance(seen, list) else set()

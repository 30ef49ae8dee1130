"""Level-based foraging (`pip install lbforaging`) as an environment of PettingZoo: agents collect food together."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from gymnasium.spaces import Box, Discrete
from lbforaging.foraging.environment import ForagingEnv
from pettingzoo import ParallelEnv


class Foraging(ParallelEnv[str, Any, int]):
    """Agents and food have levels; agents next to a food collect it together if the sum of their levels suffices.

    The reward of a food is its level, divided among its collectors by their levels; all food together gives 1.
    """

    metadata: ClassVar[dict[str, Any]] = {"name": "foraging", "render_modes": []}

    def __init__(self, players: int = 2, size: int = 6, food: int = 2, steps: int = 50, coop: bool = False) -> None:
        self._env = ForagingEnv(
            players=players, min_player_level=1, max_player_level=2, min_food_level=1, max_food_level=None,
            field_size=(size, size), max_num_food=food, sight=size, max_episode_steps=steps, force_coop=coop,
        )  # fmt: skip
        self.possible_agents = [f"agent_{i}" for i in range(players)]

    def observation_space(self, agent: str) -> Box:
        """Return the space of an agent's observations."""
        return self._env.observation_space[self.possible_agents.index(agent)]  # type: ignore[no-any-return]

    def action_space(self, agent: str) -> Discrete:
        """Return the space of an agent's actions."""
        return self._env.action_space[self.possible_agents.index(agent)]  # type: ignore[no-any-return]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        """Start an episode."""
        self.agents = list(self.possible_agents)
        seen, _ = self._env.reset(seed=seed, options=options)
        return dict(zip(self.agents, seen, strict=True)), {agent: {} for agent in self.agents}

    def step(self, actions: dict[str, int]) -> Any:
        """Take a step."""
        agents = self.agents
        seen, rewards, over, _, _ = self._env.step([actions[agent] for agent in agents])
        done = not self._env.field.any()
        late = over and not done  # ForagingEnv reports these as terminated too
        if over:
            self.agents = []
        each: list[Any] = [dict(zip(agents, part, strict=True)) for part in (seen, np.asarray(rewards).tolist())]
        return *each, dict.fromkeys(agents, done), dict.fromkeys(agents, late), {agent: {} for agent in agents}

"""Small environments of PettingZoo for tests: parallel and turn by turn, that die, differ, mask, render and break."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium.spaces import Box, Dict, Discrete, MultiDiscrete, Text, Tuple
from pettingzoo import AECEnv, ParallelEnv


class Rescue(ParallelEnv):
    """Two rescuers on a line of cells have to stand on both people at once."""

    metadata = {"name": "rescue", "render_modes": ["rgb_array"]}

    def __init__(self, cells=6, limit=30, render_mode=None):
        self.possible_agents = ["rescuer_0", "rescuer_1"]
        self.cells, self.limit, self.resets = cells, limit, 0
        self.action_spaces = dict.fromkeys(self.possible_agents, Discrete(3))
        self.observation_spaces = dict.fromkeys(self.possible_agents, Box(0, cells, (4,), np.float32))

    def action_space(self, agent):
        return self.action_spaces[agent]

    def observation_space(self, agent):
        return self.observation_spaces[agent]

    def reset(self, seed=None, options=None):
        self.resets += 1
        rng = np.random.default_rng([seed, self.resets])  # it depends on the episodes before
        self.at = rng.integers(self.cells, size=2)
        self.people = np.sort(rng.choice(self.cells, 2, replace=False))
        self.t, self.agents = 0, list(self.possible_agents)
        return self.seen(), {agent: {} for agent in self.agents}

    def seen(self):
        seen = [[self.at[i], self.at[1 - i], *self.people] for i in range(2)]
        return {agent: np.array(own, np.float32) for agent, own in zip(self.possible_agents, seen, strict=True)}

    def step(self, actions):
        for i, agent in enumerate(self.possible_agents):
            self.at[i] = np.clip(self.at[i] + (0, -1, 1)[actions[agent]], 0, self.cells - 1)
        self.t += 1
        done, late = set(self.at) == set(self.people), self.t >= self.limit
        agents = self.agents
        self.agents = [] if done or late else agents
        ends = dict.fromkeys(agents, done), dict.fromkeys(agents, late)
        return self.seen(), dict.fromkeys(agents, -0.1), *ends, {agent: {} for agent in agents}

    def render(self):
        picture = np.zeros((40, 40 * self.cells, 3), np.uint8)
        for at in self.at:
            picture[:, 40 * at : 40 * at + 40] = (200, 60, 20)
        return picture


class Plain(Rescue):
    """It renders nothing."""

    metadata = {"name": "plain", "render_modes": []}


class Nim(AECEnv):
    """Whoever takes the last of the sticks wins; 1 to 3 at a time."""

    metadata = {"name": "nim", "render_modes": []}

    def __init__(self, sticks=7, players=2):
        self.possible_agents = [f"player_{i}" for i in range(players)]
        self.sticks = sticks

    def action_space(self, agent):
        return Discrete(3, start=1)

    def observation_space(self, agent):
        mask = Box(0, 1, (3,), np.int8)
        return Dict({"observation": Box(0, 100, (1,), np.int8), "action_mask": mask})

    def reset(self, seed=None, options=None):
        self.left = self.sticks + (seed or 0) % 2
        self.agents = list(self.possible_agents)
        self.agent_selection = self.agents[0]
        self.rewards = dict.fromkeys(self.agents, 0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos = {agent: {} for agent in self.agents}

    def observe(self, agent):
        mask = np.array([self.left >= k for k in (1, 2, 3)], np.int8) * (agent == self.agent_selection)
        return {"observation": np.array([self.left], np.int8), "action_mask": mask}

    def step(self, action):
        if self.terminations[self.agent_selection]:
            self._was_dead_step(action)
            return
        assert 1 <= action <= self.left
        self._clear_rewards()
        self.left -= int(action)
        if not self.left:
            lost = -1 / (len(self.agents) - 1)
            self.rewards = {agent: 1 if agent == self.agent_selection else lost for agent in self.agents}
            self.terminations = dict.fromkeys(self.agents, True)
        at = self.agents.index(self.agent_selection)
        self.agent_selection = self.agents[(at + 1) % len(self.agents)]


class Mixed(ParallelEnv):
    """Three agents of different spaces; the first leaves after two steps."""

    metadata = {"name": "mixed", "render_modes": []}
    spaces = {
        "talker": Discrete(3),
        "mover_0": Box(np.array([-1, 0], np.float32), np.array([1, 0.5], np.float32)),
        "mover_1": Dict({"gear": MultiDiscrete([2, 3]), "pair": Tuple((Discrete(2), Box(0, 1, (2,), np.float32)))}),
    }

    def __init__(self):
        self.possible_agents = list(self.spaces)

    def action_space(self, agent):
        return self.spaces[agent]

    def observation_space(self, agent):
        return Box(0, 255, (30, 30, 3), np.uint8) if agent == "talker" else Discrete(9)

    def reset(self, seed=None, options=None):
        self.t, self.agents = seed % 3, list(self.possible_agents)
        self.end = self.t + 6
        self.out = self.t + 2
        return self.seen(), {agent: {} for agent in self.agents}

    def seen(self):
        return {a: np.full((30, 30, 3), self.t, np.uint8) if a == "talker" else self.t % 9 for a in self.agents}

    def step(self, actions):
        assert set(actions) == set(self.agents)
        assert all(self.spaces[agent].contains(action) for agent, action in actions.items())
        self.t += 1
        seen, agents = self.seen(), self.agents
        gone = {agent: self.t >= self.end or (agent == "talker" and self.t >= self.out) for agent in agents}
        self.agents = [agent for agent in agents if not gone[agent]]
        rewards = {agent: float(i) for i, agent in enumerate(agents)}
        return seen, rewards, gone, dict.fromkeys(agents, False), {agent: {} for agent in agents}


class Broken(Rescue):
    """Does wrong what `how` says."""

    def __init__(self, how="", **kwargs):
        super().__init__(**kwargs)
        self.how = how
        if how == "no agents":
            self.possible_agents = []
        if how == "text":
            self.action_spaces = dict.fromkeys(self.possible_agents, Text(5))
        if how == "init":
            raise RuntimeError("no licence")

    def reset(self, seed=None, options=None):
        seen, infos = super().reset(seed)
        if self.how == "visitor":
            return {**seen, "visitor": seen["rescuer_0"]}, infos
        if self.how == "reset":
            raise KeyError("map")
        return seen, infos

    def step(self, actions):
        seen, rewards, *rest = super().step(actions)
        if self.how == "step":
            raise ZeroDivisionError("division by zero")
        if self.how == "nan":
            rewards["rescuer_0"] = float("nan")
        return seen, rewards, *rest


def gym_like(**kwargs: Any) -> str:
    return "an environment of something else"


parallel_env = Rescue

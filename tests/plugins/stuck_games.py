"""Games whose code does not return, at a place and in a way of your choice."""

import re
import time
from contextlib import suppress

import numpy as np
from gymnasium.spaces import Box, Discrete
from pettingzoo import AECEnv, ParallelEnv


def hang(how):
    match how:
        case "sleep":
            time.sleep(10**6)
        case "regex":  # never releases Python's lock
            re.match(r"(a+)+$", "a" * 60 + "b")
        case "swallow":
            while True:
                with suppress(BaseException):
                    time.sleep(0.01)
        case _:
            while True:
                pass


class Counts(ParallelEnv):
    """Two agents count to eight."""

    metadata = {"name": "counts", "render_modes": []}  # noqa: RUF012 (PettingZoo wants it so)

    def __init__(self, where="step", how="loop", at=3):
        self.possible_agents, self.render_mode = ["a", "b"], None
        self.where, self.how, self.at = where, how, at
        self.come_to("init")

    def come_to(self, where):
        if where == self.where:
            hang(self.how)

    def observation_space(self, agent):
        return Box(0, 9, (1,), np.float32)

    def action_space(self, agent):
        return Discrete(2)

    def seen(self):
        return {agent: np.full(1, self.t, np.float32) for agent in self.possible_agents}

    def reset(self, seed=None, options=None):
        self.agents, self.t = list(self.possible_agents), 0
        self.come_to("reset")
        return self.seen(), {agent: {} for agent in self.agents}

    def step(self, actions):
        self.t += 1
        if self.t >= self.at:
            self.come_to("step")
        every, over = list(self.agents), self.t >= 8
        self.agents = [] if over else every
        return (
            self.seen(),
            dict.fromkeys(every, 1.0),
            dict.fromkeys(every, False),
            dict.fromkeys(every, over),
            {agent: {} for agent in every},
        )


class Stays(AECEnv):
    """Two agents in turns; `step(None)` removes nobody."""

    metadata = {"name": "stays", "render_modes": []}  # noqa: RUF012

    def __init__(self):
        super().__init__()
        self.possible_agents, self.render_mode = ["a", "b"], None

    def observation_space(self, agent):
        return Box(0, 9, (1,), np.float32)

    def action_space(self, agent):
        return Discrete(2)

    def observe(self, agent):
        return np.zeros(1, np.float32)

    def reset(self, seed=None, options=None):
        self.agents, self.t, self.agent_selection = list(self.possible_agents), 0, "a"
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos = {agent: {} for agent in self.agents}

    def step(self, action):
        if action is None:
            return
        self.t += 1
        self.agent_selection = "b" if self.agent_selection == "a" else "a"
        self.terminations = dict.fromkeys(self.agents, self.t >= 4)


parallel_env = Counts
env = Stays

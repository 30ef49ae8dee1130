"""Environments as others write them, parallel and of turns: `how` names what is wrong or unusual about each.

A row of `CHANGES` takes what the plain environment gives and returns what that of somebody else gives. The same
environments are played in PettingZoo's own loop.
"""

from __future__ import annotations

import itertools

import numpy as np
from gymnasium.spaces import Box, Dict, Discrete, MultiBinary, MultiDiscrete, Tuple
from pettingzoo import AECEnv, ParallelEnv

LIMIT = 5
OPEN: list[object] = []
"""The environments that are made and not closed."""
MOST = 1
"""Of these there is one at a time, as of a port or a licence."""
PLAN = {"a": Discrete(3), "b": Discrete(3)}
SPACES = {
    "mask of MultiDiscrete": MultiDiscrete([3, 2]),
    "mask of MultiDiscrete with a start": MultiDiscrete([3, 2], start=[5, 1]),
    "mask of MultiBinary": MultiBinary(2),
    "mask of Dict": Dict({"gear": Discrete(3), "arm": MultiDiscrete([2, 2])}),
    "mask of Tuple": Tuple((Discrete(3), Discrete(2))),
    "mask of Box": Box(-1, 1, (2,), np.float32),
    "mask of MultiDiscrete in one row": MultiDiscrete([3, 2]),
    "mask of Dict with an outsider": Dict({"gear": Discrete(3)}),
}
ONE = np.array([0, 1, 0], np.int8)
MASKS = {
    "mask in the info": np.array([0, 1, 1], np.int8),
    "mask of truth values": np.array([False, True, True]),
    "mask as a list": [0, 1, 0],
    "mask of MultiDiscrete": (ONE, np.array([0, 1], np.int8)),
    "mask of MultiDiscrete with a start": (ONE, np.array([0, 1], np.int8)),
    "mask of MultiBinary": np.array([1, 2], np.int8),
    "mask of Dict": {"gear": ONE, "arm": (np.array([0, 1], np.int8), np.array([1, 1], np.int8))},
    "mask of Tuple": (ONE, np.array([0, 1], np.int8)),
    "mask of Box": np.ones(2, np.int8),
    "mask of too few": np.ones(2, np.int8),
    "mask of what is no choice": np.array([0, 1, 7]),
    "mask of MultiDiscrete in one row": np.array([0, 1, 0, 0, 1], np.int8),
    "mask of Dict with an outsider": {"wheel": ONE},
}
PICTURE = np.arange(4 * 6 * 3, dtype=np.uint8).reshape(4, 6, 3)
PICTURES = {
    "picture as PettingZoo has it": PICTURE,
    "picture in grey": PICTURE[:, :, 0],
    "picture in grey with a channel": PICTURE[:, :, :1],
    "picture in floats": PICTURE / 255,
    "picture in truth values": PICTURE > 30,
    "picture in large numbers": PICTURE.astype(np.int64),
    "picture with channels first": PICTURE.transpose(2, 0, 1),
    "picture with alpha": np.concatenate([PICTURE, PICTURE[:, :, :1]], axis=2),
    "picture as lists": PICTURE.tolist(),
    "picture of None": None,
    "picture of text": "+--+",
    "picture of nothing": np.zeros((0, 0, 3), np.uint8),
    "picture of objects": [object()],
    "picture of five channels": np.zeros((7, 6, 5), np.uint8),
}


def each(values, change):
    return {agent: change(value) for agent, value in values.items()}


def part(index, change):
    """Change one of the parts that step() returns."""
    return lambda step: (*step[:index], change(step[index]), *step[index + 1 :])


CHANGES = {
    # of reset
    "reset gives observations alone": ("reset", lambda got: got[0]),
    "reset gives None as infos": ("reset", lambda got: (got[0], None)),
    "reset gives a list": ("reset", list),
    "reset gives three": ("reset", lambda got: (*got, {})),
    "reset gives None": ("reset", lambda got: None),
    "reset gives one array": ("reset", lambda got: np.zeros(2)),
    "reset gives lists by order": ("reset", lambda got: ([*got[0].values()], {})),
    # of step
    "step gives dones": ("step", lambda got: (*got[:2], got[2], got[4])),
    "step gives observations alone": ("step", lambda got: got[0]),
    "step gives None": ("step", lambda got: None),
    "step gives a list": ("step", list),
    "infos None": ("step", part(4, lambda got: None)),
    "an info None": ("step", part(4, dict.fromkeys)),
    "infos of nobody": ("step", part(4, lambda got: {})),
    "infos of the team": ("step", part(4, lambda got: {"__common__": {}})),
    "infos in a list": ("step", part(4, lambda got: [*got.values()])),
    "an info of text": ("step", part(4, lambda got: dict.fromkeys(got, "fine"))),
    "rewards None": ("step", part(1, lambda got: None)),
    "one reward for all": ("step", part(1, lambda got: 1.0)),
    "a reward None": ("step", part(1, dict.fromkeys)),
    "a reward of text": ("step", part(1, lambda got: each(got, str))),
    "a reward that is no number": ("step", part(1, lambda got: each(got, lambda own: float("nan")))),
    "a vector of rewards": ("step", part(1, lambda got: each(got, lambda own: np.array([own, own])))),
    "an array of one reward": ("step", part(1, lambda got: each(got, lambda own: np.array([own])))),
    "a list of one reward": ("step", part(1, lambda got: each(got, lambda own: [own]))),
    "a reward of NumPy": ("step", part(1, lambda got: each(got, np.float32))),
    "rewards of some": ("step", part(1, lambda got: dict(itertools.islice(got.items(), 1)))),
    "rewards of an outsider": ("step", part(1, lambda got: {**got, "team": 1.0})),
    "terminations None": ("step", part(2, lambda got: None)),
    "a termination None": ("step", part(2, dict.fromkeys)),
    "arrays of one termination": ("step", part(2, lambda got: each(got, lambda own: np.array([own])))),
    "terminations as numbers": ("step", part(2, lambda got: each(got, int))),
    "terminations of all": ("step", part(2, lambda got: {**got, "__all__": all(got.values())})),
    "one truncation for all": ("step", part(3, lambda got: False)),
    "observations None": ("step", part(0, lambda got: None)),
    "an observation None": ("step", part(0, dict.fromkeys)),
    "a ragged observation": ("step", part(0, lambda got: each(got, lambda own: [own, [own, own]]))),
    "observation of an outsider": ("step", part(0, lambda got: {**got, "visitor": 0})),
}


class Odd(ParallelEnv):
    """Two agents choose numbers: each gets its own, and a little more."""

    metadata = {"name": "odd", "render_modes": ["rgb_array"]}

    def __init__(self, how="", render_mode=None):
        if len(OPEN) >= MOST:
            raise OSError("the port is in use")
        OPEN.append(self)
        self.how, self.possible_agents = how, ["a", "b"]
        if how in ("relay", "relay of all"):
            self.possible_agents = ["a", "b", "c"]
        elif how == "numbers as names":
            self.possible_agents = [0, 1]
        if how == "names in a tuple":
            self.possible_agents = ("a", "b")
        if how == "no metadata":
            self.metadata = None

    def close(self):
        OPEN.remove(self)
        if self.how == "close fails":
            raise RuntimeError("it is closed already")

    def action_space(self, agent):
        return SPACES.get(self.how, Discrete(3))

    def observation_space(self, agent):
        return Box(0, 100, (1,), np.float32)

    def reset(self, seed=None, options=None):
        if self.how == "reset fails":
            raise KeyError("map")
        rng = np.random.default_rng(None if self.how == "draws without a seed" else seed)
        self.t, self.luck = 0, float(rng.random())
        self.agents = list(self.possible_agents[: 1 if self.how == "relay of all" else 2])
        if self.how == "nobody begins":
            self.agents = []
        if self.how == "agents are None":
            self.agents = None
            return {}, {}
        return self.changed("reset", (self.seen(self.agents), {agent: self.info() for agent in self.agents}))

    def changed(self, method, given):
        of, change = CHANGES.get(self.how, ("", None))
        return change(given) if of == method else given

    def info(self):
        return {"action_mask": MASKS[self.how]} if self.how in MASKS else {}

    def seen(self, agents):
        own = np.array([self.t + self.luck], np.float32)
        if self.how == "nested observations":
            own = {"arm": {"joint": own, "observation": own}, "arm.joint2": own, "pair": (own, {"x": own})}
        elif self.how == "observation of the same name":
            own = {"observation": {"x": own}, "x": own + 1}
        elif self.how == "observation of text":
            own = "north"
        return dict.fromkeys(agents, own)

    def step(self, actions):
        assert self in OPEN, "it is closed"
        if self.how == "step fails" and self.t == 2:
            raise ZeroDivisionError("division by zero")
        assert set(actions) == set(self.agents)
        assert all(self.action_space(agent).contains(action) for agent, action in actions.items())
        self.t += 1
        acted = self.agents
        rewards = {agent: self.reward(agent, actions[agent]) for agent in acted}
        over = self.t >= LIMIT
        gone = dict.fromkeys(acted, over and self.how != "truncated")
        late = dict.fromkeys(acted, over and self.how in ("truncated", "ended and truncated"))
        self.agents = [] if over and self.how != "agents stay in the list" else list(acted)
        if self.how in ("relay", "relay of all") and self.t < 2 * LIMIT:
            names = self.possible_agents
            who = [names[self.t % 3], names[(self.t + 1) % 3]]
            if self.how == "relay of all":
                who = [names[self.t // 2 % 3]]
            gone, late, self.agents = {agent: agent not in who for agent in acted}, dict.fromkeys(acted, False), who
        seen = self.seen(dict.fromkeys([*acted, *self.agents]))
        return self.changed("step", (seen, rewards, gone, late, {agent: self.info() for agent in seen}))

    def reward(self, agent, action):
        own = float(action) if isinstance(self.action_space(agent), Discrete) else self.t / 2
        return own + 0.25 * self.possible_agents.index(agent)

    def render(self):
        assert self in OPEN, "it is closed"
        return PICTURES.get(self.how, PICTURE)


class NoMode(Odd):
    """It renders, and takes no mode."""

    def __init__(self, how=""):
        super().__init__(how)


class OneMode(Odd):
    """It names a mode that it refuses."""

    def __init__(self, how="", render_mode=None):
        assert render_mode is None, "no display"
        super().__init__(how)


class NoSeed(Odd):
    """Its reset is of old."""

    def reset(self):
        return super().reset(0)


class Turns(AECEnv):
    """Two agents take turns."""

    metadata = {"name": "turns", "render_modes": []}

    def __init__(self, how=""):
        if len(OPEN) >= MOST:
            raise OSError("the port is in use")
        OPEN.append(self)
        self.how, self.possible_agents = how, ["a", "b", "c"] if how == "relay" else ["a", "b"]

    def close(self):
        OPEN.remove(self)

    def action_space(self, agent):
        return Discrete(3)

    def observation_space(self, agent):
        return Box(0, 100, (1,), np.float32)

    def reset(self, seed=None, options=None):
        self.t, self.agents = 0, self.possible_agents[:2]
        self.luck = float(np.random.default_rng(seed).random())
        self.agent_selection = "a"
        self.rewards = dict.fromkeys(self.possible_agents, 0.0)
        first = 0.5 if self.how == "reward at the start" else 0.0
        self._cumulative_rewards = dict.fromkeys(self.possible_agents, first)
        self.terminations = dict.fromkeys(self.possible_agents, False)
        self.truncations = dict.fromkeys(self.possible_agents, False)
        self.infos = {agent: {} for agent in self.possible_agents}
        if "infos None" in self.how:
            self.infos = None
        elif self.how == "dones of old":
            self.dones = self.terminations
            del self.terminations
        elif self.how == "nobody is selected":
            self.agent_selection = None
        elif self.how == "rewards in a list":
            self.rewards = [0.0, 0.0]

    def observe(self, agent):
        if self.how == "observe fails":
            raise IndexError("no such row")
        seen = np.array([self.t + self.luck], np.float32)
        return {"observation": seen, "action_mask": ONE} if self.how == "mask in the observation" else seen

    def step(self, action):
        assert self in OPEN, "it is closed"
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        self.t += 1
        gain = float(action) + 0.25
        self._clear_rewards()
        if self.how != "never taken back":
            self._cumulative_rewards[agent] = 0
        if self.how == "written as cumulative":
            self._cumulative_rewards[agent] = gain
            self._cumulative_rewards[self.agents[0]] += 1
        else:
            self.rewards[agent] = np.array([gain]) if self.how == "arrays of one reward" else gain
            self.rewards[self.agents[-1]] += 0.125
            if self.how == "a reward None":
                self.rewards[agent] = None
            elif self.how == "a vector of rewards":
                self.rewards[agent] = np.array([gain, 0.0])
            elif self.how != "never accumulated":
                self._accumulate_rewards()
        self.agent_selection = self.agents[(self.agents.index(agent) + 1) % len(self.agents)]
        if self.how == "relay" and self.t < 2 * LIMIT:
            self.relay(agent)
        elif self.t >= LIMIT:
            ends = self.truncations if "truncat" in self.how else self.terminations
            ends.update(dict.fromkeys(self.agents, True))
            if "empties" in self.how:
                self.agents = []

    def relay(self, agent):
        """Let the one who has acted leave, and another enter."""
        other = next(name for name in self.possible_agents if name not in self.agents)
        self.agents = [name for name in self.agents if name != agent] + [other]
        for table, value in ((self.rewards, 0.0), (self._cumulative_rewards, 0.0), (self.terminations, False),
                             (self.truncations, False), (self.infos, {})):  # fmt: skip
            table[other] = value
        self.agent_selection = self.agents[0]


parallel_env = Odd

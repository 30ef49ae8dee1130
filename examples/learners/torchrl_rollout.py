"""A roll-out with TorchRL: pip install torchrl. It takes any world of Quorum.

python torchrl_rollout.py

TorchRL reads the specs from the spaces, and the masks and numbers from the plain infos. Its `check_env_specs` compares
the data of a real roll-out with these specs.
"""

from __future__ import annotations

import gymnasium
from pettingzoo import ParallelEnv
from torchrl.envs import EnvBase, GymWrapper, PettingZooWrapper
from torchrl.envs.utils import check_env_specs

import crafter_env
from crafter_env import CrafterEnv
from cube_env import CubeEnv, Egocentric, FlatObservations
from llamac_env import Difficulty, Grid, SqueezeEnv, TransportEnv

WORLDS = {
    "cube": lambda: CubeEnv(n=3, max_steps=50),
    "cube, flat": lambda: FlatObservations(CubeEnv(n=3, max_steps=50, copy=False)),
    "cube, egocentric": lambda: Egocentric(CubeEnv(n=3, max_steps=50, copy=False), radius=3),
    "crafter": lambda: CrafterEnv(n=3, max_steps=50),
    "crafter, egocentric": lambda: crafter_env.Egocentric(crafter_env.FlatActions(CrafterEnv(n=3, max_steps=50))),
    "transport": lambda: TransportEnv(Grid(2, 4, Difficulty.hard)),
    "squeeze": lambda: SqueezeEnv(5),
}
BATCHES = {
    "quorum/Cube-v0": {"n": 3, "max_steps": 50},
    "quorum/Crafter-v0": {"n": 3, "max_steps": 50},
    "quorum/Transport-v0": {},
}


def agents(world: ParallelEnv) -> EnvBase:
    """Return a world in which TorchRL decides for each agent; it does not draw masked actions.

    The agent mask (`use_mask`) is for worlds in which agents die, as in Crafter.
    """
    return PettingZooWrapper(world, return_state=True, use_mask=True, seed=0)


def batch(name: str) -> EnvBase:
    """Return three worlds in which TorchRL decides for the whole team. They must reset in the same step."""
    return GymWrapper(gymnasium.make_vec(name, num_envs=3, autoreset_mode="SameStep", **BATCHES[name]))


def roll_out(env: EnvBase, steps: int = 120) -> str:
    """Check an environment, then take random steps across the ends of its episodes."""
    check_env_specs(env)
    data = env.rollout(steps, break_when_any_done=False)
    return f"{data.shape[-1]} steps, {int(data['next', 'done'].sum())} episodes"


if __name__ == "__main__":
    for name, make in WORLDS.items():
        print(f"{name}: {roll_out(agents(make()))}")
    for name in BATCHES:
        print(f"{name}, 3 worlds: {roll_out(batch(name))}")

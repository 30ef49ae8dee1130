"""A roll-out with TorchRL: pip install torchrl. It takes any world of Quorum.

python torchrl_rollout.py

TorchRL reads the specs from the spaces, and the masks and numbers from the plain infos. Its `check_env_specs` compares
what a real roll-out holds with these specs.
"""

from __future__ import annotations

from pettingzoo import ParallelEnv
from tensordict import is_tensor_collection
from torchrl.envs import PettingZooWrapper
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


def roll_out(world: ParallelEnv, steps: int = 120) -> str:
    """Check a world, and walk through it at random over the ends of its episodes; masked actions are not drawn.

    The mask of agents (`use_mask`) is for worlds in which they die, as in Crafter.
    """
    env = PettingZooWrapper(world, return_state=True, use_mask=True, seed=0)
    check_env_specs(env)
    data = env.rollout(steps, break_when_any_done=False)
    episodes = int(data["next", "done"].sum())
    seen = data["agent", "observation"]
    shape = seen.batch_size if is_tensor_collection(seen) else seen.shape
    return f"{data.shape[0]} steps, {episodes} episodes, observations {tuple(shape)}"


if __name__ == "__main__":
    for name, make in WORLDS.items():
        print(f"{name}: {roll_out(make())}")

"""A roll-out with TorchRL: pip install torchrl. It takes any world of Quorum.

python torchrl_rollout.py

TorchRL reads the specs from the spaces, and the masks and numbers from the plain infos. Its `check_env_specs` compares
what a real roll-out holds with these specs.
"""

from __future__ import annotations

from pettingzoo import ParallelEnv
from torchrl.envs import PettingZooWrapper
from torchrl.envs.utils import check_env_specs

from cube_env import CubeEnv, Egocentric, FlatObservations

WORLDS = {
    "cube": lambda: CubeEnv(n=3, max_steps=50),
    "cube, flat": lambda: FlatObservations(CubeEnv(n=3, max_steps=50, copy=False)),
    "cube, egocentric": lambda: Egocentric(CubeEnv(n=3, max_steps=50, copy=False), radius=3),
}


def roll_out(world: ParallelEnv, steps: int = 120) -> str:
    """Check a world, and walk through it at random over the ends of its episodes; masked actions are not drawn."""
    env = PettingZooWrapper(world, return_state=True, seed=0)
    check_env_specs(env)
    data = env.rollout(steps, break_when_any_done=False)
    episodes = int(data["next", "done"].sum())
    return f"{data.shape[0]} steps, {episodes} episodes, observations {tuple(data['agent', 'observation'].shape)}"


if __name__ == "__main__":
    for name, make in WORLDS.items():
        print(f"{name}: {roll_out(make())}")

"""Stable-Baselines3 learns CUBE through SuperSuit: pip install stable-baselines3 supersuit.

python stable_baselines.py [--steps 20000]

SuperSuit turns the agents of copies of an environment into the worlds of one batch, so that one policy acts for them
all. Its batches take no seed from Stable-Baselines3.
"""

from __future__ import annotations

import argparse

import supersuit
from stable_baselines3 import PPO
from stable_baselines3.common.vec_env import VecMonitor

from cube_env import CubeEnv, FlatObservations, ShapedEnv


def batch(copies: int, max_steps: int) -> VecMonitor:
    """Return the agents of some copies of CUBE, n = 2, as one batch of Stable-Baselines3."""
    env = FlatObservations(ShapedEnv(CubeEnv(n=2, max_steps=max_steps), "progress"))
    worlds = supersuit.pettingzoo_env_to_vec_env_v1(env)
    return VecMonitor(supersuit.concat_vec_envs_v1(worlds, copies, num_cpus=0, base_class="stable_baselines3"))


def train(steps: int) -> PPO:
    """Learn from `steps` agent-steps."""
    envs = batch(copies=8, max_steps=100)
    model = PPO("MlpPolicy", envs, n_steps=256, batch_size=512, device="cpu")
    return model.learn(steps)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Learn CUBE with Stable-Baselines3.")
    parser.add_argument("--steps", type=int, default=20_000, help="steps of agents to learn from")
    model = train(parser.parse_args().steps)
    episodes = list(model.ep_info_buffer or ())
    returns = [float(episode["r"]) for episode in episodes]
    print(f"{model.num_timesteps} steps; the last {len(returns)} episodes: ", end="")
    print(f"mean return {sum(returns) / len(returns):.3f}, best {max(returns):.3f}")

"""PPO in about 100 lines that learns CUBE with two agents. It also needs PyTorch: pip install torch.

python ppo.py [--iterations 200] [--seed 0]

One policy acts for every agent on the agent's own flat observation (Yu et al., "The surprising effectiveness of PPO in
cooperative multi-agent games", 2022). Agents are inputs when they come nearer to a block (`nearness`) and when a block
comes nearer to the goal (`reward="progress"`); both are growths of a potential. The time is part of the observation,
so the time limit is an end like any other. Printed are the mean return by CUBE's own rules and the share of boards that
are cleared, on 100 boards that it never trained on.
"""

from __future__ import annotations

import argparse

import numpy as np
import torch
from torch import Tensor, nn
from torch.distributions import Categorical

from cube_env import CubeVecEnv, flat_observations

N, WORLDS, STEPS, MAX_STEPS = 2, 128, 64, 200
GAMMA, LAMBDA, CLIP, ENTROPY, EPOCHS, MINIBATCHES, RATE = 0.99, 0.95, 0.2, 0.005, 4, 8, 1e-3
NEAR = 0.05


class Policy(nn.Module):
    """Actor and critic of every agent: from observations (..., F) and masks (..., 5) to a choice and a value."""

    def __init__(self, features: int, width: int = 128) -> None:
        super().__init__()
        self.body = nn.Sequential(nn.Linear(features, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh())
        self.actor, self.critic = nn.Linear(width, 5), nn.Linear(width, 1)

    def forward(self, observations: Tensor, masks: Tensor) -> tuple[Categorical, Tensor]:
        """Distribution over actions, and values (...)."""
        hidden = self.body(10 * observations)  # a cell is a 20th of the side: enlarged, neighbours are distinguished
        logits = self.actor(hidden).masked_fill(masks == 0, -1e9)
        return Categorical(logits=logits, validate_args=False), self.critic(hidden).squeeze(-1)


def batch(worlds: int, reward: str) -> CubeVecEnv:
    """Worlds whose next episode begins in the step that ends one."""
    values = {"max_steps": MAX_STEPS, "reward": reward, "autoreset_mode": "SameStep"}
    return CubeVecEnv(worlds, n=N, observe=False, infos="none", **values)


def look(envs: CubeVecEnv) -> tuple[Tensor, Tensor]:
    """Observations (W, n, F) and masks (W, n, 5)."""
    observations = flat_observations(envs.worlds, envs.max_steps)
    return torch.from_numpy(observations), torch.from_numpy(envs.action_masks())


def nearness(envs: CubeVecEnv) -> np.ndarray:
    """Potential of each agent (W, n): minus its distance to the nearest left face of a block."""
    row, col, weight, alive = np.moveaxis(envs.worlds.blocks[:, None].astype(float), -1, 0)
    agents = envs.worlds.agents[:, :, None]
    far = abs(agents[..., 0] - row - (weight - 1) / 2) + abs(agents[..., 1] - col + 1)
    return -NEAR * np.where(alive > 0, far, envs.side).min(axis=-1)


@torch.no_grad()
def collect(policy: Policy, envs: CubeVecEnv) -> list[Tensor]:
    """Observations, masks, actions, log-probabilities, advantages and returns; a row for each step of each agent."""
    steps = []
    for _ in range(STEPS):
        seen, before = look(envs), nearness(envs)
        choice, values = policy(*seen)
        actions = choice.sample()
        _, rewards, terminations, truncations, _ = envs.step(actions.numpy())
        ended = (terminations | truncations)[:, None]
        gained = rewards[:, None] + (nearness(envs) - before) * ~ended
        numbers = torch.from_numpy(gained).float(), torch.from_numpy(ended).float()
        steps.append((*seen, actions, choice.log_prob(actions), values, *numbers))
    following, advantage, advantages = policy(*look(envs))[1], torch.zeros(1), []
    for *_, values, gained, ended in reversed(steps):
        delta = gained + GAMMA * following * (1 - ended) - values
        advantage = delta + GAMMA * LAMBDA * (1 - ended) * advantage
        following = values
        advantages.append(advantage)
    *inputs, values, _, _ = (torch.stack(part) for part in zip(*steps, strict=True))
    gains = torch.stack(advantages[::-1])
    return [part.flatten(0, 2) for part in (*inputs, gains, gains + values)]


def loss(policy: Policy, rows: list[Tensor]) -> Tensor:
    """The clipped objective (Schulman et al., 2017), the critic's error and the entropy."""
    observations, masks, actions, chances, gains, returns = rows
    choice, values = policy(observations, masks)
    ratio = (choice.log_prob(actions) - chances).exp()
    gains = (gains - gains.mean()) / (gains.std() + 1e-8)
    objective = torch.min(ratio * gains, ratio.clamp(1 - CLIP, 1 + CLIP) * gains).mean()
    return (values - returns).square().mean() / 2 - objective - ENTROPY * choice.entropy().mean()


@torch.no_grad()
def evaluate(policy: Policy, worlds: int = 100, seed: int = 1_000_000) -> str:
    """One episode on each of some boards."""
    envs = batch(worlds, "default")
    envs.reset(seed=seed)
    returns, cleared, running = np.zeros(worlds), np.zeros(worlds, dtype=bool), np.ones(worlds, dtype=bool)
    while running.any():
        _, rewards, terminations, truncations, _ = envs.step(policy(*look(envs))[0].sample().numpy())
        returns += rewards * running
        cleared |= terminations & running
        running &= ~(terminations | truncations)
    return f"return {returns.mean():.2f}, cleared {cleared.mean():.0%}"


def train(iterations: int, seed: int) -> None:
    """Learn from batches of 128 worlds x 64 steps, and print what was learned."""
    torch.manual_seed(seed)
    envs = batch(WORLDS, "progress")
    envs.reset(seed=seed)
    policy = Policy(look(envs)[0].shape[-1])
    optimiser = torch.optim.Adam(policy.parameters(), lr=RATE)
    print(f"before: {evaluate(policy)}", flush=True)
    for iteration in range(iterations):
        optimiser.param_groups[0]["lr"] = RATE * (1 - iteration / iterations)
        rows = collect(policy, envs)
        for _ in range(EPOCHS):
            for part in torch.randperm(len(rows[0])).chunk(MINIBATCHES):
                optimiser.zero_grad()
                loss(policy, [column[part] for column in rows]).backward()
                nn.utils.clip_grad_norm_(policy.parameters(), 0.5)
                optimiser.step()
        if (iteration + 1) % 20 == 0:
            print(f"after {iteration + 1} iterations: {evaluate(policy)}", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Learn CUBE with two agents by PPO.")
    parser.add_argument("--iterations", type=int, default=200, help="batches to learn from")
    parser.add_argument("--seed", type=int, default=0, help="of boards, network and choices")
    asked = parser.parse_args()
    torch.set_num_threads(1)  # small matrices: more threads only wait for each other
    train(asked.iterations, asked.seed)

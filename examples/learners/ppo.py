"""PPO in PyTorch that learns CUBE or level-based foraging, and writes a policy for `agents=policy`.

python ppo.py [--world cube] [--n 2] [--iterations 200] [--seed 0] [--out policy.npz]

It needs PyTorch, and for `--world foraging` lbforaging: pip install torch lbforaging.

One policy acts for every agent on the agent's own observation (Yu et al., "The surprising effectiveness of PPO in
cooperative multi-agent games", 2022). Agents also learn from the growth of a potential (`Worlds.potential`), which is
not part of the printed return. The time limit ends an episode like any other end.

The script prints the learning curve as CSV: steps of worlds, seconds of CPU, an agent's mean return under the rules of
the world, and the share of solved boards, on 100 boards that are not used for training.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import torch
from torch import Tensor, nn
from torch.distributions import Categorical

from cube_env import CubeVecEnv, flat_observations

WORLDS, STEPS, WIDTH = 128, 64, 128
GAMMA, LAMBDA, CLIP, ENTROPY, EPOCHS, MINIBATCHES, RATE = 0.99, 0.95, 0.2, 0.005, 4, 8, 1e-3
EVALUATIONS = 10
HELD_OUT = 1_000_000
"""First seed of the boards that are not used for training."""


class Worlds(Protocol):
    """W worlds of n agents; the step that ends an episode also starts the world's next one."""

    scale: float
    """Factor for observations, so that neighbouring cells are about 1 apart."""

    def look(self) -> tuple[np.ndarray, np.ndarray]:
        """Return observations (W, n, F) and action masks (W, n, A)."""

    def potential(self) -> np.ndarray:
        """Return the potential of each agent's place, (W, n); its change in a step is added to the learner's reward."""

    def step(self, actions: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return rewards (W, n), whether episodes ended (W,), and whether they were solved (W,)."""


class Cube:
    """CUBE with the boards of its curriculum, and 200 steps."""

    scale, max_steps, near, progress = 10.0, 200, 0.05, 0.1

    def __init__(self, worlds: int, n: int, seed: int) -> None:
        values: dict[str, Any] = {"observe": False, "infos": "none", "autoreset_mode": "SameStep"}
        self.envs = CubeVecEnv(worlds, n=n, max_steps=self.max_steps, **values)
        self.envs.reset(seed=seed)

    def look(self) -> tuple[np.ndarray, np.ndarray]:
        return flat_observations(self.envs.worlds, self.max_steps), self.envs.action_masks()

    def potential(self) -> np.ndarray:
        """Return minus the distance to the nearest left face of a block, and minus the cells blocks must still move."""
        row, col, weight, alive = np.moveaxis(self.envs.worlds.blocks[:, None].astype(float), -1, 0)
        agents = self.envs.worlds.agents[:, :, None]
        rows = np.maximum(np.maximum(row - agents[..., 0], agents[..., 0] - row - weight + 1), 0)
        far = np.where(alive > 0, rows + abs(agents[..., 1] - col + 1), self.envs.side).min(axis=-1)
        work = (alive * weight * (self.envs.side - col - weight)).sum(axis=-1) / agents.shape[1]
        return -self.near * far - self.progress * work

    def step(self, actions: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        _, rewards, terminations, truncations, _ = self.envs.step(actions)
        return np.repeat(rewards[:, None], actions.shape[1], axis=1), terminations | truncations, terminations


class Foraging:
    """Level-based foraging (`lbforaging`): an 8 x 8 grid with two foods, each of which takes the whole team."""

    scale, near = 0.5, 0.01

    def __init__(self, worlds: int, n: int, seed: int) -> None:
        import gymnasium  # noqa: PLC0415 (only who learns foraging has the package)
        import lbforaging  # noqa: F401, PLC0415 (registers its ids)

        name = f"Foraging-8x8-{n}p-2f-coop-v3"
        self.envs: list[Any] = [gymnasium.make(name, disable_env_checker=True).unwrapped for _ in range(worlds)]
        self.seen = np.array([env.reset(seed=seed + world)[0] for world, env in enumerate(self.envs)])

    def look(self) -> tuple[np.ndarray, np.ndarray]:
        masks = np.zeros((*self.seen.shape[:2], 6), dtype=np.int8)
        for world, env in enumerate(self.envs):
            for agent, player in enumerate(env.players):
                masks[world, agent, [action.value for action in env._valid_actions[player]]] = 1
        return self.seen.copy(), masks

    def potential(self) -> np.ndarray:
        """Return minus the distance to the nearest food."""
        n = self.seen.shape[1]
        foods, own = self.seen[..., : -3 * n].reshape(*self.seen.shape[:2], -1, 3), self.seen[..., -3 * n :]
        far = abs(foods[..., :2] - own[..., None, :2]).sum(axis=-1)
        return -self.near * np.where(foods[..., 2] > 0, far, 14).min(axis=-1)

    def step(self, actions: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        rewards, ended, solved = np.zeros(actions.shape), *np.zeros((2, len(actions)), dtype=bool)
        for world, env in enumerate(self.envs):
            self.seen[world], rewards[world], ended[world], _, _ = env.step(actions[world].tolist())
            if ended[world]:
                solved[world] = not env.field.any()
                self.seen[world] = env.reset()[0]
        return rewards, ended, solved


MAKE = {"cube": Cube, "foraging": Foraging}


class Policy(nn.Module):
    """Actor and critic of every agent: from observations (..., F) and masks (..., A) to a choice and a value."""

    def __init__(self, features: int, actions: int, scale: float) -> None:
        super().__init__()
        self.scale = scale
        self.body = nn.Sequential(nn.Linear(features, WIDTH), nn.Tanh(), nn.Linear(WIDTH, WIDTH), nn.Tanh())
        self.actor, self.critic = nn.Linear(WIDTH, actions), nn.Linear(WIDTH, 1)

    def forward(self, observations: Tensor, masks: Tensor) -> tuple[Categorical, Tensor]:
        """Return the distribution over actions, and values (...)."""
        hidden = self.body(self.scale * observations)
        logits = self.actor(hidden).masked_fill(masks == 0, -1e9)
        return Categorical(logits=logits, validate_args=False), self.critic(hidden).squeeze(-1)

    def save(self, file: Path) -> None:
        """Write the actor in the format of `agents=policy`; the scale becomes part of the first layer."""
        found = {}
        for number, layer in enumerate((self.body[0], self.body[2], self.actor)):
            weight = layer.weight.detach().numpy().T * (self.scale if number == 0 else 1)
            found |= {f"weight_{number}": weight, f"bias_{number}": layer.bias.detach().numpy()}
        np.savez_compressed(file, **{name: array.astype(np.float16) for name, array in found.items()})


def look(worlds: Worlds) -> tuple[Tensor, Tensor]:
    """Return observations and masks as tensors."""
    observations, masks = worlds.look()
    return torch.from_numpy(observations).float(), torch.from_numpy(masks)


@torch.no_grad()
def collect(policy: Policy, worlds: Worlds) -> list[Tensor]:
    """Return observations, masks, actions, log-probabilities, advantages and returns, one row per step and agent."""
    steps = []
    for _ in range(STEPS):
        seen, before = look(worlds), worlds.potential()
        choice, values = policy(*seen)
        actions = choice.sample()
        rewards, ended, _ = worlds.step(actions.numpy())
        gained = rewards + (worlds.potential() - before) * ~ended[:, None]
        numbers = torch.from_numpy(gained).float(), torch.from_numpy(ended[:, None]).float()
        steps.append((*seen, actions, choice.log_prob(actions), values, *numbers))
    following, advantage, advantages = policy(*look(worlds))[1], torch.zeros(1), []
    for *_, values, gained, ended in reversed(steps):
        delta = gained + GAMMA * following * (1 - ended) - values
        advantage = delta + GAMMA * LAMBDA * (1 - ended) * advantage
        following = values
        advantages.append(advantage)
    *inputs, values, _, _ = (torch.stack(part) for part in zip(*steps, strict=True))
    gains = torch.stack(advantages[::-1])
    return [part.flatten(0, 2) for part in (*inputs, gains, gains + values)]


def loss(policy: Policy, rows: list[Tensor]) -> Tensor:
    """Return the clipped objective (Schulman et al., 2017) with the critic's error and the entropy."""
    observations, masks, actions, chances, gains, returns = rows
    choice, values = policy(observations, masks)
    ratio = (choice.log_prob(actions) - chances).exp()
    gains = (gains - gains.mean()) / (gains.std() + 1e-8)
    objective = torch.min(ratio * gains, ratio.clamp(1 - CLIP, 1 + CLIP) * gains).mean()
    return (values - returns).square().mean() / 2 - objective - ENTROPY * choice.entropy().mean()


@torch.no_grad()
def evaluate(policy: Policy, worlds: Worlds) -> tuple[float, float]:
    """Return the mean return of an agent and the share of solved boards, over one episode per board."""
    running: np.ndarray | None = None
    while running is None or running.any():
        rewards, ended, now = worlds.step(policy(*look(worlds))[0].sample().numpy())
        if running is None:
            running, returns, solved = np.ones(len(rewards), dtype=bool), np.zeros(len(rewards)), np.zeros_like(ended)
        returns += rewards.mean(axis=1) * running
        solved |= now & running
        running &= ~ended
    return float(returns.mean()), float(solved.mean())


def train(world: str, n: int, iterations: int, seed: int) -> Policy:
    """Learn from batches of 128 worlds x 64 steps, and print the curve."""
    torch.manual_seed(seed)
    worlds: Worlds = MAKE[world](WORLDS, n, seed)
    observations, masks = worlds.look()
    policy = Policy(observations.shape[-1], masks.shape[-1], worlds.scale)
    optimiser = torch.optim.Adam(policy.parameters(), lr=RATE)
    every = max(1, iterations // EVALUATIONS)
    print("iteration,steps,seconds,return,solved")
    for iteration in range(iterations + 1):
        if iteration % every == 0:
            seconds = time.process_time()
            found, solved = evaluate(policy, MAKE[world](100, n, HELD_OUT))
            print(f"{iteration},{iteration * WORLDS * STEPS},{seconds:.0f},{found:.3f},{solved:.2f}", flush=True)
        optimiser.param_groups[0]["lr"] = RATE * (1 - iteration / (iterations + 1))
        rows = collect(policy, worlds)
        for _ in range(EPOCHS):
            for part in torch.randperm(len(rows[0])).chunk(MINIBATCHES):
                optimiser.zero_grad()
                loss(policy, [column[part] for column in rows]).backward()
                nn.utils.clip_grad_norm_(policy.parameters(), 0.5)
                optimiser.step()
    return policy


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Learn a world by PPO.")
    parser.add_argument("--world", choices=MAKE, default="cube", help="what is learned")
    parser.add_argument("--n", type=int, default=2, help="number of agents")
    parser.add_argument("--iterations", type=int, default=200, help="batches to learn from")
    parser.add_argument("--seed", type=int, default=0, help="of boards, network and choices")
    parser.add_argument("--out", type=Path, help="file of the policy, .npz")
    asked = parser.parse_args()
    torch.set_num_threads(1)  # with small matrices, more threads only wait for each other
    learned = train(asked.world, asked.n, asked.iterations, asked.seed)
    if asked.out is not None:
        learned.save(asked.out)

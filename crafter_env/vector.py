"""Many worlds of one size, stepped in one compiled call."""

from __future__ import annotations

from collections.abc import Sequence
from operator import index
from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium.spaces import Dict, Discrete, MultiDiscrete
from gymnasium.utils.seeding import np_random

from crafter_env.constants import Achievement
from crafter_env.engine import Engine
from crafter_env.env import CrafterEnv, ObservationKind, RenderMode
from crafter_env.errors import CrafterError, EpisodeError
from crafter_env.joint_action import check_actions
from crafter_env.kernels.arrays import ACHIEVED, GAINED, INVENTORY, STEP
from crafter_env.layout import Layout
from crafter_env.pixels import Painter
from crafter_env.profiles import Level, Profile
from crafter_env.render import render_ansi, render_rgb
from crafter_env.state import CrafterState, world_seed

Arrays = dict[str, npt.NDArray[Any]]


class CrafterVecEnv:
    """Many independent worlds of the rules of `CrafterEnv`.

    World i is, to the bit, `CrafterEnv` with the same arguments after `reset(seed=seed + i)`; its next episodes are
    that environment's next. It is no `gymnasium.vector.VectorEnv`: every agent has a reward and an end of its own.

    Autoreset is Gymnasium's next-step mode: the step that ends a world's episode (all its agents are dead, at the goal
    or truncated) returns the last observation; the next step ignores that world's actions, begins its next episode, and
    returns the first observation with rewards 0.

    Observation: a dictionary of the arrays of `CrafterEnv`, each with the leading dimensions `(num_envs, n)`, except
        `daylight`, `(num_envs, 1)`; empty with `obs=None`.
    Action: integers, `(num_envs, n)`, or `(num_envs, n, 4)` where there is sharing; an int64 array of the latter shape
        is taken without a copy. Those of the dead are not read, but must be of the action space.
    Reward: float64 `(num_envs, n)`; of a dead agent 0.
    Episode end: `terminations` and `truncations`, bool `(num_envs, n)`, true in the step in which an agent ends.
    Infos: `achievements`, int64 `(num_envs, n, 22)`, and `step`, int64 `(num_envs,)`.

    All arrays but `pixels` are allocated once and given as read-only views that the next step overwrites: copy what you
    keep.

    Example:
        ```python
        envs = CrafterVecEnv(256, n=3)
        observations, infos = envs.reset(seed=0)
        actions = np.random.default_rng(0).integers(17, size=(256, 3))
        observations, rewards, terminations, truncations, infos = envs.step(actions)
        ```

    Args:
        num_envs: Number of worlds.
        n: Number of agents in each; or give `layout`, which has its own.
        profile: As of `CrafterEnv`; so are the following.
        level: As of `CrafterEnv`.
        obs: What is observed; None for nothing.
        max_steps: As of `CrafterEnv`.
        goal: As of `CrafterEnv`.
        layout: As of `CrafterEnv`.
        render_mode: What `render()` gives for each world.
        pixels: As of `CrafterEnv`.

    Raises:
        CrafterError: An argument is wrong; the message says which and why.
    """

    def __init__(
        self,
        num_envs: int,
        n: int | None = None,
        *,
        profile: str | Profile = "coop",
        level: str | Level | None = None,
        obs: ObservationKind | None = "symbolic",
        max_steps: int = 10000,
        goal: str | Achievement | None = None,
        layout: Layout | None = None,
        render_mode: RenderMode | None = None,
        pixels: int = 64,
    ) -> None:
        if index(num_envs) < 1:
            raise CrafterError(f"num_envs = {num_envs}: a batch has at least 1 world")
        # The single environment checks the arguments and knows the sizes and spaces.
        single = CrafterEnv(
            n, profile=profile, level=level, obs="symbolic" if obs is None else obs, max_steps=max_steps, goal=goal,
            layout=layout, render_mode=render_mode, pixels=pixels,
        )  # fmt: skip
        self.num_envs, self.n, self.size = index(num_envs), single.n, single.size
        self.profile, self.level, self.layout = single.profile, single.level, layout
        self.obs, self.render_mode = obs, render_mode
        agent = single.possible_agents[0]
        self.single_observation_space: Dict = Dict({}) if obs is None else single.observation_space(agent)
        self.single_action_space: Discrete | MultiDiscrete = single.action_space(agent)
        self._engine = Engine(
            self.num_envs, self.n, self.size, profile=self.profile, level=self.level, max_steps=max_steps,
            goal=single.goal, observe=obs in ("symbolic", "both"),
        )  # fmt: skip
        self._painter = Painter(pixels) if obs in ("pixels", "both") else None
        self._begins = np.zeros(self.num_envs, dtype=np.bool_)
        self._over = np.zeros((self.num_envs, self.n), dtype=np.bool_)
        self._seeds: list[int] = []
        self._episodes = [0] * self.num_envs
        self._shown = self._shown_arrays()
        agents = self._engine.worlds.agents
        self._infos = {
            "achievements": _read_only(agents[..., ACHIEVED:GAINED]),
            "step": _read_only(self._engine.worlds.counters[:, STEP]),
        }
        self._ends = tuple(map(_read_only, self._engine.ends))

    def reset(self, *, seed: int | Sequence[int] | None = None) -> tuple[Arrays, Arrays]:
        """Begin an episode in every world.

        Args:
            seed: World i begins its series of episodes at `seed + i`; or one seed for each world. Without one the
                series go on, or begin anywhere.

        Returns:
            Observations and infos.

        Raises:
            CrafterError: The number of seeds is not that of the worlds.
            PlacementError: A world has no room for its agents.
        """
        if seed is None and not self._seeds:
            seed = int(np_random(None)[0].integers(2**31 - 1))
        if seed is not None:
            self._seeds = (
                [int(seed) + world for world in range(self.num_envs)]
                if isinstance(seed, int | np.integer)
                else [int(each) for each in seed]
            )
            self._episodes = [0] * self.num_envs
        if len(self._seeds) != self.num_envs:
            wrong, self._seeds = len(self._seeds), []
            raise CrafterError(f"{wrong} seeds for {self.num_envs} worlds: give one number, or one for each world")
        for world in range(self.num_envs):
            self._begin(world)
        self._engine.show(np.ones(self.num_envs, dtype=np.bool_))
        self._begins[:] = False
        return self._observations(), dict(self._infos)

    def step(
        self, actions: npt.ArrayLike
    ) -> tuple[Arrays, npt.NDArray[np.float64], npt.NDArray[np.bool_], npt.NDArray[np.bool_], Arrays]:
        """Advance every world by one joint action; those whose episode has ended begin another instead.

        Args:
            actions: Integers, shape (num_envs, n), or (num_envs, n, 4) where there is sharing.

        Returns:
            Observations, rewards, terminations, truncations and infos.

        Raises:
            ActionError: The actions are not that; nothing has moved.
            EpisodeError: There was no reset yet.
        """
        if not self._seeds:
            raise EpisodeError("the worlds have no state before the first reset: call reset(seed=...) first")
        joint = check_actions(actions, (self.num_envs, self.n))
        for world in np.flatnonzero(self._begins).tolist():
            self._begin(world)
        self._engine.advance(joint, self._begins)
        rewards, terminations, truncations = self._engine.ends
        self._over |= terminations
        self._over |= truncations
        np.all(self._over, axis=1, out=self._begins)
        rewards, terminations, truncations = self._ends
        return self._observations(), rewards, terminations, truncations, dict(self._infos)

    def crafter_state(self, world: int) -> CrafterState:
        """The live arrays of a world: read them, or `copy()` them; what is written to them is written to the world."""
        return CrafterState.of(self._engine.worlds, world)

    def render(self) -> tuple[str | npt.NDArray[np.uint8], ...]:
        """The map of each world as text or as an image, by `render_mode`.

        Raises:
            CrafterError: The environment was made without a render mode.
        """
        if self.render_mode is None:
            raise CrafterError('this environment has no render mode: CrafterVecEnv(..., render_mode="rgb_array")')
        draw = render_ansi if self.render_mode == "ansi" else render_rgb
        return tuple(draw(self.crafter_state(world)) for world in range(self.num_envs))

    def _begin(self, world: int) -> None:
        self._episodes[world] += 1
        self._engine.begin(world, world_seed(self._seeds[world], self._episodes[world]), self.layout)
        self._over[world] = False

    def _shown_arrays(self) -> Arrays:
        if self.obs not in ("symbolic", "both"):
            return {}
        views = self._engine.views
        return {
            "materials": _read_only(views.materials),
            "entities": _read_only(views.entities),
            "inventory": _read_only(self._engine.worlds.agents[..., INVENTORY:ACHIEVED]),
            "pose": _read_only(views.poses),
            "daylight": _read_only(views.daylight),
        }

    def _observations(self) -> Arrays:
        if self._painter is None:
            return dict(self._shown)
        return {**self._shown, "pixels": self._painter.paint(self._engine.worlds)}


def _read_only(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    view = array.view()
    view.flags.writeable = False
    return view

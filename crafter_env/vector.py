"""Many worlds of one size, stepped in one compiled call."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from copy import deepcopy
from typing import Any, Literal, cast

import numpy as np
import numpy.typing as npt
from gymnasium import Space
from gymnasium.spaces import Box, Dict, Discrete, MultiDiscrete
from gymnasium.utils.seeding import np_random
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space

from crafter_env.engine import Engine
from crafter_env.env import CrafterEnv, ObservationKind
from crafter_env.kernels.arrays import STEP, Ends, MaskArray
from crafter_env.render import Painter, render_ansi
from crafter_env.spaces import check_actions, flat_masks
from crafter_env.state import CrafterState, StateArray, central_states, world_seed
from crafter_env.symbolic.picture import image
from quorum_base.environments.arguments import whole
from quorum_base.environments.batches import Infos, WorldBatch, batch_seeds
from quorum_base.environments.parallel import read_only

Arrays = dict[str, npt.NDArray[Any]]
Flags = npt.NDArray[np.bool_]
_BOUND = ("_shown", "_informed", "_ends", "_ahead", "_drawings", "_thread", "_process")


class CrafterVecEnv(WorldBatch):
    """Many independent worlds with the rules of `CrafterEnv`.

    Seeds and autoreset work as in `WorldBatch`. This is not a `gymnasium.vector.VectorEnv`, because every agent has its
    own reward and end; `CrafterTeamVecEnv` is one, with the reward of the team. An episode ends in the step after which
    all its agents are dead, at the goal or truncated.

    Observation: a dictionary of the arrays of `CrafterEnv`, each with the leading dimensions `(num_envs, n)`; empty
        with `obs=None`.
    Action: integers, `(num_envs, n)`, or `(num_envs, n, 4)` with sharing; an int64 array of the latter shape is taken
        without a copy. Actions of dead agents are ignored, but must be in the action space.
    Reward: float64 `(num_envs, n)`; 0 for dead agents.
    Episode end: `terminations` and `truncations`, bool `(num_envs, n)`, true in the step in which an agent ends.
    Infos: `achievements`, int64 `(num_envs, n, 22)`, `action_mask`, int8 `(num_envs, n, A)`, as in `CrafterEnv`;
        `alive`, bool `(num_envs, n)`, the agents whose episode continues; `step`, int64 `(num_envs,)`. Empty with
        `infos="none"`.
    State: `state()`, float32 `(num_envs, S)`, the states of `CrafterEnv`.

    A thread generates each world's next episode while the current one is played; `close` stops it.

    All arrays belong to the caller. With `copy=False`, all but `pixels` and `alive` are allocated once and returned as
    read-only views that the next step overwrites.

    Example:
        ```python
        envs = CrafterVecEnv(256, n=3)
        observations, infos = envs.reset(seed=0)
        actions = np.random.default_rng(0).integers(17, size=(256, 3))
        observations, rewards, terminations, truncations, infos = envs.step(actions)
        ```

    Args:
        num_envs: Number of worlds.
        n: Number of agents in each world; omit it if you give `layout`, which sets the number.
        obs: Kind of observation; None for nothing.
        pixels: As in `CrafterEnv`.
        infos: `"plain"` or `"none"`.
        copy: Return copies of the arrays.
        autoreset_mode: When the next episode starts: Gymnasium's `AutoresetMode.NEXT_STEP` or `SAME_STEP`.
        arguments: `profile`, `level`, `max_steps`, `goal`, `layout` and `render_mode` of `CrafterEnv`.

    Raises:
        WorldError: An argument is invalid; the message names it and gives the reason.
    """

    def __init__(
        self,
        num_envs: int,
        n: int | None = None,
        *,
        obs: ObservationKind | None = "symbolic",
        pixels: int = 64,
        infos: Literal["none", "plain"] = "plain",
        copy: bool = True,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        **arguments: Any,
    ) -> None:
        single = CrafterEnv(n, obs="symbolic" if obs is None else obs, pixels=pixels, **arguments)
        super().__init__(num_envs, single, infos=infos, copy=copy, autoreset_mode=autoreset_mode)
        self.size, self.profile, self.level, self.layout = single.size, single.profile, single.level, single.layout
        self.obs = obs
        self.possible_agents = single.possible_agents
        agent = single.possible_agents[0]
        self.single_observation_space: Dict = Dict({}) if obs is None else single.observation_space(agent)
        self.single_action_space: Discrete | MultiDiscrete = single.action_space(agent)
        self.single_state_space, self.state_parts = single.state_space, single.state_parts
        self.observation_space = cast(Dict, self._batched(self.single_observation_space))
        self.action_space = cast(MultiDiscrete, self._batched(self.single_action_space))
        self.state_space = cast(Box, batch_space(self.single_state_space, self.num_envs))
        self._engine = Engine(
            self.num_envs, self.n, self.size, profile=self.profile, level=self.level, max_steps=single.max_steps,
            goal=single.goal, observe=obs in ("symbolic", "both"), masks=infos == "plain",
        )  # fmt: skip
        self._painter = Painter(pixels) if obs in ("pixels", "both") else None
        self._over = np.zeros((self.num_envs, self.n), dtype=np.bool_)
        self.ended: Flags = np.zeros(self.num_envs, dtype=np.bool_)
        """Worlds whose episode ended in the last step, bool (num_envs,)."""
        self._episodes = [0] * self.num_envs
        self._bind()

    def _batched(self, space: Space[Any]) -> Space[Any]:
        """Return the space of all agents of all worlds."""
        return batch_space(batch_space(space, self.n), self.num_envs)

    def _bind(self) -> None:
        """Bind the views that every step needs, which copies would freeze; prepare to generate worlds ahead."""
        informed: Arrays = {}
        if self.info_kind == "plain":
            informed = {**self._engine.informed(), "step": self._engine.worlds.counters[:, STEP]}
        self._shown = {key: read_only(array) for key, array in self._engine.seen().items()}
        self._informed = {key: read_only(array) for key, array in informed.items()}
        self._ends = Ends._make(map(read_only, self._engine.ends))
        self._ahead = deepcopy(self._engine)
        self._drawings: dict[int, Future[None]] = {}
        self._thread = ThreadPoolExecutor(1) if self.layout is None else None
        self._process = os.getpid()

    def __getstate__(self) -> dict[str, Any]:
        """Return everything except what `_bind` creates."""
        return {name: value for name, value in vars(self).items() if name not in _BOUND}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._bind()

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[Arrays, Infos]:
        """Start an episode in every world, as `WorldBatch.reset` does; a seed starts a series of episodes."""
        first = super().reset(seed=seed, options=options)
        self.ended = self._begins.copy()
        return first

    def step(self, actions: npt.ArrayLike) -> tuple[Arrays, npt.NDArray[np.float64], Flags, Flags, Infos]:
        """Advance every world by one joint action; worlds with an ended episode start a new one instead.

        Args:
            actions: Integers, shape (num_envs, n), or (num_envs, n, 4) with sharing.

        Returns:
            Observations, rewards, terminations, truncations and infos.

        Raises:
            ActionError: The actions have another shape or type, or are out of range; nothing has moved.
            EpisodeError: The worlds were never reset.
        """
        self._require_state()
        joint = check_actions(actions, (self.num_envs, self.n))
        for world in np.flatnonzero(self._begins).tolist():
            self._begin_unseen(world)
        self._engine.advance(joint, self._begins)
        self._over |= self._engine.ends.terminations
        self._over |= self._engine.ends.truncations
        np.all(self._over, axis=1, out=self._begins)
        self.ended = self._begins.copy()
        final = self._finish()
        ends = Ends._make(end.copy() for end in self._ends) if self.copy else self._ends
        return self._observations(), *ends, self._infos() | final

    def state(self) -> StateArray:
        """Return the states for a central critic, float32 `(num_envs, S)`; see `CrafterEnv.state`.

        Raises:
            EpisodeError: The worlds were never reset.
        """
        self._require_state()
        return central_states(self._engine.worlds)

    def action_masks(self) -> MaskArray:
        """Return the action mask of each agent, int8 `(num_envs, n, A)`.

        Raises:
            EpisodeError: The worlds were never reset.
        """
        self._require_state()
        return self._engine.masks()

    def flat_masks(self) -> MaskArray:
        """Return flat action masks, int8 `(num_envs, n, 17 + 15 n)`; see `crafter_env.spaces`.

        Raises:
            EpisodeError: The worlds were never reset.
        """
        self._require_state()
        return flat_masks(self._engine.worlds, self.profile, self._engine.masks())

    def crafter_state(self, world: int) -> CrafterState:
        """Return the live arrays of a world. Read or `copy()` them; writing to them changes the world."""
        return CrafterState.of(self._engine.worlds, world)

    def close(self) -> None:
        """Stop generating worlds ahead."""
        self._drop_drawings()
        self._thread = None

    def _seed(self, seed: object) -> None:
        if seed is None and not self._streams:
            seed = int(np_random(None)[0].integers(2**31 - 1))
        if seed is not None:
            self._drop_drawings()
            self._streams = [whole("seed", each) for each in batch_seeds(seed, self.num_envs, least=None)]
            self._episodes = [0] * self.num_envs

    def _drop_drawings(self) -> None:
        for drawing in self._drawings.values():
            drawing.cancel()
        self._drawings = {}

    def _begin(self, world: int) -> None:
        self._begin_unseen(world)
        self._engine.show_world(world)

    def _begin_unseen(self, world: int) -> None:
        if self._process != os.getpid():  # forked children do not inherit the thread
            self._drawings, self._thread = {}, None
        self._episodes[world] += 1
        drawing = self._drawings.pop(world, None)
        if drawing is None or drawing.cancel():
            self._engine.begin(world, world_seed(self._streams[world], self._episodes[world]), self.layout)
        else:
            drawing.result()
            self._engine.take(world, self._ahead)
        self._over[world] = False
        if self._thread is not None:
            seed = world_seed(self._streams[world], self._episodes[world] + 1)
            self._drawings[world] = self._thread.submit(self._ahead.begin, world, seed, None)

    def _observations(self) -> Arrays:
        found = self._given(self._shown)
        if self._painter is not None:
            found["pixels"] = self._painter.paint(self._engine.worlds)
        return found

    def _infos(self) -> Infos:
        infos: Infos = self._given(self._informed)
        if self.info_kind == "plain":
            infos["alive"] = ~self._over
        return infos

    def _given(self, arrays: Arrays) -> Arrays:
        return {name: array.copy() for name, array in arrays.items()} if self.copy else arrays.copy()

    def _text(self, world: int) -> str:
        return render_ansi(self.crafter_state(world))

    def _image(self, world: int) -> npt.NDArray[np.uint8]:
        return image(self.crafter_state(world))

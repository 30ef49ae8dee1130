"""The base class of batches of worlds."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, cast

import numpy as np
import numpy.typing as npt
from gymnasium.utils.seeding import np_random
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from quorum_base.environments.actions import IntArray, integers
from quorum_base.environments.arguments import no_render_mode, no_state, one_of, seed_number, whole
from quorum_base.environments.errors import WorldError
from quorum_base.environments.parallel import RETURNED, WorldEnv, batch_metadata, read_only
from quorum_base.environments.spaces import MaskedMultiDiscrete

AUTORESET_MODES = {mode.value: mode for mode in (AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP)}

Infos = dict[str, Any]
Rewards = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]


class WorldBatch(ABC):
    """Worlds of one size and with one team, stepped in one call. Handles seeds, autoreset, copies and rendering.

    World i is bit-identical to the multi-agent environment with the same arguments after `reset(seed=seed + i)`. When
    an episode ends, the next one starts as with that environment's `reset()`, which continues the same random stream.

    Autoreset is either of Gymnasium's modes. `NEXT_STEP`: the step that ends an episode returns its last observation;
    the next step ignores that world's actions, starts its next episode, and returns the first observation with reward
    0. `SAME_STEP`: the step that ends an episode returns the first observation of the next one, and its infos hold
    `final_obs` and `final_info` of the worlds that `_final_obs` marks.

    Copies and unpickled batches continue exactly as the original does.

    Args:
        num_envs: Number of worlds.
        single: The multi-agent environment, which has checked the arguments and knows sizes and spaces.
        infos: `"plain"` or `"none"`.
        copy: Give the caller its own arrays. Otherwise a step may return read-only views of arrays that are allocated
            once, and that the next step overwrites.
        autoreset_mode: Gymnasium's `AutoresetMode.NEXT_STEP` or `SAME_STEP`, or its value.

    Raises:
        WorldError: An argument is wrong; the message says which and why.
    """

    _seeded = staticmethod(lambda seed: np_random(seed)[0])
    """Starts a world's random stream from a seed."""

    def __init__(
        self, num_envs: int, single: WorldEnv[Any, Any], *, infos: str, copy: bool, autoreset_mode: AutoresetMode | str
    ) -> None:
        self.num_envs = whole("num_envs", num_envs, 1)
        self.n = len(single.possible_agents)
        self.render_mode: str | None = one_of("render_mode", single.render_mode, (*RETURNED, None))
        self.info_kind = one_of("infos", infos, ("none", "plain"))
        self.copy = copy
        mode = autoreset_mode.value if isinstance(autoreset_mode, AutoresetMode) else autoreset_mode
        self.autoreset_mode = AUTORESET_MODES[one_of("autoreset_mode", mode, AUTORESET_MODES)]
        self.metadata = {**batch_metadata(single), "autoreset_mode": self.autoreset_mode}
        self._streams: list[Any] = []
        """The random stream of each world; empty before the first reset."""
        self._begins = np.zeros(self.num_envs, dtype=np.bool_)
        """Marks the worlds that start an episode in their next step."""

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[Any, Infos]:
        """Start an episode in every world.

        Args:
            seed: One seed for each world, or one integer: world i starts its random stream from `seed + i`. A world
                without a seed continues its stream; on the first reset it gets a random one.
            options: None are supported.

        Returns:
            Observations and infos.

        Raises:
            WorldError: A seed is not an integer of at least 0, the number of seeds is not the number of worlds, or
                there are options.
            PlacementError: A world has no room for everything to be placed in it.
        """
        if options:
            raise WorldError(f"reset of a batch takes no options, but got {', '.join(map(repr, options))}")
        self._seed(seed)
        for world in range(self.num_envs):
            self._begin(world)
        self._begins[:] = False
        return self._observations(), self._infos()

    def render(self) -> tuple[str | npt.NDArray[np.uint8], ...]:
        """Each world as text or as an image, by `render_mode`.

        Raises:
            WorldError: The environment was made without a render mode.
        """
        if self.render_mode is None:
            raise no_render_mode(self)
        draw = self._text if self.render_mode == "ansi" else self._image
        return tuple(draw(world) for world in range(self.num_envs))

    @abstractmethod
    def _begin(self, world: int) -> None:
        """Start the next episode of a world."""

    @abstractmethod
    def _observations(self) -> Any:
        """The observations of the agents: an array, or a dictionary of arrays."""

    @abstractmethod
    def _infos(self) -> Infos:
        """The infos of all worlds."""

    @abstractmethod
    def _text(self, world: int) -> str:
        """A world as text."""

    @abstractmethod
    def _image(self, world: int) -> npt.NDArray[np.uint8]:
        """A world as an image."""

    def _seed(self, seed: object) -> None:
        going_on = self._streams or [None] * self.num_envs
        self._streams = [
            self._seeded(number) if number is not None or stream is None else stream
            for number, stream in zip(batch_seeds(seed, self.num_envs), going_on, strict=True)
        ]

    def _finish(self) -> Infos:
        """In `SAME_STEP`, keep the final observations of worlds that have ended, and start their next episodes."""
        if self.autoreset_mode is AutoresetMode.NEXT_STEP or not self._begins.any():
            return {}
        ended = self._begins.copy()
        seen, last = self._observations(), np.full(self.num_envs, None, dtype=object)
        final: Infos = {"final_obs": last, "_final_obs": ended}
        if self.info_kind == "plain":
            final["final_info"] = {name: info.copy() for name, info in self._infos().items()}
            final["_final_info"] = ended.copy()
        for world in np.flatnonzero(ended).tolist():
            is_array = isinstance(seen, np.ndarray)
            last[world] = seen[world].copy() if is_array else {name: part[world].copy() for name, part in seen.items()}
            self._begin(world)
        self._begins[:] = False
        return final

    def _own(self, array: npt.NDArray[Any]) -> npt.NDArray[Any]:
        return array.copy() if self.copy else read_only(array)

    def _require_state(self) -> None:
        if not self._streams:
            raise no_state()


class SharedRewardBatch(WorldBatch, VectorEnv[Any, npt.ArrayLike, Any]):
    """Worlds of a `SharedRewardEnv`, as a Gymnasium vector environment: all agents of a world act in every step.

    Args:
        num_envs: See `WorldBatch`.
        single: See `WorldBatch`.
        actions: Number of actions of an agent.
        options: `infos`, `copy` and `autoreset_mode` of `WorldBatch`.
    """

    def __init__(self, num_envs: int, single: WorldEnv[Any, Any], actions: int, **options: Any) -> None:
        super().__init__(num_envs, single, **options)
        self.single_state_space = single.state_space
        self.single_action_space = MaskedMultiDiscrete([actions] * self.n)
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self._rewards = np.zeros(self.num_envs)
        self._terminations = np.zeros(self.num_envs, dtype=np.bool_)
        self._truncations = np.zeros(self.num_envs, dtype=np.bool_)
        self._alive = np.ones((self.num_envs, self.n), dtype=np.bool_)

    def step(self, actions: npt.ArrayLike) -> tuple[Any, Rewards, Flags, Flags, Infos]:
        """Advance every world by one joint action; worlds with an ended episode start a new one instead.

        Args:
            actions: Integers, shape (num_envs, n).

        Returns:
            Observations, rewards, terminations, truncations and infos.

        Raises:
            ActionError: The actions have another shape or type, or are out of range; nothing has moved.
            EpisodeError: The worlds were never reset.
        """
        self._require_state()
        self._advance(integers(actions, (self.num_envs, self.n)), actions)
        for world in np.flatnonzero(self._begins).tolist():
            self._begin(world)
        np.logical_or(self._terminations, self._truncations, out=self._begins)
        final = self._finish()
        ends = self._own(self._rewards), self._own(self._terminations), self._own(self._truncations)
        return self._observations(), *ends, self._infos() | final

    @abstractmethod
    def _advance(self, joint: IntArray, given: npt.ArrayLike, /) -> None:
        """Advance the worlds that do not start an episode; write rewards, terminations and truncations of all.

        Args:
            joint: The actions, (num_envs, n).
            given: The actions as the caller gave them, for messages.
        """

    @abstractmethod
    def _plain_infos(self) -> Infos:
        """The infos of all worlds as arrays, without those that all worlds have."""

    def _infos(self) -> Infos:
        return {**self._plain_infos(), "alive": self._own(self._alive)} if self.info_kind == "plain" else {}


def batch_seeds(seed: object, num_envs: int, least: int | None = 0) -> list[int | None]:
    """Return one seed for each world of a batch: its own seed, or `seed + i`.

    Raises:
        WorldError: A seed is not an integer, or below `least`; or there are more or fewer seeds than worlds.
    """
    if np.ndim(seed) == 0:  # type: ignore[arg-type] # None is allowed for here
        first = seed_number(seed, least)
        return [None if first is None else first + world for world in range(num_envs)]
    seeds = [seed_number(number, least) for number in cast("Sequence[object]", seed)]
    if len(seeds) != num_envs:
        raise WorldError(f"{len(seeds)} seeds for {num_envs} worlds: give one number, or one for each world")
    return seeds

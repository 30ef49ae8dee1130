"""The open world as a PettingZoo parallel environment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from math import fsum
from typing import Any, ClassVar, Literal, cast

import numpy as np
import numpy.typing as npt
from gymnasium.spaces import Box, Dict, Discrete, MultiDiscrete, flatten_space
from gymnasium.utils.seeding import np_random

from crafter_env.alteration import altered, same
from crafter_env.constants import COLLECT, Achievement
from crafter_env.engine import AREA, Engine
from crafter_env.kernels.arrays import Ends, MaskArray
from crafter_env.layout import Layout
from crafter_env.profiles import Level, Profile, Spawn, find_level, find_profile
from crafter_env.render import Painter, render_ansi
from crafter_env.spaces import (
    OBSERVATIONS,
    AgentAction,
    action_space,
    check_actions,
    flat_masks,
    observation_space,
    read_actions,
)
from crafter_env.state import CrafterState, Outcome, StateArray, central_states, state_parts, world_seed
from crafter_env.symbolic.picture import image
from quorum_base.environments.arguments import layout_option, no_state, one_of, whole
from quorum_base.environments.errors import WorldError
from quorum_base.environments.parallel import InfoKind, Infos, RenderMode, Step, WorldEnv, metadata, read_only

Observation = dict[str, npt.NDArray[Any]]


ObservationKind = Literal["symbolic", "pixels", "both"]


@dataclass(frozen=True, slots=True)
class SavedEnv:
    """A saved moment of an environment, for `CrafterEnv.load`; treat it as opaque."""

    state: CrafterState
    seed: int
    episode: int
    agents: tuple[str, ...]


class CrafterEnv(WorldEnv[Dict, Discrete | MultiDiscrete]):
    """Agents gather, craft and survive in Crafter's world; some resources require several agents.

    With `profile="crafter"` and a seed, this environment reproduces PyPI `crafter` 1.8.3 cell by cell and step by step
    (with its pictures off, because their noise draws from the world's generator, and its chunks in insertion order).

    Observation: a dictionary of arrays that belong to the caller. With `copy=False` they are read-only, and the next
        step overwrites them, except pictures. With `obs="symbolic"`: `materials` and `entities`, uint8 (9, 7), indexed
        `[x, y]`, the cells around the agent, 0 off the map and on empty cells; `inventory`, int64 (16,), by `Item`;
        `pose`, int64 (5,): x, y, facing x, facing y, sleeping; `daylight`, float32 (1,). With `obs="pixels"`: `pixels`,
        uint8 (height, width, 3). With `obs="both"`: all of them.
    Action: an integer, see `Action`. If the profile allows sharing, also four integers: the action, then recipient,
        item and quantity of a `share` (`crafter_env.share` builds them).
    Reward: individual: a tenth of the agent's change of health, plus 1 in a step in which it reaches an achievement for
        the first time.
    Episode end: an agent with health 0 is terminated, and its body leaves the map. All living agents are terminated
        when one reaches the goal, and truncated at `max_steps`.
    Infos: `achievements`, int64 (22,), by `Achievement`; `action_mask`, int8, 1 for each possible action: `(17,)`, or
        with sharing the masks of the four numbers one after the other. Empty with `infos="none"`. With
        `infos="symbolic"` they are replaced by `symbolic`, the agent's `LocalView`, and `report`, its `Outcome`, None
        after a reset.
    State: `state()` is one vector with the map, the clock, and every agent's position, needs, bag and achievements;
        `state_parts` names its parts.
    Copies: `copy.deepcopy`, pickles, and `save()` continue exactly like the original.

    Example:
        ```python
        env = CrafterEnv(n=3, level="medium")
        observations, infos = env.reset(seed=0)
        while env.agents:
            actions = {agent: env.action_space(agent).sample() for agent in env.agents}
            observations, rewards, terminations, truncations, infos = env.step(actions)
        ```

    Args:
        n: Number of agents; omit it if you give `layout`, which sets the number.
        profile: Switches of the rules: `"crafter"`, `"coop"`, `"coop2"`, or a `Profile`.
        level: How many agents must cooperate: the name of a level, or a `Level`; by default the profile's own.
        obs: Kind of observation.
        max_steps: Steps after which an episode is truncated.
        goal: Name of the achievement that ends an episode when an agent reaches it; None for an open episode.
        layout: The world of every episode; by default each is generated, 64 x 64 cells.
        render_mode: `"human"`: every reset and step writes the text of the map to the terminal. Otherwise `render()`
            returns that text (`"ansi"`) or uint8 `(height, width, 3)` (`"rgb_array"`).
        pixels: Edge length of an observed picture.
        infos: Content of the infos: `"plain"` arrays, `"none"`, or `"symbolic"`.
        copy: Return copies of the arrays.

    Raises:
        WorldError: An argument is invalid; the message names it and gives the reason.
    """

    metadata: ClassVar[dict[str, Any]] = metadata("crafter_v0", 10)

    def __init__(
        self,
        n: int | None = None,
        *,
        profile: str | Profile = "coop",
        level: str | Level | None = None,
        obs: ObservationKind = "symbolic",
        max_steps: int = 10000,
        goal: str | Achievement | None = None,
        layout: Layout | None = None,
        render_mode: RenderMode | None = None,
        pixels: int = 64,
        infos: InfoKind = "plain",
        copy: bool = True,
    ) -> None:
        self.profile = find_profile(profile)
        self.level = find_level(level, self.profile)
        self.layout = layout
        self.n = _team_size(n, layout, self.profile)
        self.size = AREA if layout is None else layout.size
        self.obs = one_of("obs", obs, OBSERVATIONS)
        self.max_steps = whole("max_steps", max_steps, 1)
        self.goal = _find_goal(goal)
        pixels = whole("pixels", pixels)
        seen = observation_space(obs, self.profile, self.size, pixels)
        super().__init__(
            self.n, seen, lambda: action_space(self.profile, self.n), render_mode=render_mode, infos=infos, copy=copy
        )
        self._index = {name: i for i, name in enumerate(self.possible_agents)}
        self._painter = Painter(pixels) if obs != "symbolic" else None
        self.state_parts = state_parts(self.size, self.n, self.profile.item_cap, self.max_steps)
        self.state_space = cast(Box, flatten_space(self.state_parts))
        self._engine = Engine(
            1, self.n, self.size, profile=self.profile, level=self.level, max_steps=self.max_steps, goal=self.goal,
            observe=obs != "pixels", masks=infos == "plain",
        )  # fmt: skip
        self._state = CrafterState.of(self._engine.worlds, 0)
        self._seed: int | None = None
        self._episode = 0
        self._bind()

    def _bind(self) -> None:
        """Bind the views of the engine's arrays that every step needs; copied views would no longer update."""
        self._state.world = CrafterState.of(self._engine.worlds, 0).world
        self._ends = Ends._make(array[0] for array in self._engine.ends)
        # Slicing an array takes as long as copying it, so keep the slices that every step needs.
        self._seen = {key: array[0] for key, array in self._engine.seen().items()}
        self._informed = {key: array[0] for key, array in self._engine.informed().items()}
        self._live_seen = {key: list(map(read_only, array)) for key, array in self._seen.items()}
        self._live_informed = {key: list(map(read_only, array)) for key, array in self._informed.items()}

    def __getstate__(self) -> dict[str, Any]:
        """Return everything except the views."""
        return {name: value for name, value in vars(self).items() if name not in _VIEWS}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._bind()

    def reset(
        self, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[dict[str, Observation], Infos]:
        """Start an episode.

        Args:
            seed: Starts a series of episodes, numbered from 1. Without a seed the series continues, or starts at
                random. The world of an episode depends only on seed and number.
            options: `{"layout": Layout(...)}` sets the world of this episode.

        Returns:
            Observations and infos by agent.

        Raises:
            WorldError: The seed is not an integer, or the layout has a different size or number of agents.
            PlacementError: The world has no room for the agents.
        """
        layout = self._layout_option(options) or self.layout
        if seed is None and self._seed is None:
            seed = int(np_random(None)[0].integers(2**31 - 1))
        if seed is not None:
            self._seed, self._episode = whole("seed", seed), 0
        assert self._seed is not None
        self._episode += 1
        self._engine.begin(0, world_seed(self._seed, self._episode), layout)
        self._engine.show_world(0)
        self.agents = self.possible_agents[:]
        self._show()
        return self._observations(self.agents), self._infos(self.agents)

    def limit(self, max_steps: int) -> None:
        """Truncate episodes after `max_steps` steps from now on, including the current one."""
        self.max_steps = max_steps
        self._engine.limit(max_steps)

    def step(self, actions: Mapping[str, AgentAction]) -> Step:
        """Advance by one joint action.

        Args:
            actions: One action for every living agent, by name; actions of dead agents are ignored.

        Returns:
            Observations, rewards, terminations, truncations and infos of the agents that acted.

        Raises:
            ActionError: A living agent has no valid action, or a name is unknown; nothing has moved.
            EpisodeError: No episode is running.
        """
        self._require_running()
        acting = self.agents
        rewards, terminated, truncated = self._advance(read_actions(actions, self._index, acting))
        self._show()
        index = self._index
        return (
            self._observations(acting),
            {name: rewards[index[name]] for name in acting},
            {name: terminated[index[name]] for name in acting},
            {name: truncated[index[name]] for name in acting},
            self._infos(acting),
        )

    def step_array(self, actions: npt.ArrayLike) -> Ends:
        """Advance by one joint action without building the dictionaries of `step`.

        Args:
            actions: Integers, shape (n,), or (n, 4) with sharing, by agent index. Actions of dead agents are ignored,
                but must be in the action space.

        Returns:
            Rewards, terminations and truncations, each of shape (n,); the next step overwrites them.

        Raises:
            ActionError: The actions have another shape or type, or are out of range; nothing has moved.
            EpisodeError: No episode is running.
        """
        self._require_running()
        self._advance(check_actions(np.asarray(actions)[None], (1, self.n)))
        return self._ends

    def state(self) -> StateArray:
        """Return the state for a central critic, float32, in `state_space`; also after the end of the episode.

        Hidden counters are excluded: time until hunger, age of a plant, time until a monster strikes again.

        Raises:
            EpisodeError: The environment was never reset.
        """
        self._require_state()
        states: StateArray = central_states(self._engine.worlds)[0]
        return states

    def action_masks(self) -> dict[str, MaskArray]:
        """Return the action mask of each living agent, by name; see the infos of the class.

        Raises:
            EpisodeError: The environment was never reset.
        """
        self._require_state()
        masks = self._engine.masks()[0]
        return {name: masks[self._index[name]] for name in self.agents}

    def flat_masks(self) -> MaskArray:
        """Return flat action masks, int8 `(n, 17 + 15 n)`; see `crafter_env.spaces`.

        Raises:
            EpisodeError: The environment was never reset.
        """
        self._require_state()
        masks: MaskArray = flat_masks(self._engine.worlds, self.profile, self._engine.masks())[0]
        return masks

    @property
    def crafter_state(self) -> CrafterState:
        """The live arrays. Read or `copy()` them; writing to them changes the world.

        Raises:
            EpisodeError: The environment was never reset.
        """
        self._require_state()
        return self._state

    def outcome(self, agent: str) -> Outcome:
        """Return the outcome of an agent's action in the last step."""
        return self.crafter_state.outcome(self._index[agent])

    @property
    def score(self) -> float:
        """The team's points: for every unit collected by an agent in the episode, the points set by the level."""
        return team_score(self.crafter_state, self.level)

    def save(self) -> SavedEnv:
        """Save this moment of the environment, including its series of episodes; later steps do not affect it."""
        state = self.crafter_state.copy()
        assert self._seed is not None
        return SavedEnv(state, self._seed, self._episode, tuple(self.agents))

    def load(self, saved: SavedEnv) -> None:
        """Restore a saved moment of this environment or of one made with the same arguments.

        Raises:
            WorldError: The moment has a different size or number of agents.
        """
        self._state.restore(saved.state)
        self._seed, self._episode = saved.seed, saved.episode
        self.agents = list(saved.agents)
        self._engine.show_world(0)

    def change(self, changes: Mapping[str, Any]) -> bool:
        """Change parts of the world between two steps; see `crafter_env.alteration`.

        Returns:
            Whether anything changed.

        Raises:
            WorldError: The changes are malformed or the resulting state is impossible; nothing has changed.
            EpisodeError: No episode is running.
        """
        self._require_running()
        now = altered(self._state, changes, self.profile.item_cap)
        if same(self._state, now):
            return False
        self._state.restore(now)
        self._engine.show_world(0)
        return True

    def _advance(self, joint: npt.NDArray[np.int64]) -> tuple[list[float], list[bool], list[bool]]:
        """Take a step; return rewards, terminations and truncations by agent index."""
        self._engine.advance(joint, _NONE)
        ends = self._ends
        terminated, truncated = ends.terminations.tolist(), ends.truncations.tolist()
        if True in terminated or True in truncated:
            index = self._index
            self.agents = [name for name in self.agents if not (terminated[index[name]] or truncated[index[name]])]
        return ends.rewards.tolist(), terminated, truncated

    def _observations(self, names: Sequence[str]) -> dict[str, Observation]:
        found = self._by_agent(self._seen, self._live_seen)
        if self._painter is not None:
            pictures = self._painter.paint(self._engine.worlds)[0]
            for name, picture in zip(self._index, pictures, strict=True):
                found[name]["pixels"] = picture
        return _only(names, found)

    def _infos(self, names: Sequence[str]) -> Infos:
        if self.info_kind == "none":
            return {name: {} for name in names}
        if self.info_kind == "symbolic":
            state, index, started = self._state, self._index, self._state.step > 0
            return {
                name: {"symbolic": state.view(index[name]), "report": state.outcome(index[name]) if started else None}
                for name in names
            }
        return _only(names, self._by_agent(self._informed, self._live_informed))

    def _by_agent(self, arrays: Observation, live: Mapping[str, Sequence[Any]]) -> dict[str, dict[str, Any]]:
        """Return the rows of arrays by agent name, as copies or live views."""
        columns = {key: array.copy() for key, array in arrays.items()} if self.copy else live
        return {name: {key: column[agent] for key, column in columns.items()} for name, agent in self._index.items()}

    def _text(self) -> str:
        return render_ansi(self.crafter_state)

    def _image(self) -> npt.NDArray[np.uint8]:
        return image(self.crafter_state)

    def _layout_option(self, options: Mapping[str, Any] | None) -> Layout | None:
        layout = layout_option(options, Layout)
        if layout is not None and (layout.size, len(layout.agents)) != (self.size, self.n):
            raise WorldError(
                f'options["layout"] has {layout.size} cells and {len(layout.agents)} agents, but this environment has '
                f"{self.size} and {self.n}: make another with CrafterEnv(layout=...)"
            )
        return layout

    def _require_state(self) -> None:
        if self._seed is None:
            raise no_state()


_VIEWS = ("_ends", "_seen", "_informed", "_live_seen", "_live_informed")
"""Arrays of the engine that `CrafterEnv` copies again."""
_NONE = np.zeros(1, dtype=np.bool_)


def _only(names: Sequence[str], found: dict[str, Any]) -> dict[str, Any]:
    return found if len(names) == len(found) else {name: found[name] for name in names}


def _team_size(n: object, layout: Layout | None, profile: Profile) -> int:
    """Return the number of agents, as given or from the layout.

    Raises:
        WorldError: Both or neither are given, there are no agents, or more than the profile has room for.
    """
    if (n is None) == (layout is None):
        raise WorldError("CrafterEnv takes exactly one of n and layout: CrafterEnv(n=3)")
    agents = len(layout.agents) if layout is not None else whole("n", n)
    if agents < 1:
        raise WorldError(f"n = {agents}: a team has at least 1 agent")
    if agents > 1 and layout is None and profile.spawn == Spawn.centre:
        raise WorldError(
            f"n = {agents} with profile {profile.name!r}, whose agent starts in the middle of the map: there is room "
            'for one; choose profile "coop" or another spawn'
        )
    return agents


def _find_goal(goal: str | Achievement | None) -> Achievement | None:
    """Return the achievement with this name.

    Raises:
        WorldError: Unknown name; the message suggests the closest name and lists all.
    """
    if goal is None or isinstance(goal, Achievement):
        return goal
    if goal in Achievement.__members__:
        return Achievement[goal]
    near = get_close_matches(goal, Achievement.__members__, n=1)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    raise WorldError(f"goal = {goal!r} is not an achievement.{hint} They are {', '.join(Achievement.__members__)}.")


def team_score(state: CrafterState, level: Level) -> float:
    """Return the team's points: for every unit collected by an agent in the episode, the points set by the level."""
    agents = len(state.achievements)
    return fsum(
        level.score(material, agents) * float(state.achievements[:, recipe.achievement].sum())
        for material, recipe in COLLECT.items()
    )

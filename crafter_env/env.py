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
    """A moment of an environment, for `CrafterEnv.load`; treat it as opaque."""

    state: CrafterState
    seed: int
    episode: int
    agents: tuple[str, ...]


class CrafterEnv(WorldEnv[Dict, Discrete | MultiDiscrete]):
    """Agents gather, craft and survive in Crafter's world; some resources take several of them.

    With `profile="crafter"` and a seed this is, cell by cell and step by step, what PyPI `crafter` 1.8.3 gives for it
    (its pictures off, whose noise draws from the world's generator, and its chunks in the order of insertion).

    Observation: a dictionary of arrays of the caller's own; with `copy=False` they are read-only, and the next step
        overwrites them, except pictures. With `obs="symbolic"`: `materials` and `entities`, uint8
        (9, 7), indexed `[x, y]`, the cells around the agent, 0 off the map and where nothing stands; `inventory`,
        int64 (16,), by `Item`; `pose`, int64 (5,): x, y, facing x, facing y, sleeping; `daylight`, float32 (1,). With
        `obs="pixels"`: `pixels`, uint8 (height, width, 3). With `obs="both"`: all of them.
    Action: an integer, see `Action`; where the profile allows sharing also four: the action, and the recipient, item
        and quantity of a `share` (`crafter_env.share` builds them).
    Reward: each agent's own: a tenth of its change of health, and 1 in a step in which it reaches an achievement for
        the first time.
    Episode end: an agent whose health is 0 is terminated, and its body leaves the map. All living agents are
        terminated when one reaches the goal, and truncated at `max_steps`.
    Infos: `achievements`, int64 (22,), by `Achievement`; `action_mask`, int8, 1 for what the agent can do: `(17,)`, or
        where there is sharing the masks of the four numbers one after the other. None of them with `infos="none"`. With
        `infos="symbolic"`, in their place: `symbolic`, the agent's `LocalView`, and `report`, its `Outcome`, None
        after a reset.
    State: `state()` is one vector with the map, the clock, and every agent's place, needs, bag and achievements;
        `state_parts` names its parts.
    Copies: `copy.deepcopy`, pickles, and `save()` go on exactly as the original does.

    Example:
        ```python
        env = CrafterEnv(n=3, level="medium")
        observations, infos = env.reset(seed=0)
        while env.agents:
            actions = {agent: env.action_space(agent).sample() for agent in env.agents}
            observations, rewards, terminations, truncations, infos = env.step(actions)
        ```

    Args:
        n: Number of agents; or give `layout`, which has its own.
        profile: Switches of the rules: `"crafter"`, `"coop"`, `"coop2"`, or a `Profile`.
        level: How many agents must cooperate: the name of a level, or a `Level`; by default the profile's own.
        obs: What is observed.
        max_steps: Steps after which an episode is truncated.
        goal: The achievement that ends an episode when an agent reaches it, by name; None for an open episode.
        layout: The world of every episode; by default it is generated, 64 x 64 cells.
        render_mode: `"human"`: every reset and step write the text of the map to the terminal. Or what `render()`
            returns: `"ansi"` that text, or `"rgb_array"`, uint8 `(height, width, 3)`.
        pixels: Along an edge of an observed picture.
        infos: What infos hold: `"plain"` arrays, `"none"`, or `"symbolic"`.
        copy: Give the caller its own arrays.

    Raises:
        WorldError: An argument is wrong; the message says which and why.
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
        """Take the views of the engine's arrays that every step needs; copies of views would be frozen."""
        self._state.world = CrafterState.of(self._engine.worlds, 0).world
        self._ends = Ends._make(array[0] for array in self._engine.ends)
        # To slice an array takes as long as to copy it, so the slices of every step are kept.
        self._seen = {key: array[0] for key, array in self._engine.seen().items()}
        self._informed = {key: array[0] for key, array in self._engine.informed().items()}
        self._live_seen = {key: list(map(read_only, array)) for key, array in self._seen.items()}
        self._live_informed = {key: list(map(read_only, array)) for key, array in self._informed.items()}

    def __getstate__(self) -> dict[str, Any]:
        """All but the views."""
        return {name: value for name, value in vars(self).items() if name not in _VIEWS}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._bind()

    def reset(
        self, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[dict[str, Observation], Infos]:
        """Begin an episode.

        Args:
            seed: Begins a series of episodes, the first of which has number 1; without one the series goes on, or
                begins anywhere. The world of an episode depends on seed and number alone.
            options: `{"layout": Layout(...)}` gives this episode's world.

        Returns:
            Observations and infos by agent.

        Raises:
            WorldError: The seed is no integer, or the layout is of another size or another number of agents.
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
        """Truncate episodes after so many steps from now on, this one among them."""
        self.max_steps = max_steps
        self._engine.limit(max_steps)

    def step(self, actions: Mapping[str, AgentAction]) -> Step:
        """Advance by one joint action.

        Args:
            actions: One action for every living agent, by name; those of dead agents are not read.

        Returns:
            Observations, rewards, terminations, truncations and infos of the agents that acted.

        Raises:
            ActionError: Not one action of the action space for every living agent; nothing has moved.
            EpisodeError: There is no running episode.
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
            actions: Integers, shape (n,), or (n, 4) where there is sharing, by agent index; those of the dead are
                not read, but must be of the action space.

        Returns:
            Rewards, terminations and truncations, each of shape (n,); the next step overwrites them.

        Raises:
            ActionError: The actions are not that; nothing has moved.
            EpisodeError: There is no running episode.
        """
        self._require_running()
        self._advance(check_actions(np.asarray(actions)[None], (1, self.n)))
        return self._ends

    def state(self) -> StateArray:
        """The state for a central critic, float32, of `state_space`; also after the end of the episode.

        Hidden counters are not in it: how near hunger is, how old a plant, how long until a monster strikes again.

        Raises:
            EpisodeError: There was no reset yet.
        """
        self._require_state()
        states: StateArray = central_states(self._engine.worlds)[0]
        return states

    def action_masks(self) -> dict[str, MaskArray]:
        """What each living agent can do now, by name; see the infos of the class.

        Raises:
            EpisodeError: There was no reset yet.
        """
        self._require_state()
        masks = self._engine.masks()[0]
        return {name: masks[self._index[name]] for name in self.agents}

    def flat_masks(self) -> MaskArray:
        """What each agent can do now as one number, int8 `(n, 17 + 15 n)`; see `crafter_env.spaces`.

        Raises:
            EpisodeError: There was no reset yet.
        """
        self._require_state()
        masks: MaskArray = flat_masks(self._engine.worlds, self.profile, self._engine.masks())[0]
        return masks

    @property
    def crafter_state(self) -> CrafterState:
        """The live arrays: read them, or `copy()` them; what is written to them is written to the world.

        Raises:
            EpisodeError: There was no reset yet.
        """
        self._require_state()
        return self._state

    def outcome(self, agent: str) -> Outcome:
        """What came of an agent's action in the last step."""
        return self.crafter_state.outcome(self._index[agent])

    @property
    def score(self) -> float:
        """Points of the team: for every unit that an agent has collected in the episode, what its level says."""
        return team_score(self.crafter_state, self.level)

    def save(self) -> SavedEnv:
        """This moment of the environment, independent of what follows; also of its series of episodes."""
        state = self.crafter_state.copy()
        assert self._seed is not None
        return SavedEnv(state, self._seed, self._episode, tuple(self.agents))

    def load(self, saved: SavedEnv) -> None:
        """Return to a saved moment of this environment or of one made with the same arguments.

        Raises:
            WorldError: The moment is of another size or another number of agents.
        """
        self._state.restore(saved.state)
        self._seed, self._episode = saved.seed, saved.episode
        self.agents = list(saved.agents)
        self._engine.show_world(0)

    def change(self, changes: Mapping[str, Any]) -> bool:
        """Change parts of the world between two steps: see `crafter_env.alteration`.

        Returns:
            Whether anything changed.

        Raises:
            WorldError: They cannot be read, or there can be no such state; nothing has changed.
            EpisodeError: There is no running episode.
        """
        self._require_running()
        now = altered(self._state, changes, self.profile.item_cap)
        if same(self._state, now):
            return False
        self._state.restore(now)
        self._engine.show_world(0)
        return True

    def _advance(self, joint: npt.NDArray[np.int64]) -> tuple[list[float], list[bool], list[bool]]:
        """Take a step; give rewards, terminations and truncations by agent index."""
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
        """The rows of arrays by the names of the agents, copies or live views."""
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
                f'options["layout"] has {layout.size} cells and {len(layout.agents)} agents, this environment '
                f"{self.size} and {self.n}: make another with CrafterEnv(layout=...)"
            )
        return layout

    def _require_state(self) -> None:
        if self._seed is None:
            raise no_state()


_VIEWS = ("_ends", "_seen", "_informed", "_live_seen", "_live_informed")
"""What `CrafterEnv` copies again from the arrays of its engine."""
_NONE = np.zeros(1, dtype=np.bool_)


def _only(names: Sequence[str], found: dict[str, Any]) -> dict[str, Any]:
    return found if len(names) == len(found) else {name: found[name] for name in names}


def _team_size(n: object, layout: Layout | None, profile: Profile) -> int:
    """Number of agents: as given, or those of the layout.

    Raises:
        WorldError: Not exactly one of the two, no agents, or more than the profile has room for.
    """
    if (n is None) == (layout is None):
        raise WorldError("CrafterEnv takes exactly one of n and layout: CrafterEnv(n=3)")
    agents = len(layout.agents) if layout is not None else whole("n", n)
    if agents < 1:
        raise WorldError(f"n = {agents}: a team has at least 1 agent")
    if agents > 1 and layout is None and profile.spawn == Spawn.centre:
        raise WorldError(
            f"n = {agents} with profile {profile.name!r}, whose agent begins in the middle of the map: it has room for "
            'one; choose profile "coop" or another spawn'
        )
    return agents


def _find_goal(goal: str | Achievement | None) -> Achievement | None:
    """The achievement of a name.

    Raises:
        WorldError: There is none of this name; the message names the nearest and all.
    """
    if goal is None or isinstance(goal, Achievement):
        return goal
    if goal in Achievement.__members__:
        return Achievement[goal]
    near = get_close_matches(goal, Achievement.__members__, n=1)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    raise WorldError(f"goal = {goal!r} is no achievement.{hint} They are {', '.join(Achievement.__members__)}.")


def team_score(state: CrafterState, level: Level) -> float:
    """Points of a team: for every unit that an agent has collected in the episode, what the level says."""
    agents = len(state.achievements)
    return fsum(
        level.score(material, agents) * float(state.achievements[:, recipe.achievement].sum())
        for material, recipe in COLLECT.items()
    )

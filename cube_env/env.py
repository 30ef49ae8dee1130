"""The block-pushing grid world as a PettingZoo parallel environment."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from gymnasium.spaces import Box, Discrete

from cube_env.alteration import altered
from cube_env.arrays import CHANNELS, ActionArray
from cube_env.constants import Action
from cube_env.generator import place
from cube_env.layout import Layout
from cube_env.observation import COUNTS, HISTORY_LENGTH, HistoryEntry, SymbolicObservation, observe
from cube_env.scenario import Scenario, curriculum
from cube_env.state import CubeState, Snapshot, StepReport, render_ansi
from cube_env.symbolic.picture import image
from cube_env.views import MaskArray, action_masks
from quorum_base.environments import actions as checks
from quorum_base.environments.actions import integers
from quorum_base.environments.arguments import agent_name, finite, layout_option, no_state, whole
from quorum_base.environments.errors import ActionError, WorldError
from quorum_base.environments.parallel import InfoKind, Infos, RenderMode, SharedRewardEnv, Step, metadata, read_only


def observation_space(side: int, agents: int) -> Box:
    """Bounds for every layout of this size: block weights are at most the side, and block ids less than its cells."""
    high = np.empty((side, side, CHANNELS), dtype=np.float32)
    high[...] = (1, side, 1, agents, side * side)
    return Box(np.zeros_like(high), high, dtype=np.float32)


_NAMES = tuple(action.name for action in Action)


def read_actions(actions: Mapping[str, int], names: Mapping[str, object]) -> ActionArray:
    """The actions of the named agents, shape (n,), in the order of `names`; the kernel checks their range.

    Raises:
        ActionError: An agent's action is missing or not an integer, or a name is unknown; the message names the agent.
    """
    given = checks.in_order(actions, names)
    try:
        # Fastest conversion of any integer type to an array; it rejects floats.
        packed = bytes(given)
    except (TypeError, ValueError):
        packed = bytes(checks.numbers(actions, names, _NAMES))  # raises the error that names the agent
    return np.frombuffer(packed, dtype=np.uint8).astype(np.int64)


def wrong_action(who: str, action: object) -> ActionError:
    """The error for an action out of range."""
    return checks.wrong_action(who, action, _NAMES)


def _as_symbolic(action: Action) -> HistoryEntry:
    """A primitive as the symbolic action that it carries out: a `move` of a step, which succeeds even if blocked."""
    name, args = ("idle", {}) if action is Action.STAY else ("move", {"direction": action.name.lower()})
    return HistoryEntry(name, {**args, "steps": 1}, (int(action),), "success")


Observation = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class SavedEnv:
    """A saved moment of an environment, for `CubeEnv.load`; treat it as opaque."""

    state: CubeState
    report: StepReport | None
    running: bool
    generator: Mapping[str, Any]
    past: tuple[ActionArray, ...]


class CubeEnv(SharedRewardEnv[Box, Discrete]):
    """Agents push blocks into the goal column; a block moves if enough agents push together.

    Observation: float32 `(K, K, 5)`, indexed `[row, col]`: agent mask; weight of the block; goal mask; agent index + 1;
        block id + 1. All agents see the same board, so each step returns one fresh, read-only array that they share:
        keep it as long as you like; to modify it, use `numpy.array(observation)`. With `copy=False` the array is a live
        view, which later steps overwrite.
    Action: `Discrete(5)`: `0 STAY, 1 UP, 2 DOWN, 3 LEFT, 4 RIGHT`.
    Reward: for every agent `-step_cost + sum(deliver_reward * weight of blocks delivered in this step) / n`.
    Episode end: terminated when no block is left, else truncated at `max_steps`; for all agents at once.
    Infos: `action_mask`, int8 (5,), see `action_masks`; and `step`, `blocks_left` and `delivered_weight` (of the last
        step), int. Empty with `infos="none"`. With `infos="symbolic"` they are replaced by `symbolic`, the agent's
        `SymbolicObservation`, whose history has its last primitives as `move` and `idle`; and `report`, the step's
        `StepReport`, None after a reset.

    Example:
        ```python
        env = CubeEnv(n=2)
        observations, infos = env.reset(seed=0)
        while env.agents:
            actions = {agent: env.action_space(agent).sample() for agent in env.agents}
            observations, rewards, terminations, truncations, infos = env.step(actions)
        ```

    Args:
        n: The curriculum's single integer. Give exactly one of `n`, `scenario` and `layout`.
        scenario: Side, agents and blocks; each reset draws a layout.
        layout: The layout of every episode.
        max_steps: Steps after which an episode is truncated.
        step_cost: Cost of a step for every agent.
        deliver_reward: Reward per unit of delivered weight, shared by the agents.
        render_mode: `"human"`: every reset and step writes the text of the world to the terminal. Otherwise `render()`
            returns that text (`"ansi"`) or uint8 `(height, width, 3)` (`"rgb_array"`).
        infos: Content of the infos: `"plain"` numbers and arrays, `"none"`, or `"symbolic"`.
        copy: Return a fresh array at each step (1.3 MB at n = 256) instead of a live view.

    Raises:
        WorldError: An argument is invalid; the message names it and gives the reason.
    """

    metadata: ClassVar[dict[str, Any]] = metadata("cube_v0", 10)

    def __init__(
        self,
        n: int | None = None,
        *,
        scenario: Scenario | None = None,
        layout: Layout | None = None,
        max_steps: int = 500,
        step_cost: float = 0.01,
        deliver_reward: float = 1.0,
        render_mode: RenderMode | None = None,
        infos: InfoKind = "plain",
        copy: bool = True,
    ) -> None:
        if sum(argument is not None for argument in (n, scenario, layout)) != 1:
            raise WorldError("CubeEnv takes exactly one of n, scenario and layout: CubeEnv(n=8)")
        self.scenario = curriculum(n) if n is not None else scenario
        self.layout = layout
        self.max_steps = whole("max_steps", max_steps, 1)
        self.step_cost = finite("step_cost", step_cost)
        self.deliver_reward = finite("deliver_reward", deliver_reward)
        if self.scenario is not None:
            self.side, agents, self.blocks = self.scenario.side, self.scenario.agents, len(self.scenario.weights)
        else:
            assert layout is not None
            self.side, agents, self.blocks = layout.side, len(layout.agents), len(layout.blocks)
        self.state_space = observation_space(self.side, agents)
        super().__init__(
            agents, self.state_space, lambda: Discrete(len(Action)), render_mode=render_mode, infos=infos, copy=copy
        )
        self._names = dict.fromkeys(self.possible_agents)
        self._state: CubeState | None = None
        self._seen: SymbolicObservation | None = None
        """The symbolic observation of an outside observer between two steps, with the parts that agents share."""
        self._past: deque[ActionArray] = deque(maxlen=HISTORY_LENGTH if infos == "symbolic" else 0)
        """The last joint actions, for the history of symbolic infos."""

    def reset(
        self, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[dict[str, Observation], Infos]:
        """Start an episode.

        Args:
            seed: Restarts the stream that layouts are drawn from. Without a seed the stream continues, or starts at
                random.
            options: `{"layout": Layout(...)}` sets the layout of this episode; it draws nothing from the stream.

        Returns:
            Observations and infos by agent.

        Raises:
            WorldError: The layout has a different side or number of agents, or the seed is not an integer >= 0.
            PlacementError: The scenario does not fit its grid.
        """
        layout = self._layout_option(options) or self.layout
        generator = self._stream(seed)
        if layout is None:
            assert self.scenario is not None
            layout = place(self.scenario, generator)
        self._state = CubeState.from_layout(layout, observed=True)
        self.report = self._seen = None
        self._past.clear()
        return self._started()

    def step(self, actions: Mapping[str, int]) -> Step:
        """Advance by one joint action.

        Args:
            actions: One action per agent, by name.

        Returns:
            Observations, rewards, terminations, truncations and infos by agent; also complete at the last step.

        Raises:
            ActionError: An agent has no action in 0..4, or a name is unknown; nothing has moved.
            EpisodeError: No episode is running.
        """
        self._require_running()
        report = self._advance(read_actions(actions, self._names))
        return self._stepped(report.reward, terminated=report.terminated, truncated=report.truncated)

    def step_array(self, actions: npt.ArrayLike) -> StepReport:
        """Advance by one joint action without building the dictionaries of `step`.

        Args:
            actions: Shape (n,), integers 0..4, by agent index.

        Raises:
            ActionError: The actions have another shape or type, or are out of range; nothing has moved.
            EpisodeError: No episode is running.
        """
        self._require_running()
        return self._advance(integers(actions, (len(self._names),)).copy())

    def state(self) -> Observation:
        """Return a copy of the multi-channel observation; also after the end of the episode."""
        return self.cube_state.channels.copy()

    def action_masks(self) -> dict[str, MaskArray]:
        """Return int8 (5,) for each agent: 0 for an action that equals STAY whatever the others do.

        These are a step off the grid and a step into a block heavier than the whole team. `Discrete.sample` accepts the
        mask.
        """
        return dict(zip(self._names, action_masks(self.cube_state.world), strict=True))

    def snapshot(self) -> Snapshot:
        """Return an immutable snapshot of the state."""
        return self.cube_state.snapshot()

    @property
    def cube_state(self) -> CubeState:
        """The live arrays. Read them or `copy()` them to roll forward; writing to them breaks the episode.

        Raises:
            EpisodeError: The environment was never reset.
        """
        if self._state is None:
            raise no_state()
        return self._state

    def symbolic_observation(
        self, index: int | None, history: tuple[HistoryEntry, ...] | None = None
    ) -> SymbolicObservation:
        """Return the symbolic observation of one agent.

        Args:
            index: The agent's index; None for an outside observer.
            history: The agent's recent symbolic actions, which the symbolic layer keeps; None: with symbolic infos its
                last primitives, else none.
        """
        if self._seen is None:
            self._seen = observe(self.cube_state, self.max_steps)
        seen = self._seen
        if index is not None and not 0 <= index < len(seen.agents):
            raise WorldError(f"no agent has index {index}; indices are 0 to {len(seen.agents) - 1}")
        name, cell = (agent_name(index), seen.agents[index]) if index is not None else ("", None)
        if history is None:
            history = tuple(_as_symbolic(Action(actions[index])) for actions in self._past) if index is not None else ()
        return SymbolicObservation(  # much faster than `dataclasses.replace`
            seen.side, seen.goal_col, seen.step, seen.max_steps, name, cell, seen.agents, seen.blocks, history
        )

    def save(self) -> SavedEnv:
        """Save this moment of the environment, including its stream of layouts; later steps do not affect it."""
        state = self.cube_state
        assert self._generator is not None
        generator = self._generator.bit_generator.state
        return SavedEnv(state.copy(), self.report, bool(self.agents), generator, tuple(self._past))

    def load(self, saved: SavedEnv) -> None:
        """Restore a saved moment of this environment or of one made with the same arguments.

        Raises:
            WorldError: The moment has a different side or number of agents.
        """
        self._check_size(saved.state.side, len(saved.state.agents), "the saved state")
        if self._state is not None and self._state.fits(saved.state):
            self._state.restore(saved.state)
        else:
            self._state = saved.state.copy(observed=True)
        self._seen = None
        self._past.clear()
        self._past.extend(saved.past)
        if self._generator is None:
            self._generator = np.random.default_rng(0)
        self._generator.bit_generator.state = saved.generator
        self.report = saved.report
        self.agents = self.possible_agents[:] if saved.running else []

    def limit(self, max_steps: int) -> None:
        """Truncate episodes after `max_steps` steps from now on, including the current one.

        Raises:
            WorldError: The number is not positive.
        """
        self.max_steps = whole("max_steps", max_steps, 1)
        self._seen = None

    def change(self, changes: Mapping[str, Any], heaviest: int | None = None) -> bool:
        """Change parts of the board between two steps; see `cube_env.alteration`.

        Args:
            changes: The changes.
            heaviest: Largest weight allowed for a block; None: any.

        Returns:
            Whether anything changed.

        Raises:
            WorldError: The changes are malformed or the resulting board is impossible; nothing has changed.
            EpisodeError: No episode is running.
        """
        self._require_running()
        before, now = self.cube_state, altered(self.cube_state, changes, heaviest)
        if before.fits(now) and before.snapshot() == now.snapshot():
            return False
        before.become(now)
        self._seen = None
        return True

    def _advance(self, actions: ActionArray) -> StepReport:
        state = self.cube_state
        wrong = state.advance(actions)
        if wrong >= 0:
            raise wrong_action(agent_name(wrong), int(actions[wrong]))
        self._seen = None
        self._past.append(actions)
        self.report = report = StepReport(
            state,
            actions,
            step_cost=self.step_cost,
            deliver_reward=self.deliver_reward,
            max_steps=self.max_steps,
        )
        if report.terminated or report.truncated:
            self.agents = []
        return report

    def _observations(self) -> dict[str, Observation]:
        channels = self.cube_state.channels
        return dict.fromkeys(self._names, read_only(channels.copy() if self.copy else channels))

    def _plain_infos(self) -> Infos:
        counters = self.cube_state.world.counters.tolist()
        counts = {key: counters[column] for key, column in COUNTS.items()}
        masks = action_masks(self.cube_state.world)
        return {name: {**counts, "action_mask": mask} for name, mask in zip(self._names, masks, strict=True)}

    def _text(self) -> str:
        """The board as text; `Layout.parse` can read it as long as no block is delivered."""
        return render_ansi(self.snapshot())

    def _image(self) -> npt.NDArray[np.uint8]:
        """The board as an image, with the pushes of the last step."""
        return image(self.snapshot(), self.report.pushes if self.report is not None else ())

    def _layout_option(self, options: Mapping[str, Any] | None) -> Layout | None:
        layout = layout_option(options, Layout)
        if layout is not None:
            self._check_size(layout.side, len(layout.agents), 'options["layout"]')
        return layout

    def _check_size(self, side: int, agents: int, what: str) -> None:
        if (side, agents) != (self.side, len(self.possible_agents)):
            raise WorldError(
                f"{what} has side {side} and {agents} agents, but this environment has side {self.side} and "
                f"{len(self.possible_agents)} agents: make another with CubeEnv(layout=...)"
            )

"""The Gaussian squeeze as a PettingZoo parallel environment."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt
from gymnasium.spaces import Box, Dict, Discrete

from llamac_env.squeeze.game import HIGHEST, Game, altered, draw_game, make_game, render_ansi
from llamac_env.squeeze.observation import Round, SqueezeObservation
from llamac_env.squeeze.symbolic.picture import image
from quorum_base.environments.actions import numbers
from quorum_base.environments.arguments import no_state, one_of, whole
from quorum_base.environments.errors import ActionError
from quorum_base.environments.parallel import InfoKind, Infos, RenderMode, SharedRewardEnv, Step, metadata
from quorum_base.environments.spaces import masked_observation

Observation = dict[str, npt.NDArray[Any]]
Seers = Literal["coordinator", "all", "nobody"]

ROUNDS = 30
"""Rounds of an episode."""
PUBLISHED_RHO = 0.5
"""Position of the peak, as a share of the largest sum."""
SEERS: tuple[Seers, ...] = ("coordinator", "all", "nobody")
"""Who sees the individual picks of a round: an outside observer, the agents as well, or neither."""
LISTED = 10
"""Largest team whose picks are listed individually."""
HINT = "The reward rises with the sum to one peak and falls beyond it."
"""Hint about the reward for agents that get one."""


class SqueezeEnv(SharedRewardEnv[Dict, Discrete]):
    """N agents pick integers whose sum should hit the peak of a curve that they do not know.

    Observation: a dictionary per agent. `observation`: float32 `(2,)`: its own last pick and the last reward of the
        system, -1 and 0 before the first round. `action_mask`: int8 `(10,)`, all 1, because every pick is always
        possible.
    Action: `Discrete(10)`, the pick.
    Reward: for every agent `R(x)`, the reward of the system.
    Episode end: truncated after the last round, for all agents at once; it never terminates.
    Infos: `round`, the rounds played, and `sum`, the sum of the last picks, 0 before the first round. Empty with
        `infos="none"`. With `infos="symbolic"` they are replaced by `symbolic`, the agent's `SqueezeObservation`, and
        `report`, the last `Round` with all picks, None after a reset. The action mask is in the observation.
    State: `state()`, float32 `(n + 3,)`: the last picks, -1 before the first round; the last reward; the rounds played;
        and `rho`, which no agent observes.
    Copies: all arrays belong to the caller; with `copy=False` they are read-only. `copy.deepcopy` and pickles continue
        exactly like the original.

    Example:
        ```python
        env = SqueezeEnv(5)
        observations, infos = env.reset(seed=0)
        while env.agents:
            actions = {agent: env.action_space(agent).sample() for agent in env.agents}
            observations, rewards, terminations, truncations, infos = env.step(actions)
        ```

    Args:
        n: Number of agents; published for 3, 5, 10, 20 and 50.
        rho: Position of the peak, as a share of the largest sum; None: each reset draws it from 0.25 to 0.75. Ignored
            if `mu` is given.
        mu: Centre of the curve, a sum; None: `rho * 9 n`.
        sigma: Width of the curve, at least 0.1; None: `mu / 2`.
        picks: Who sees the individual picks of a round in symbolic observations: an outside observer (`"coordinator"`),
            the agents as well (`"all"`), or `"nobody"`. An outside observer always sees sum and mean; agents see them
            with `"all"`.
        listed: Largest team whose picks are listed; larger teams show only sum and mean.
        hint: Whether symbolic observations say that the reward has one peak. They never say where it is.
        rounds: Rounds of an episode.
        render_mode: `"human"`: every reset and step writes the text of the world to the terminal. Otherwise `render()`
            returns that text (`"ansi"`) or uint8 `(height, width, 3)` (`"rgb_array"`).
        infos: Content of the infos: `"plain"` numbers, `"none"`, or `"symbolic"`.
        copy: Return copies of the arrays.

    Raises:
        WorldError: An argument is invalid; the message names it and gives the reason.
    """

    metadata: ClassVar[dict[str, Any]] = metadata("squeeze_v0", 2)

    def __init__(
        self,
        n: int,
        *,
        rho: float | None = PUBLISHED_RHO,
        mu: float | None = None,
        sigma: float | None = None,
        picks: Seers = "coordinator",
        listed: int = LISTED,
        hint: bool = False,
        rounds: int = ROUNDS,
        render_mode: RenderMode | None = None,
        infos: InfoKind = "plain",
        copy: bool = True,
    ) -> None:
        self.n = whole("n", n, 1)
        make_game(self.n, rho=rho if rho is not None else PUBLISHED_RHO, mu=mu, sigma=sigma)  # reject invalid arguments
        self.rho, self.mu, self.sigma = rho, mu, sigma
        self.seers = one_of("picks", picks, SEERS)
        self.listed = whole("listed", listed, 1)
        self.hint = HINT if hint else ""
        self.rounds = whole("rounds", rounds, 1)
        spaces = masked_observation(Box(-1, HIGHEST * self.n, (2,), dtype=np.float32), HIGHEST + 1)
        low = np.array([*(-1,) * self.n, 0, 0, 0], dtype=np.float32)
        high = np.array([*(HIGHEST,) * self.n, HIGHEST * self.n, self.rounds, 1], dtype=np.float32)
        self.state_space = Box(low, high, dtype=np.float32)
        super().__init__(self.n, spaces, lambda: Discrete(HIGHEST + 1), render_mode=render_mode, infos=infos, copy=copy)
        self._game: Game | None = None
        self._played: list[tuple[Game, tuple[int, ...]]] = []
        """The game of each round, which differs after a change from outside, and the picks by agent."""
        self._rounds: dict[int | None, list[Round]] = {}

    def reset(
        self,
        seed: int | None = None,
        options: Mapping[str, Any] | None = None,  # noqa: ARG002 (PettingZoo's signature)
    ) -> tuple[dict[str, Observation], Infos]:
        """Start an episode.

        Args:
            seed: Restarts the stream that `rho` is drawn from. Without a seed the stream continues, or starts at
                random.
            options: Not used.

        Returns:
            Observations and infos by agent.

        Raises:
            WorldError: The seed is not an integer >= 0.
        """
        self._game = draw_game(self.n, self.rho, self._stream(seed), mu=self.mu, sigma=self.sigma)
        self._played, self._rounds = [], {}
        return self._started()

    def step(self, actions: Mapping[str, int]) -> Step:
        """Play a round.

        Args:
            actions: One pick per agent, by name; the order of the names does not matter.

        Returns:
            Observations, rewards, terminations, truncations and infos by agent; also complete at the last round.

        Raises:
            ActionError: An agent has no pick in 0..9, or a name is unknown; nothing has happened.
            EpisodeError: No episode is running.
        """
        reward = self.play(numbers(actions, self.possible_agents, HIGHEST + 1))
        return self._stepped(reward, terminated=False, truncated=not self.agents)

    def play(self, picks: list[int]) -> float:
        """Play a round with the picks by agent index, and return the reward.

        Raises:
            ActionError: An agent has no pick in 0..9.
            EpisodeError: No episode is running.
        """
        self._require_running()
        for agent, pick in enumerate(picks):
            if not 0 <= pick <= HIGHEST:
                raise ActionError(f"agent_{agent}: {pick} is not a valid pick; picks are 0 to {HIGHEST}")
        self._played.append((self.game, tuple(picks)))
        if len(self._played) >= self.rounds:
            self.agents = []
        return self.game.reward(sum(picks))

    def change(self, changes: Mapping[str, Any]) -> bool:
        """Give the coming rounds another curve; see `llamac_env.squeeze.game.altered`. Past rewards do not change.

        Returns:
            Whether anything changed.

        Raises:
            WorldError: The curve is invalid; nothing has changed.
            EpisodeError: No episode is running.
        """
        self._require_running()
        before, self._game = self.game, altered(self.game, changes)
        return self._game != before

    @property
    def game(self) -> Game:
        """The game of the coming round.

        Raises:
            EpisodeError: The environment was never reset.
        """
        if self._game is None:
            raise no_state()
        return self._game

    @property
    def picks(self) -> tuple[tuple[int, ...], ...]:
        """The picks of each round played, by agent."""
        return tuple(picks for _, picks in self._played)

    @property
    def sums(self) -> tuple[int, ...]:
        """The sum of the picks of each round played."""
        return tuple(sum(picks) for _, picks in self._played)

    @property
    def played(self) -> tuple[tuple[Game, int], ...]:
        """The game and the sum of the picks of each round played."""
        return tuple((game, sum(picks)) for game, picks in self._played)

    def symbolic_observation(self, index: int | None) -> SqueezeObservation:
        """Return an agent's observation; None: that of an outside observer."""
        rounds_ = self._rounds.setdefault(index, [])
        rounds_ += [self._round(number, index) for number in range(len(rounds_), len(self._played))]
        name = self.possible_agents[index] if index is not None else ""
        return SqueezeObservation(self.n, HIGHEST, len(self._played), self.rounds, name, tuple(rounds_), self.hint)

    def _round(self, number: int, agent: int | None) -> Round:
        """Return what a participant knows of a round."""
        game, picks = self._played[number]
        total = sum(picks)
        own, reward = picks[agent] if agent is not None else None, game.reward(total)
        if agent is not None and self.seers != "all":
            return Round(own, reward, sum=None, mean=None, picks=())
        listed = picks if self.seers != "nobody" and self.n <= self.listed else ()
        return Round(own, reward, total, total / self.n, listed)

    @property
    def report(self) -> Round | None:
        """Return the complete last round; None before the first."""
        if not self._played:
            return None
        _, picks = self._played[-1]
        return Round(None, self.last_reward(), sum(picks), sum(picks) / self.n, picks)

    def state(self) -> npt.NDArray[np.float32]:
        """Return the full state as a copy; see the class."""
        return np.array([*self._last_picks(), self.last_reward(), len(self._played), self.game.rho], dtype=np.float32)

    def action_masks(self) -> dict[str, npt.NDArray[np.int8]]:
        """Return each agent's action mask, int8 `(10,)`, by name; every action is possible."""
        return {name: np.ones(HIGHEST + 1, dtype=np.int8) for name in self.agents}

    def last_reward(self) -> float:
        """Return the reward of the last round; 0 before the first."""
        if not self._played:
            return 0.0
        game, picks = self._played[-1]
        return game.reward(sum(picks))

    def last_share(self) -> float:
        """Return the reward of the last round as a share of the best possible one; 0 before the first."""
        return self.last_reward() / self._played[-1][0].best_reward if self._played else 0.0

    def _last_picks(self) -> tuple[int, ...]:
        return self._played[-1][1] if self._played else (-1,) * self.n

    def _observations(self) -> dict[str, Observation]:
        seen = np.empty((self.n, 2), dtype=np.float32)
        seen[:, 0], seen[:, 1] = self._last_picks(), self.last_reward()
        return self._masked(seen, np.ones((self.n, HIGHEST + 1), dtype=np.int8))

    def _plain_infos(self) -> Infos:
        team = {"round": len(self._played), "sum": sum(self._last_picks()) if self._played else 0}
        return {name: dict(team) for name in self.possible_agents}

    def _text(self) -> str:
        return render_ansi(self.game, self.played)

    def _image(self) -> npt.NDArray[np.uint8]:
        return image(self.rounds, self.game, self._played)

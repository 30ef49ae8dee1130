"""Adapter that connects the Gaussian squeeze to the main loop."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field, PositiveInt

from llamac_env.squeeze.env import Seers, SqueezeEnv
from llamac_env.squeeze.game import CLOSE, HIGHEST, NARROWEST, render_ansi
from llamac_env.squeeze.observation import SqueezeObservation
from llamac_env.squeeze.symbolic.picture import canvas, draw
from maeil.acting import end_of
from maeil.actions import SymbolicAction, Vocabulary
from maeil.component import Component, ComponentConfig
from maeil.controllers import Repeat
from maeil.plans import Plan, Task
from maeil.tasks import Attempt, OpenTask, Tasks, TaskState, no_such_task
from maeil.world import Progress, Transition, World
from quorum_base.drawing import Canvas, Drawing


class Pick(SymbolicAction):
    """Pick an integer for one round."""

    phrase: ClassVar[str] = "pick {units}"
    action: Literal["pick"] = "pick"
    units: Annotated[int, Field(ge=0, le=HIGHEST)]


VOCABULARY = Vocabulary(Pick)


_TASK = Task("allocate", "system")
_GOOD_SUM = "a sum that pays 95 % of the best reward"


class SqueezeText(BaseModel):
    """How much of the rounds a prompt shows: the values of `env.text`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    max_agents: PositiveInt
    """Largest team whose picks are listed individually; larger teams show only sum and mean."""


class SqueezeConfig(ComponentConfig):
    """Configuration of the squeeze."""

    name: Literal["squeeze"]
    n: Annotated[int, Field(ge=1, le=1024)]
    """Number of agents."""
    rho: Annotated[float, Field(gt=0, le=1)] | None
    """Position of the peak, as a share of the largest sum; null: drawn from 0.25 to 0.75 by the seed. Ignored if `mu`
    is given."""
    max_steps: PositiveInt
    """Rounds of an episode."""
    mu: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None
    """Centre of the curve, a sum; null: `rho * 9 n`."""
    sigma: Annotated[float, Field(ge=NARROWEST, allow_inf_nan=False)] | None
    """Width of the curve; null: `mu / 2`."""
    picks: Seers
    """Who sees the individual picks of a round: `coordinator`, `all` or `nobody`."""
    hint: bool
    """Whether agents learn that the reward has one peak. They never learn where it is."""
    text: SqueezeText
    """How much of the rounds a prompt shows."""


class SqueezeWorld(World):
    """The squeeze as a world of the main loop.

    Implements `Changeable` of `maeil.world` and `Drawable` of `quorum_base.drawing`.

    A primitive is a pick. The single goal counts as reached while the last round paid at least 95 % of the best reward.
    An episode always plays all its rounds, so it is finished if its last round reached the goal. The score is R / R* of
    the last round.

    Args:
        config: team, curve, rounds, and what agents see of them.

    Raises:
        WorldError: the curve is invalid.
    """

    name = "squeeze"
    vocabulary = VOCABULARY

    def __init__(self, config: SqueezeConfig, _context: None = None) -> None:
        self.env = SqueezeEnv(
            config.n,
            rho=config.rho,
            mu=config.mu,
            sigma=config.sigma,
            picks=config.picks,
            listed=config.text.max_agents,
            hint=config.hint,
            rounds=config.max_steps,
            infos="none",
        )
        self.agents: tuple[str, ...] = tuple(self.env.possible_agents)
        self.idle: SymbolicAction = Pick(units=0)
        self._facts = {
            "rounds": config.max_steps,
            "highest_pick": HIGHEST,
            "picks": config.picks,
            "max_agents": config.text.max_agents,
            "hint": config.hint,
        }
        self._told: TaskState | None = None

    def reset(self, seed: int) -> Mapping[str, Any]:
        """Make the game for a seed."""
        self.env.reset(seed=seed)
        self._told = None
        game = self.env.game
        return {
            "agents": game.agents,
            "rho": game.rho,
            "mu": game.mu,
            "sigma": game.sigma,
            "best_x": game.best_x,
            "best_reward": game.best_reward,
            "max_steps": self.env.rounds,
        }

    def limit(self, max_steps: int) -> None:
        """Play `max_steps` rounds; implements `maeil.world.Limited`."""
        self.env.rounds = max_steps
        self._facts = {**self._facts, "rounds": max_steps}

    def observe(self, agent: int) -> SqueezeObservation:
        """Return an agent's observation: its own picks and the rewards, plus what `env.picks` adds."""
        return self.env.symbolic_observation(agent)

    def global_observation(self) -> SqueezeObservation:
        """Return the sums, the rewards and, if visible, the picks, for a participant without a body."""
        return self.env.symbolic_observation(None)

    def check_plan(self, agent: int, plan: Plan) -> tuple[str, ...]:
        """Reject only unknown tasks: no state rules out a pick."""
        return () if plan.task in (None, _TASK) else (no_such_task(plan.task, self.tasks(agent)),)

    def tasks(self, agent: int | None, text: str = "") -> Tasks:  # noqa: ARG002 (always the same)
        """Return the single task."""
        return {_TASK.kind: [_TASK.target]}

    def prompt_facts(self) -> Mapping[str, Any]:
        """Return the number of rounds, the possible picks, and what agents see of the picks and the reward."""
        return self._facts

    def start_action(self, agent: int, action: SymbolicAction) -> Repeat:  # noqa: ARG002
        """Start a symbolic action."""
        if not isinstance(action, Pick):
            raise TypeError(f"the squeeze has no controller for {type(action).__name__}")
        return Repeat(action.units, 1)

    def step(self, joint: Sequence[int]) -> Transition:
        """Play a round."""
        reward = self.env.play(list(joint))
        share = reward / self.env.game.best_reward
        over = not self.env.agents
        close = share >= CLOSE
        outcome = {"what": "round", "x": sum(joint), "reward": reward, "share": share}
        everybody = tuple(range(len(joint)))
        end = end_of(success=over and close, truncated=over)
        return Transition((outcome,), reward, end, (Attempt(_TASK, everybody, close),))

    def change(self, changes: Mapping[str, Any]) -> None:
        """Give the coming rounds another curve, by `mu` or `rho`, and `sigma`; past rewards do not change.

        Raises:
            WorldError: the curve is invalid; the message names the place.
        """
        self.env.change(changes)

    def constraints(self, joint: Sequence[int], plans: Sequence[Plan | None]) -> Sequence[TaskState]:  # noqa: ARG002
        """Return the single task: all agents take part; it depends on their sum paying 95 % of the best reward."""
        n = len(joint)
        game = self.env.game
        state = TaskState(_TASK, n, n, n, n, n, game.reward(sum(joint)) >= CLOSE * game.best_reward)
        if state == self._told:
            return ()
        self._told = state
        return (state,)

    def open_tasks(self, plans: Sequence[Plan | None], text: str = "") -> Sequence[OpenTask]:  # noqa: ARG002 (all are shown)
        """Return the single task: it requires all agents, and a round that pays 95 % of the best reward."""
        planned = tuple(agent for agent, plan in enumerate(plans) if plan is not None)
        missing = () if self.progress().reached else ((_GOOD_SUM, 1),)
        return (OpenTask(_TASK, len(self.agents), 0, planned=planned, missing=missing),)

    def distance(self, agent: int, other: int) -> None:  # noqa: ARG002
        """Return None: the agents have no positions."""
        return

    def progress(self) -> Progress:
        """Return the result of the last round."""
        share = self.env.last_share()
        return Progress(int(share >= CLOSE), 1, share)

    def ansi(self) -> str:
        """Draw the rounds as text."""
        return render_ansi(self.env.game, self.env.played)

    def canvas(self) -> Canvas:
        """Return the frame of the chart."""
        return canvas(self.env.rounds)

    def draw(self) -> Drawing:
        """Draw the rounds played."""
        env = self.env
        played = [(game, picks) for (game, _), picks in zip(env.played, env.picks, strict=True)]
        return draw(env.rounds, env.game, played)

    def primitive_name(self, primitive: int) -> str:
        """Return the name of a primitive."""
        return f"pick {primitive}"


component = Component(SqueezeConfig, SqueezeWorld)

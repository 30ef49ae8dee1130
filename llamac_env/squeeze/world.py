"""The Gaussian squeeze joined to the loop."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, PositiveInt, ValidationInfo, model_validator

from llamac_env.squeeze.env import LISTED, Seers, SqueezeEnv
from llamac_env.squeeze.game import CLOSE, HIGHEST, NARROWEST, Game
from llamac_env.squeeze.observation import SqueezeObservation
from llamac_env.squeeze.render import render_ansi
from maeil.actions import SymbolicAction, Vocabulary
from maeil.component import Component, ComponentConfig, needs_keys
from maeil.controllers import Repeat
from maeil.drawing import Canvas, Drawing, Mark, MarkKind, Shape, Texture
from maeil.plans import Plan, Task
from maeil.tasks import Attempt, OpenTask, TaskState
from maeil.world import Progress, Transition


class Pick(SymbolicAction):
    """Pick an integer for one round."""

    phrase: ClassVar[str] = "pick {units}"
    action: Literal["pick"] = "pick"
    units: Annotated[int, Field(ge=0, le=HIGHEST)]


VOCABULARY = Vocabulary(Pick)


_PAST, _LAST, _BEST, _SHARE = range(4)
KINDS = (
    MarkKind("sum of a round", "#a9c9e3", "#2c5878"),
    MarkKind("sum of this round", "#0072b2", "#56b4e9", texture=Texture.DOTS),
    MarkKind("sum that pays most", "#009e73", "#2fc79b", texture=Texture.STRIPES),
    MarkKind("reward, as a share of the best", "#d55e00", "#ff8c3a", Shape.DIAMOND),
)
_ASPECT = 0.7
"""Height of the chart, as a share of its width."""
_THIN = 0.006
"""Height of a line, as a share of the chart's."""
_SMALLEST = 10
"""Cells of the chart's width, at least."""


def canvas(rounds: int) -> Canvas:
    """Return the frame of the chart: a cell of width for each round."""
    width = max(rounds, _SMALLEST)
    return Canvas(width, round(width * _ASPECT), KINDS, ruled=False)


class Chart:
    """The rounds of a game so far: sums as bars, rewards as diamonds over them, the best sum as a line.

    The marks of past rounds stay the same objects, so that who compares two drawings skips them at once.

    Args:
        game: that is played.
        length: rounds of the episode.
    """

    def __init__(self, game: Game, length: int) -> None:
        self._game = game
        self._frame = canvas(length)
        self._slot = self._frame.width / length
        self._top = 0.9 * self._frame.height / game.highest
        self._marks = {"best": self._best()}
        self._picks: Sequence[int] = ()
        self._share = 0.0
        self.rounds = 0
        """Those that have been added."""

    def _best(self) -> Mark:
        best, thin = self._game.best_x, _THIN * self._frame.height
        line = self._frame.height - best * self._top - thin / 2
        return Mark(_BEST, 0, line, self._frame.width, thin, title=f"best sum {best}")

    def show(self, game: Game) -> None:
        """Draw the best sum of the game that the coming round has."""
        if game != self._game:
            self._game = game
            self._marks["best"] = self._best()

    def add(self, game: Game, picks: Sequence[int]) -> None:
        """Take in the next round: its game, and the picks by agent."""
        if self.rounds:
            name = f"sum {self.rounds - 1}"
            self._marks[name] = replace(self._marks[name], kind=_PAST)
        x, number = sum(picks), self.rounds
        self._share = share = game.reward(x) / game.best_reward
        height, edge = x * self._top, 0.5 * self._slot
        self._marks[f"sum {number}"] = Mark(
            _LAST, (number + 0.1) * self._slot, self._frame.height - height, 0.8 * self._slot, height,
            label=str(x), title=f"round {number}: sum {x}",
        )  # fmt: skip
        self._marks[f"share {number}"] = Mark(
            _SHARE, (number + 0.25) * self._slot, self._frame.height * (1 - 0.9 * share) - edge / 2, edge, edge,
            title=f"round {number}: reward {share:.1%} of the best",
        )  # fmt: skip
        self._picks = picks
        self.rounds += 1

    def drawing(self) -> Drawing:
        """Draw the rounds that have been added."""
        marks = dict(self._marks)
        if not self.rounds:
            return Drawing(b"", marks, "no round played yet")
        caption = f"sum {sum(self._picks)}, reward {self._share:.1%} of the best"
        return Drawing(b"", marks, caption, tuple(f"picked {pick}" for pick in self._picks))


_TASK = Task("allocate", "system")
_GOOD_SUM = "a sum that pays 95 % of the best reward"


class SqueezeText(BaseModel):
    """How much of the rounds a prompt shows: the values of `env.text`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    max_agents: PositiveInt
    """Agents up to which the picks of a round are listed one by one; of larger teams the sum and the mean alone."""


class SqueezeConfig(ComponentConfig):
    """Configuration of the squeeze."""

    name: Literal["squeeze"]
    n: Annotated[int, Field(ge=1, le=1024)]
    """Number of agents."""
    rho: Annotated[float, Field(gt=0, le=1)] | None
    """Where the peak is, as a share of the largest sum; null: drawn from 0.25 to 0.75 by the seed. Not used where `mu`
    is given."""
    max_steps: PositiveInt
    """Rounds of an episode."""
    # Recorded values of versions before 0.11 may leave out what follows.
    mu: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None = None
    """Centre of the curve, a sum; null: `rho * 9 n`."""
    sigma: Annotated[float, Field(ge=NARROWEST, allow_inf_nan=False)] | None = None
    """Its width; null: `mu / 2`."""
    picks: Seers = "coordinator"
    """Who sees the picks of a round one by one: `coordinator`, `all` or `nobody`."""
    hint: bool = False
    """Whether agents learn that the reward has one peak. They never learn where it is."""
    text: SqueezeText = SqueezeText(max_agents=LISTED)
    """How much of the rounds a prompt shows."""

    @model_validator(mode="after")
    def _has_all_keys(self, info: ValidationInfo) -> Self:
        needs_keys(self, info, "mu", "sigma", "picks", "hint", "text")
        return self


class SqueezeWorld:
    """The squeeze as the loop sees it.

    It fulfils `World`, `TellsOpenTasks` and `Changeable` of `maeil.world`, and `Drawable` of `maeil.drawing`.

    A primitive is a pick. The one goal is reached while the last round paid at least 95 % of the best reward, so the
    episode, which always plays all its rounds, is finished when its last round did. The score is R / R* of the last
    round.

    Args:
        config: team, curve, rounds, and what agents see of them.

    Raises:
        WorldError: the curve cannot be.
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
        """Make the game of a seed."""
        self.env.reset(seed=seed)
        self._told = None
        game = self.env.game
        self._chart = Chart(game, self.env.rounds)
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
        """Play so many rounds: fulfils `maeil.world.Limited`."""
        self.env.rounds = max_steps
        self._facts = {**self._facts, "rounds": max_steps}
        if self.env.agents:
            self._chart = Chart(self.env.game, max_steps)

    def observe(self, agent: int) -> SqueezeObservation:
        """Return what an agent sees: its own picks and the rewards, and more where `env.picks` says so."""
        return self.env.symbolic_observation(agent)

    def global_observation(self) -> SqueezeObservation:
        """Return the sums and the rewards, and the picks where they are seen, for a participant without a body."""
        return self.env.symbolic_observation(None)

    def check_plan(self, agent: int, plan: Plan) -> tuple[str, ...]:  # noqa: ARG002 (a pick has only its range)
        """Nothing in the state makes a pick impossible."""
        return ()

    def prompt_facts(self) -> Mapping[str, Any]:
        """Return the number of rounds, what may be picked, and what agents see of the picks and the reward."""
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
        return Transition((outcome,), reward, over and close, over and not close, (Attempt(_TASK, everybody, close),))

    def change(self, changes: Mapping[str, Any]) -> None:
        """Give the coming rounds another curve, by `mu` or `rho`, and `sigma`; past rounds paid what they paid.

        Raises:
            WorldError: there is no such curve; the message names the place.
        """
        self.env.change(changes)

    def constraints(self, joint: Sequence[int]) -> Sequence[TaskState]:
        """Return the one task: all agents take part, and its dependency is that their sum pays 95 % of the best."""
        n = len(joint)
        game = self.env.game
        state = TaskState(_TASK, n, n, n, n, n, game.reward(sum(joint)) >= CLOSE * game.best_reward)
        if state == self._told:
            return ()
        self._told = state
        return (state,)

    def open_tasks(self, plans: Sequence[Plan | None]) -> Sequence[OpenTask]:
        """Return the one task: it takes all, and until a round has paid 95 % of the best reward that is missing."""
        planned = tuple(agent for agent, plan in enumerate(plans) if plan is not None)
        missing = () if self.progress().reached else ((_GOOD_SUM, 1),)
        return (OpenTask(_TASK, len(self.agents), 0, planned=planned, missing=missing),)

    def distance(self, agent: int, other: int) -> None:  # noqa: ARG002
        """Return None: the agents are nowhere."""
        return

    def progress(self) -> Progress:
        """Return how the last round did."""
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
        env, known = self.env, self._chart.rounds
        for (game, _), picks in zip(env.played[known:], env.picks[known:], strict=True):
            self._chart.add(game, picks)
        self._chart.show(env.game)
        return self._chart.drawing()

    def primitive_name(self, primitive: int) -> str:
        """Return the name of a primitive."""
        return f"pick {primitive}"


component = Component(SqueezeConfig, SqueezeWorld)

"""The contract of a world: the interface between the loop and an environment."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar, runtime_checkable

from maeil.acting import Primitive
from maeil.actions import ActionStatus, SymbolicAction, Vocabulary
from maeil.contracts import described, require_members
from maeil.errors import ContractError
from maeil.mind import Arrays, Observation
from maeil.outcomes import Outcome
from maeil.plans import Plan, Task
from maeil.tasks import Attempt, CapabilityChange, OpenTask, Tasks, TaskState


@dataclass(frozen=True, slots=True)
class ActionEnd:
    """The end of a symbolic action.

    Attributes:
        status: how it ended.
        reason: why it ended, unless it simply succeeded; an identifier (`block_gone`), followed by numbers.
        unmet: the task that the agent attempted but could not act on, because the others did not come, or because the
            world refused the action. It counts as a failed attempt if the task is active.
    """

    status: ActionStatus
    reason: str = ""
    unmet: Task | None = None


class Controller(Protocol):
    """Turns one symbolic action of one agent into primitives, tick by tick against the live state."""

    def status(self) -> ActionEnd | None:
        """Return the end of the action in the current state; None while it runs.

        The loop calls it before and after every environment step, for all agents in turn, until no result changes any
        more. So if one agent's arrival completes a rendezvous, it does so for the whole team in the same tick.
        """

    def act(self) -> Primitive:
        """Return the primitive for the coming step. Called once per step, and only while `status()` is None."""

    def close(self) -> None:
        """Release resources shared with other controllers. Called once, however the action ended."""


@dataclass(frozen=True, slots=True)
class Transition:
    """The result of one environment step.

    Attributes:
        outcomes: the step's effects, as JSON-ready records in the world's own terms, with `what` as their first key.
        reward: the mean of the agents' rewards in this step.
        end: how the episode ends with this step: `SUCCESS`, `FAILURE` or `TRUNCATED`; `ENDED` if it ends by itself and
            the world does not judge the result; None if it continues. `maeil.acting.end_of` computes it from bools.
        attempts: attempts at tasks.
        capabilities: changes of the agents' capabilities.
        rewards: rewards of the agents, by index; None if all get `reward`.
    """

    outcomes: tuple[Mapping[str, Any], ...]
    reward: float
    end: Outcome | None = None
    attempts: tuple[Attempt, ...] = ()
    capabilities: tuple[CapabilityChange, ...] = ()
    rewards: tuple[float, ...] | None = None


@dataclass(frozen=True, slots=True)
class Progress:
    """The team's progress.

    Attributes:
        reached: goals reached so far (delivered blocks, placed boxes, achievements).
        goals: number of all goals.
        score: the world's own score.
    """

    reached: int
    goals: int
    score: float


NEAREST = 6
"""Number of nearest open tasks in feedback, in addition to the tasks of current plans."""

Ids = Mapping[str, Sequence[Mapping[str, Sequence[Any]]]]
"""The values that plans may use: by name of an action, its possible forms, each with the values of some arguments.

Values are integers (a `range`, or a list), strings, or None alone; `(None, range)` means None or an integer, and a pair
of ranges means a pair of integers. The state does not restrict actions and arguments that are missing here. An action
with an empty list of forms is impossible.
"""


class World(ABC):
    """An environment for the loop: the base of every world.

    Methods identify agents by their indices `0 .. n-1`; `agents` contains their names. Only `reset`, `step` and
    `Changeable.change` change the world. All other methods may be called at any time, and change nothing except the
    internal state of `constraints` and of controllers. Methods with a body are optional. `maeil.testing.check_world`
    checks a world against this contract; docs/writing-a-world.md is the guide.
    """

    name: str
    agents: tuple[str, ...]
    vocabulary: Vocabulary
    idle: SymbolicAction
    """An action that does nothing for one tick, possible in every state: the plan for an agent without a valid one."""
    shares_luck: bool = False
    """Whether each random draw has a key (step, purpose, and entity or cell), so that an action does not change the
    draws for things that it does not affect."""

    @abstractmethod
    def reset(self, seed: int) -> Mapping[str, Any]:
        """Generate a board from `seed`; return it as a JSON-ready record that suffices to draw a picture of it."""

    @abstractmethod
    def observe(self, agent: int) -> Observation:
        """Return the symbolic observation of an agent."""

    @abstractmethod
    def global_observation(self) -> Observation:
        """Return the whole world, for a participant without a body."""

    @abstractmethod
    def check_plan(self, agent: int, plan: Plan) -> tuple[str, ...]:
        """Return the reasons why a plan is impossible in the current state; empty if it is possible."""

    @abstractmethod
    def start_action(self, agent: int, action: SymbolicAction) -> Controller:
        """Start an action, and return its controller."""

    @abstractmethod
    def step(self, joint: Sequence[Any]) -> Transition:
        """Advance by one step, with one `maeil.acting.Primitive` for each agent, from its controller."""

    @abstractmethod
    def constraints(self, joint: Sequence[Any], plans: Sequence[Plan | None]) -> Sequence[TaskState]:
        """Return the states of the active tasks that have changed since the last call.

        The loop calls it before every step with the coming joint action, so that agents count at the positions they act
        from. The first call after a reset returns all active tasks. A task that is over is returned one last time, with
        a threshold of 0.

        Args:
            joint: one primitive for each agent.
            plans: the live plan of each agent; None for an agent without one. For an agent with an unmet attempt
                (`ActionEnd.unmet`), it is a plan without actions for that task.
        """

    @abstractmethod
    def distance(self, agent: int, other: int) -> float | None:
        """Return the distance between two agents in the world's own measure; None if it has none."""

    @abstractmethod
    def progress(self) -> Progress:
        """Return the team's progress."""

    @abstractmethod
    def ansi(self) -> str:
        """Draw the world as text, for the terminal."""

    def acting(self) -> Sequence[int] | None:
        """Return the agents that act in the coming step, ascending; at least one until the episode ends. None for all.

        This is for worlds in which agents take turns, die, or do not take part in an episode. The loop does not ask the
        mind of an agent that is off turn. An unfinished plan continues when the agent's turn comes.
        """
        return None

    def ids(self, agent: int | None) -> Ids:  # noqa: ARG002
        """Return the values that a plan of an agent may use now, for constraining answers; None for any agent's plan.

        They include everything that `check_plan` accepts, except numbers too large to make a difference: no block can
        be pushed farther than the width of the grid (`llm.grounded_schema`).
        """
        return {}

    def tasks(self, agent: int | None, text: str = "") -> Tasks | None:  # noqa: ARG002
        """Return the tasks that a plan may serve now; None if the world does not list them.

        A kind without targets has no tasks. `check_plan` accepts a plan for each listed task, and refuses a plan for
        any other with the message of `maeil.tasks.no_such_task`. Exception: it also accepts a plan for an unlisted task
        if the agent cannot know whether that task exists, and no `text` has named it.

        Args:
            agent: index of the agent; None for all.
            text: text that the agent has read; tasks that it names are included if the agent cannot rule them out.
        """
        return None

    def open_tasks(self, plans: Sequence[Plan | None], text: str = "") -> Sequence[OpenTask] | None:  # noqa: ARG002
        """Return the open tasks and what they lack, by name; None if the world does not list them.

        They are the tasks in plans and in the text, then the nearest others, at most `NEAREST`, and last any tasks that
        have to be done before these. Tasks that are over are left out, and each task is listed once. The loop calls it
        for turns with feedback; if it returns None, feedback shows the counts of the last step.

        Args:
            plans: the live plan of each agent; None for an agent without one.
            text: text of a message; tasks with targets that it names are included.
        """
        return None

    def prompt_facts(self) -> Mapping[str, Any]:
        """Return JSON-ready facts about the configuration, by name; templates access them as `facts`.

        With them, prompts contain only the rules of this configuration. `max_agents` is the number of other agents that
        a prompt lists for an agent; None for all. Facts are available before the first reset, and the same for every
        agent, seed and team size, since all prompts of a sweep start with the rules of the world.
        """
        return {}

    def close(self) -> None:  # noqa: B027
        """Release resources that Python does not free by itself: a process, a port, a licence, a window.

        Called after the last use of the world, possibly twice.
        """


def require_world(world: Any) -> World:
    """Check that an object is a world with the required attributes; return it.

    Raises:
        ContractError: it is not a world, or has no agents or no vocabulary.
    """
    kind = type(world)
    if not isinstance(world, World):
        raise ContractError(f"{kind.__qualname__} is not derived from maeil.World", kind)
    require_members(world, World, tuple(World.__annotations__))
    agents: object = world.agents
    if not isinstance(agents, tuple) or not agents:
        found = described(agents)
        raise ContractError(f"{kind.__qualname__}.agents is {found}; it must be the names of its agents, a tuple", kind)
    vocabulary: object = world.vocabulary
    if not isinstance(vocabulary, Vocabulary):
        found = described(vocabulary)
        raise ContractError(f"{kind.__qualname__}.vocabulary is {found}; it must be a maeil.Vocabulary", kind)
    return world


@runtime_checkable
class GivesArrays(Protocol):
    """A world in which policies trained on its environments can control agents (`agents=policy`)."""

    def array_sizes(self, agent: int) -> tuple[int, int]:
        """Return the size of an agent's observation and the number of its actions.

        They are available before the first reset.
        """

    def arrays(self, agent: int) -> Arrays:
        """Return an agent's observation, in the format of the environment for learners, and its action mask.

        This changes nothing, and the caller owns the arrays.
        """

    def action_of(self, agent: int, index: int) -> SymbolicAction:
        """Return the one-step symbolic action that is equivalent to an action allowed by the mask."""


@runtime_checkable
class DrawsLots(Protocol):
    """A world with random rules, so that its future does not follow from its observable state."""

    def draw_from(self, seed: int) -> None:
        """Use the random stream of this seed, from 0 to 2**32 - 1, from now on.

        It is called on copies for simulations, at the start of an episode with `extension=luck`, and at the branch
        point of `quorum branch --luck`.
        """


def keeps_luck_apart(world: World) -> bool:
    """Return whether an action leaves unrelated random draws unchanged, since draws have keys or there are none."""
    return world.shares_luck or not isinstance(world, DrawsLots)


W = TypeVar("W", bound=World)


@contextmanager
def closing_world(world: W) -> Iterator[W]:
    """Close a world at the end of the context."""
    try:
        yield world
    finally:
        world.close()


@runtime_checkable
class Limited(Protocol):
    """A world with a step limit that can change during an episode, as in a branch with another `max_steps`."""

    def limit(self, max_steps: int) -> None:
        """Set the step limit, counted from the start of the episode; observations show it from now on.

        Nothing else changes. The limit also holds for later episodes.

        Args:
            max_steps: the step limit, as in the configuration.
        """


@runtime_checkable
class Changeable(Protocol):
    """A world that supports external changes of its state at the start of a step.

    `quorum branch --world` requires it (docs/branch.md).
    """

    def change(self, changes: Mapping[str, Any]) -> None:
        """Change parts of the current state; the other parts stay as they are.

        Running actions continue from the new state, and end in the world's own way if they cannot continue. Setting a
        part to its current value changes nothing, including internal state. The same change in the same state gives the
        same new state.

        Args:
            changes: JSON-ready changes, in the world's own terms.

        Raises:
            ValueError: the changes are malformed, or the new state is impossible; the message names the path
                (`blocks.3.position: ...`), and the world is unchanged.
        """

"""The contract of a world: what the loop needs of an environment."""

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
        reason: why, for anything but plain success; an identifier first (`block_gone`), numbers behind it.
        unmet: the task that the agent has tried in vain without a primitive for it: it has waited for others at its
            place, or the world has refused the action. That is an attempt that failed, if the task is active.
    """

    status: ActionStatus
    reason: str = ""
    unmet: Task | None = None


class Controller(Protocol):
    """Turns one symbolic action of one agent into primitives, tick by tick against the live state."""

    def status(self) -> ActionEnd | None:
        """Return the end of the action in the state as it is; None while it runs.

        Asked before and after every environment step, for all agents in turn, until nobody's answer changes any more:
        so what one agent's arrival sets free (a rendezvous) is set free for the whole team in the same tick.
        """

    def act(self) -> Primitive:
        """Return the primitive for the coming environment step. Called once a step, only while `status()` is None."""

    def close(self) -> None:
        """Let go of whatever is shared with other controllers. Called once, however the action ended."""


@dataclass(frozen=True, slots=True)
class Transition:
    """What one environment step did.

    Attributes:
        outcomes: what happened, one JSON-ready record each, in the world's own words, with `what` as its first key.
        reward: the mean of the agents' rewards in this step.
        end: how the episode ends with this step: `SUCCESS`, `FAILURE` or `TRUNCATED`; `ENDED` if it ends by itself and
            the world does not say what that means; None if it goes on. `maeil.acting.end_of` makes it of truth values.
        attempts: attempts at tasks.
        capabilities: changes of what agents are able to do.
        rewards: of each agent, by index, where these differ; None where all get `reward`.
    """

    outcomes: tuple[Mapping[str, Any], ...]
    reward: float
    end: Outcome | None = None
    attempts: tuple[Attempt, ...] = ()
    capabilities: tuple[CapabilityChange, ...] = ()
    rewards: tuple[float, ...] | None = None


@dataclass(frozen=True, slots=True)
class Progress:
    """How far the team has come.

    Attributes:
        reached: goals reached so far (delivered blocks, placed boxes, achievements).
        goals: goals in all.
        score: the world's own score.
    """

    reached: int
    goals: int
    score: float


NEAREST = 6
"""Open tasks that feedback shows besides those of somebody's plan: the nearest ones."""

Ids = Mapping[str, Sequence[Mapping[str, Sequence[Any]]]]
"""What plans may name: for an action, by name, the forms that it may have; of each form the values of some arguments.

Values are integers (a `range`, or a list), strings, or None alone; `(None, range)` is None or an integer, and a pair of
ranges a pair of integers. An action that is not there, or an argument, is not bound by the state; an action without a
form cannot be carried out at all.
"""


class World(ABC):
    """An environment joined to the loop: the base of every world.

    Agents are indices `0 .. n-1` here; `agents` holds their names. Only `reset`, `step` and `Changeable.change` change
    the world. All other methods may be called at any time, and change nothing but what `constraints` and the
    controllers keep for themselves. Methods with a body are optional. `maeil.testing.check_world` holds a world
    against this contract; docs/writing-a-world.md is the guide.
    """

    name: str
    agents: tuple[str, ...]
    vocabulary: Vocabulary
    idle: SymbolicAction
    """One tick of doing nothing, possible in every state: the plan of an agent whose mind returns no valid one."""
    shares_luck: bool = False
    """Whether each random draw has a key (the step, its purpose, and the entity or cell that it is for), so that an
    action changes no draw of what it does not reach."""

    @abstractmethod
    def reset(self, seed: int) -> Mapping[str, Any]:
        """Draw a new board from `seed` and return it as a JSON-ready record, from which alone it can be drawn again."""

    @abstractmethod
    def observe(self, agent: int) -> Observation:
        """Return the symbolic observation of an agent."""

    @abstractmethod
    def global_observation(self) -> Observation:
        """Return the whole world, for a participant without a body."""

    @abstractmethod
    def check_plan(self, agent: int, plan: Plan) -> tuple[str, ...]:
        """Return why a plan cannot be carried out in the present state: one reason each, empty when it can."""

    @abstractmethod
    def start_action(self, agent: int, action: SymbolicAction) -> Controller:
        """Start an action."""

    @abstractmethod
    def step(self, joint: Sequence[Any]) -> Transition:
        """Advance by one step with one `maeil.acting.Primitive` for each agent, as its controllers have given them."""

    @abstractmethod
    def constraints(self, joint: Sequence[Any], plans: Sequence[Plan | None]) -> Sequence[TaskState]:
        """Return the states of the active tasks that are not what they were when this was last called.

        Called before every step with the joint action that is about to be taken, so that agents count where they act
        from. The first call after a reset gives every active task. A task that is over is given a last time, with a
        threshold of 0.

        Args:
            joint: one primitive for each agent.
            plans: the plan of each agent, None where there is none: the live one, or, of an agent that has just tried a
                task in vain (`ActionEnd.unmet`), one without actions for that task.
        """

    @abstractmethod
    def distance(self, agent: int, other: int) -> float | None:
        """Return the distance between two agents in the world's own measure; None where it has none."""

    @abstractmethod
    def progress(self) -> Progress:
        """Return how far the team has come."""

    @abstractmethod
    def ansi(self) -> str:
        """Draw the world as text, for the terminal."""

    def acting(self) -> Sequence[int] | None:
        """Return the agents that act in the coming step, ascending, at least one until the episode ends; None: all.

        For worlds in which agents take turns, die, or sit an episode out. The loop asks no mind of an agent that is
        off turn. A plan that still runs is kept until its turn comes.
        """
        return None

    def ids(self, agent: int | None) -> Ids:  # noqa: ARG002
        """Return what a plan of an agent may name now, so that answers can be bound to it; for None, of anybody.

        It has everything that `check_plan` takes, except numbers beyond those that make a difference: no block can be
        pushed farther than the grid is wide (`llm.grounded_schema`).
        """
        return {}

    def tasks(self, agent: int | None, text: str = "") -> Tasks | None:  # noqa: ARG002
        """Return the tasks that a plan may be for now; None if the world does not list them.

        A kind without a target is none. `check_plan` takes a plan for each of them, and refuses one for any other, in
        the words of `maeil.tasks.no_such_task`. It takes more only where an agent cannot know whether there is such a
        task, and no `text` has named it.

        Args:
            agent: index; None for all.
            text: what the agent has read: the tasks that it names, and that the agent cannot rule out, are among them.
        """
        return None

    def open_tasks(self, plans: Sequence[Plan | None], text: str = "") -> Sequence[OpenTask] | None:  # noqa: ARG002
        """Return the tasks that matter now and what they lack, by name; None if the world does not say.

        These are the tasks of a plan and of a text, then the nearest others, at most `NEAREST`. Behind them stand the
        tasks that have to come before, where the world has such. A task that is over is not among them, and none is
        there twice. The loop asks where a turn has feedback; for None it shows the numbers of the last step.

        Args:
            plans: the live plan of each agent, None where there is none.
            text: of a message: the tasks whose targets it names are among them.
        """
        return None

    def prompt_facts(self) -> Mapping[str, Any]:
        """Return facts of the configuration by name, JSON-ready; templates find them as `facts`.

        A prompt then has the rules of this configuration alone. `max_agents` is how many other agents a prompt lists
        to an agent; None for all. Facts are known before the first reset, and the same for every agent, seed and size
        of the team: the rules of a world are the beginning of all prompts of a sweep.
        """
        return {}

    def close(self) -> None:  # noqa: B027
        """Release what Python does not free by itself: a process, a port, a licence, a window.

        Called when nothing more is asked of the world, perhaps twice.
        """


def require_world(world: Any) -> World:
    """Return a world that has what its contract asks for.

    Raises:
        ContractError: it is no world, or has no agents or no vocabulary.
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
    """A world whose agents can be played by policies that were learned on its environments (`agents=policy`)."""

    def array_sizes(self, agent: int) -> tuple[int, int]:
        """Return how many numbers an observation of an agent has, and how many actions there are.

        They are known before the first reset.
        """

    def arrays(self, agent: int) -> Arrays:
        """Return what an agent observes, as the environment for learners gives it, and the mask of its actions.

        It changes nothing, and the arrays are the caller's own.
        """

    def action_of(self, agent: int, index: int) -> SymbolicAction:
        """Return the symbolic action of one step that does what an action does which the mask allows."""


@runtime_checkable
class DrawsLots(Protocol):
    """A world whose rules draw lots, so that what it will do does not follow from its state as others can know it."""

    def draw_from(self, seed: int) -> None:
        """Draw from a stream of this seed, from 0 to 2**32 - 1, from now on.

        It is called on copies, on which something is tried out, at the start of an episode with `extension=luck`, and
        at the branch point of `quorum branch --luck`.
        """


def keeps_luck_apart(world: World) -> bool:
    """Return whether an action changes no draw of what it does not reach, as draws have keys or there are none."""
    return world.shares_luck or not isinstance(world, DrawsLots)


W = TypeVar("W", bound=World)


@contextmanager
def closing_world(world: W) -> Iterator[W]:
    """Close a world at the end."""
    try:
        yield world
    finally:
        world.close()


@runtime_checkable
class Limited(Protocol):
    """A world whose step limit can change from a step on, as in a branch with another `max_steps`."""

    def limit(self, max_steps: int) -> None:
        """End the episode after so many steps, counted from its start; observations state it from now on.

        Nothing else changes. It holds for later episodes, too.

        Args:
            max_steps: as the configuration has it.
        """


@runtime_checkable
class Changeable(Protocol):
    """A world whose state can be changed from outside, at the start of a step.

    `quorum branch --world` asks for it (docs/branch.md).
    """

    def change(self, changes: Mapping[str, Any]) -> None:
        """Change parts of the present state; what is not named stays.

        Running actions go on from the new state, and end in the world's own way where they cannot. What is named and
        is so already is no change: after it the world is what it was, with all that it keeps for itself. The same
        change in the same state gives the same state.

        Args:
            changes: JSON-ready, in the world's own words.

        Raises:
            ValueError: they cannot be read, or there can be no such state; the message names the place
                (`blocks.3.position: ...`), and the world is as it was.
        """

"""The contract of a simulated speaker: the rules for the simulated model's answers in one world."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Generic, TypeVar

from pydantic import TypeAdapter

from maeil.actions import Vocabulary
from maeil.messages import Draft, Message, MessageKind
from maeil.mind import Act, Observation, Resume, Thought, View
from maeil.plans import Plan, Task
from quorum.agents.skills.chooser import Chooser

Seen = TypeVar("Seen", bound=Observation)

LEADER = "leader"
ROOT, BRANCH_LEADER, MEMBER = "root", "branch_leader", "member"
TREE = frozenset({ROOT, BRANCH_LEADER, MEMBER})
"""Roles of leaders in a tree, who pass on what they have read."""
LEADING = frozenset({LEADER, ROOT, BRANCH_LEADER})
"""Roles whose messages are directives."""


@dataclass(frozen=True, slots=True)
class JointPlanRequest:
    """A request to a planner of joint plans.

    Attributes:
        role: `explorer` or `exploiter`.
        state: the block of that name, as JSON.
        running: remaining plans of other agents, as JSON, by index.
        asked: agents to plan for, ascending.
        chooser: makes the choices, including for each agent's part whether it is poor.
        refused: agents whose parts of the previous proposal broke a rule.
    """

    role: str
    state: Any
    running: Mapping[int, Mapping[str, Any]]
    asked: Sequence[int]
    chooser: Chooser
    refused: frozenset[int]

    def drawn_at_random(self) -> list[int]:
        """Draw the agents whose parts are random in this call.

        Parts that broke a rule are then made by the rules: only the simulated speaker's first choice is random, and
        feedback corrects it.
        """
        return [agent for agent in self.asked if self.chooser.is_poor() and agent not in self.refused]


@dataclass(frozen=True, slots=True)
class Prospect:
    """A task that another agent may take up next, as far as the observer knows.

    Attributes:
        task: the task, as plans name it.
        steps: the other agent's distance from it, in the world's measure; infinite if unknown.
        hands: number of agents that it needs at once.
        left: remaining work once they are there, in steps.
        said: whether the other agent has said that it takes the task.
        there: whether the other agent is at the place of the task.
    """

    task: Task
    steps: float
    hands: int = 1
    left: float = 0
    said: bool = False
    there: bool = False


class Speaker(ABC, Generic[Seen]):
    """Answers by rules, from the data of a prompt alone. A world's speaker fills in the attributes and two methods."""

    observation: type[Seen]
    """Type of the block `observation` of a prompt."""
    vocabulary: Vocabulary
    """Actions that it can read in others' plans."""
    needs: frozenset[str] = frozenset()
    """Actions that its own plans consist of."""
    way_out: str = ""
    """Advice if the vocabulary lacks one of these actions; may be empty."""

    def read_observation(self, text: str) -> Seen:
        """Read the observation of a prompt.

        Raises:
            ValueError: it is not an observation of this world.
        """
        found: Seen = _adapter(self.observation).validate_json(text)
        return found

    def seen(self, view: View) -> Seen:
        """Return a view's observation, as an observation of this world."""
        assert isinstance(view.observation, self.observation)
        return view.observation

    def check_vocabulary(self, names: Collection[str]) -> None:
        """Check that a vocabulary has the actions that its plans need.

        Raises:
            ValueError: an action is missing; the message names it and the remedy.
        """
        if missing := sorted(self.needs - set(names)):
            text = f"it needs {', '.join(missing)}"
            raise ValueError(f"{text}; {self.way_out}" if self.way_out else text)

    def for_vocabulary(self, names: Collection[str]) -> Speaker[Seen]:
        """Return the speaker for a vocabulary: this one, if the vocabulary has the actions that its plans need.

        Args:
            names: names of the vocabulary's actions.

        Raises:
            ValueError: an action is missing; the message names it and the remedy.
        """
        self.check_vocabulary(names)
        return self

    def for_facts(self, facts: Mapping[str, Any], team: Sequence[str]) -> Speaker[Seen]:  # noqa: ARG002
        """Return a speaker that reads data from which facts stated in the rules are omitted; by default, this one.

        Args:
            facts: facts about the configuration in the prompt's rules: their block `facts`, empty without one.
            team: names of all participants; those without a body last.
        """
        return self

    @abstractmethod
    def answer(self, view: View, chooser: Chooser) -> Thought:
        """Answer a turn.

        Args:
            view: what the prompt shows, and nothing more.
            chooser: makes the choices of this answer.
        """

    def drafts(self, observation: Seen, agent: int, task: Task, chooser: Chooser) -> Sequence[Plan]:  # noqa: ARG002
        """Return candidate plans of an agent that has not tried a task; it does not know their outcomes.

        Args:
            observation: what the agent sees.
            agent: its index.
            task: an open task.
            chooser: for random draws, if the rules know no tasks.

        Raises:
            ValueError: there are no rules for this.
        """
        raise ValueError("in this world, it has no rules to plan for an agreed task (agents=drwell): set env=cube")

    def prospects(self, view: View, mate: int) -> Sequence[Prospect]:  # noqa: ARG002
        """Return the tasks that another agent may take up next, given the prompt; empty if unknown.

        Args:
            view: what the prompt shows.
            mate: index of the other agent.
        """
        return ()

    def anticipate(
        self,
        view: View,
        expected: Mapping[int, Task | None],  # noqa: ARG002
        chooser: Chooser,
    ) -> Thought:
        """Answer a turn with expectations about others; by default, ignore them.

        Args:
            view: what the prompt shows.
            expected: expected tasks of the others' next plans, by index.
            chooser: makes the choices of this answer.
        """
        return self.answer(view, chooser)

    @abstractmethod
    def propose(self, request: JointPlanRequest) -> Mapping[int, Plan]:
        """Make a joint plan, by agent."""


@cache
def _adapter(observation: type[Seen]) -> TypeAdapter[Seen]:
    return TypeAdapter(observation)


def overheard(mate: int, view: View, text: str) -> Message:
    """Return a message in which another agent names to the reader of a view the task that it takes up."""
    return Message(0, mate, (view.agent,), text, MessageKind.PROPOSE, view.t, 0, 0)


def take_turn(view: View, plan: Plan, nothing: str, *, silent: bool = False) -> Thought:
    """Announce a plan's task and commit the plan, as far as the turn allows both; resume if there is a plan already.

    Args:
        view: the speaker's view.
        plan: its plan.
        nothing: its message if it has no task.
        silent: whether to send no message.
    """
    talks = bool(view.turn.recipients) and view.plan is None and not silent
    messages = _announce(view, plan, nothing) if talks else ()
    if Act.PLAN not in view.turn.acts:
        return Thought(messages=messages)
    return Thought(plan if view.plan is None else Resume.RESUME, messages)


def _announce(view: View, plan: Plan, nothing: str) -> tuple[Draft, ...]:
    """Write the message; an acknowledgement is sent only in reply to something."""
    task = f"I work on {plan.task.target}: {plan.rationale}." if plan.task is not None else nothing
    if Act.SPEAK in view.turn.acts:
        kind = MessageKind.DIRECTIVE if view.turn.role in LEADING else MessageKind.PROPOSE
        return (Draft(view.turn.recipients, task, kind, plan.task, ()),)
    if Act.ACKNOWLEDGE in view.turn.acts and view.unread:
        return (Draft(view.turn.recipients, task, MessageKind.ACK, plan.task, ()),)
    return ()

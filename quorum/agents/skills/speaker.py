"""The contract of a simulated speaker: the rules by which the simulated model answers in one world."""

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
"""The roles of a tree of leaders, who pass on what they have heard."""
LEADING = frozenset({LEADER, ROOT, BRANCH_LEADER})
"""The roles of those whose messages are directives."""


@dataclass(frozen=True, slots=True)
class JointPlanRequest:
    """What a planner of joint plans is asked for.

    Attributes:
        role: `explorer` or `exploiter`.
        state: the block of that name, as JSON.
        running: what is left of the plans of other agents, as JSON, by index.
        asked: agents to plan for, ascending.
        chooser: makes the choices; whether one is poor, for each agent's part.
        refused: agents whose parts the rules have found wrong, in the proposal before.
    """

    role: str
    state: Any
    running: Mapping[int, Mapping[str, Any]]
    asked: Sequence[int]
    chooser: Chooser
    refused: frozenset[int]

    def drawn_at_random(self) -> list[int]:
        """Draw the agents whose parts are made at random, for this call.

        A part that was found wrong is made by the rules then, as the simulated speaker's first choice alone is at
        random, and what it hears afterwards puts it right.
        """
        return [agent for agent in self.asked if self.chooser.is_poor() and agent not in self.refused]


@dataclass(frozen=True, slots=True)
class Prospect:
    """A task that another agent may take up next, as far as one knows.

    Attributes:
        task: the task, as plans name it.
        steps: how far the other is from it, in the measure of the world; infinite where that is not known.
        hands: agents that it takes at once.
        left: what is left to do of it once they are there, in steps.
        said: whether the other has said that it takes it up.
        there: whether it stands where it is done.
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
    """What the block `observation` of a prompt is read as."""
    vocabulary: Vocabulary
    """The actions that it reads in others' plans."""
    needs: frozenset[str] = frozenset()
    """The actions that its plans are made of."""
    way_out: str = ""
    """What to set where the vocabulary lacks one of them, if anything."""

    def read_observation(self, text: str) -> Seen:
        """Read the observation of a prompt.

        Raises:
            ValueError: it is none of this world.
        """
        found: Seen = _adapter(self.observation).validate_json(text)
        return found

    def seen(self, view: View) -> Seen:
        """Return what a view shows, as an observation of this world."""
        assert isinstance(view.observation, self.observation)
        return view.observation

    def check_vocabulary(self, names: Collection[str]) -> None:
        """Make sure that a vocabulary has the actions that its plans are made of.

        Raises:
            ValueError: one is missing; the message names it and the way out.
        """
        if missing := sorted(self.needs - set(names)):
            text = f"it needs {', '.join(missing)}"
            raise ValueError(f"{text}; {self.way_out}" if self.way_out else text)

    def for_vocabulary(self, names: Collection[str]) -> Speaker[Seen]:
        """Return the speaker that answers in a vocabulary: this one, where it has the actions that its plans need.

        Args:
            names: of the actions of the vocabulary.

        Raises:
            ValueError: one is missing; the message names it and the way out.
        """
        self.check_vocabulary(names)
        return self

    def for_facts(self, facts: Mapping[str, Any], team: Sequence[str]) -> Speaker[Seen]:  # noqa: ARG002
        """Return the speaker that reads data which leave out what the rules say: this one, where none is left out.

        Args:
            facts: what the rules of the prompt say of the configuration: their block `facts`, empty without one.
            team: names of all who take part, those without a body last.
        """
        return self

    @abstractmethod
    def answer(self, view: View, chooser: Chooser) -> Thought:
        """Answer a turn.

        Args:
            view: what the prompt shows; nothing else is known.
            chooser: makes the choices of this answer.
        """

    def drafts(self, observation: Seen, agent: int, task: Task, chooser: Chooser) -> Sequence[Plan]:  # noqa: ARG002
        """Return plans that one who has not tried a task may make for it: what becomes of each, it does not know.

        Args:
            observation: what the agent sees.
            agent: its index.
            task: an open task.
            chooser: for draws, where the rules know of no task.

        Raises:
            ValueError: there are no rules for that.
        """
        raise ValueError(
            "it has no rules in this world to plan for a task that was agreed on (agents=drwell): set env=cube"
        )

    def prospects(self, view: View, mate: int) -> Sequence[Prospect]:  # noqa: ARG002
        """Return what another agent may take up next, by what the prompt shows; nothing where nobody knows.

        Args:
            view: what the prompt shows.
            mate: index of the other.
        """
        return ()

    def anticipate(
        self,
        view: View,
        expected: Mapping[int, Task | None],  # noqa: ARG002
        chooser: Chooser,
    ) -> Thought:
        """Answer a turn with what is expected of others: as without it, where that does not matter.

        Args:
            view: what the prompt shows.
            expected: what the next plans of others are for, by their index.
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
    """Return a message in which another says to the reader of a view what it takes up."""
    return Message(0, mate, (view.agent,), text, MessageKind.PROPOSE, view.t, 0, 0)


def take_turn(view: View, plan: Plan, nothing: str, *, silent: bool = False) -> Thought:
    """Say what a plan works on, and commit it, as far as the turn allows both; resume where there is a plan already.

    Args:
        view: what the speaker sees.
        plan: what it is going to do.
        nothing: what it says without a task.
        silent: whether it says nothing at all.
    """
    talks = bool(view.turn.recipients) and view.plan is None and not silent
    messages = _announce(view, plan, nothing) if talks else ()
    if Act.PLAN not in view.turn.acts:
        return Thought(messages=messages)
    return Thought(plan if view.plan is None else Resume.RESUME, messages)


def _announce(view: View, plan: Plan, nothing: str) -> tuple[Draft, ...]:
    """Write the message; an acknowledgement answers something only."""
    task = f"I work on {plan.task.target}: {plan.rationale}." if plan.task is not None else nothing
    if Act.SPEAK in view.turn.acts:
        kind = MessageKind.DIRECTIVE if view.turn.role in LEADING else MessageKind.PROPOSE
        return (Draft(view.turn.recipients, task, kind, plan.task, ()),)
    if Act.ACKNOWLEDGE in view.turn.acts and view.unread:
        return (Draft(view.turn.recipients, task, MessageKind.ACK, plan.task, ()),)
    return ()

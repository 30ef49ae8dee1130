"""The roles and values of DR. WELL, and the typed answers of its roles.

| role | answer |
|---|---|
| proposer | `{"thoughts": ..., "task": {"kind": ..., "target": ...}, "why": ...}` |
| committer | `{"thoughts": ..., "task": {"kind": ..., "target": ...}}` |
| planner | `{"thoughts": ..., "plan": {"actions": [...]}}`: what it is for is settled |
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field, NonNegativeInt, PositiveInt

from maeil.actions import Vocabulary
from maeil.component import ComponentConfig
from maeil.plans import Plan, Task
from quorum.agents.coordination.asking import form, read
from quorum.agents.prompting.answers import TaskAnswer, Thoughts, part, plan_model, read_plan
from quorum.agents.prompting.sets import PromptSet


class DrwellRole(StrEnum):
    """A role; the value is the name of its template in `prompts/drwell/`."""

    PROPOSER = "proposer"
    """Proposes a task to the others in the room."""
    COMMITTER = "committer"
    """Commits itself to a task."""
    PLANNER = "planner"
    """Plans for its task, alone."""


class DrwellConfig(ComponentConfig):
    """Parameters of `drwell`."""

    name: Literal["drwell"]
    prompts: PromptSet
    """The set of prompts."""
    max_actions: PositiveInt
    """Actions of a plan, at most."""
    repairs: NonNegativeInt
    """Times that an answer that cannot be read, or cannot be done, is asked for again."""
    instances: PositiveInt
    """Earlier plans for its task that a planner is shown, at most, the best ones first; and as many prototypes."""
    pause: PositiveInt
    """Steps that an agent waits for which there is no open task."""


@dataclass(frozen=True, slots=True)
class Choice:
    """A task that was chosen, and why."""

    task: Task
    why: str


class Answers:
    """The answers of a team.

    Args:
        vocabulary: the actions that a plan may have.
        max_actions: actions of a plan, at most.
    """

    def __init__(self, vocabulary: Vocabulary, max_actions: int) -> None:
        plan = plan_model(vocabulary, max_actions, rationale=False, task=False)
        why = Annotated[str, Field(min_length=1, max_length=400, description="the reason, in 1 to 2 sentences")]
        self._proposal = part("ProposalAnswer", "", thoughts=Thoughts, task=TaskAnswer, why=why)
        self._commitment = part("CommitmentAnswer", "", thoughts=Thoughts, task=TaskAnswer)
        self._draft = part("DraftAnswer", "", thoughts=Thoughts, plan=plan)
        self.proposal = form("proposal", self._proposal)
        """The form of a proposal."""
        self.commitment = form("commitment", self._commitment)
        """The form of a commitment."""
        self.draft = form("plan", self._draft)
        """The form of a plan."""

    def read_proposal(self, value: object) -> Choice:
        """Read a proposal.

        Raises:
            quorum.agents.coordination.asking.Misread: it has not the form.
        """
        answer = read(self._proposal, value)
        return Choice(Task(answer.task.kind, answer.task.target), answer.why)

    def read_commitment(self, value: object) -> Choice:
        """Read a commitment, which gives no reason.

        Raises:
            quorum.agents.coordination.asking.Misread: it has not the form.
        """
        answer = read(self._commitment, value)
        return Choice(Task(answer.task.kind, answer.task.target), "")

    def read_draft(self, value: object) -> tuple[str, Plan]:
        """Read the thoughts and the plan of a planner.

        Raises:
            quorum.agents.coordination.asking.Misread: it has not the form.
        """
        answer = read(self._draft, value)
        return answer.thoughts, read_plan(answer.plan)

"""The typed answers of the three roles, and what is read out of them.

| role | answer |
|---|---|
| proposer | `{"thoughts": ..., "task": {"kind": ..., "target": ...}, "why": ...}` |
| committer | `{"thoughts": ..., "task": {"kind": ..., "target": ...}}` |
| planner | `{"thoughts": ..., "plan": {"actions": [...]}}`: what it is for is settled |
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from maeil.actions import Vocabulary
from maeil.plans import Plan, Task
from quorum.agents.coordination.answers import form, read
from quorum.agents.prompting.answers import TaskAnswer, Thoughts, part, plan_model, read_plan


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
            quorum.agents.coordination.answers.Misread: it has not the form.
        """
        answer = read(self._proposal, value)
        return Choice(Task(answer.task.kind, answer.task.target), answer.why)

    def read_commitment(self, value: object) -> Choice:
        """Read a commitment, which gives no reason.

        Raises:
            quorum.agents.coordination.answers.Misread: it has not the form.
        """
        answer = read(self._commitment, value)
        return Choice(Task(answer.task.kind, answer.task.target), "")

    def read_draft(self, value: object) -> tuple[str, Plan]:
        """Read the thoughts and the plan of a planner.

        Raises:
            quorum.agents.coordination.answers.Misread: it has not the form.
        """
        answer = read(self._draft, value)
        return answer.thoughts, read_plan(answer.plan)

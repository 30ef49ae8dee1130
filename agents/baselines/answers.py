"""The typed answers of the agents in the baselines, beside the joint plan of `quorum.agents.coordination.answers`.

| answer | form |
|---|---|
| talk | `{"thoughts": ..., "message": ..., "plans": null}`; or `plans` as in a joint plan, which states it |
| review | `{"thoughts": ..., "agrees": true, "reason": ..., "proposal": {...} or null}` |
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Annotated

from pydantic import Field

from maeil.actions import Vocabulary
from maeil.plans import Plan
from quorum.agents.coordination.answers import JointAnswers, form, read
from quorum.agents.prompting.answers import Thoughts, part, read_plan


class TalkAnswers(JointAnswers):
    """The answers of agents that talk; arguments as for a joint plan."""

    def __init__(self, vocabulary: Vocabulary, max_actions: int, names: Sequence[str], tasks: bool = True) -> None:
        super().__init__(vocabulary, max_actions, names, tasks)
        self._talk = part(
            "TalkAnswer",
            "",
            thoughts=Thoughts,
            message=Annotated[str, Field(min_length=1, max_length=2000, description="what you say to the others")],
            plans=Annotated[list[self.entry] | None, Field(description="the joint plan; null to go on talking")],  # type: ignore[name-defined]
        )
        self.talk = form("talk", self._talk)
        """The form of what an agent says."""

    def read_talk(self, value: object, asked: Collection[int]) -> tuple[str, dict[int, Plan] | None]:
        """Read what an agent says, and the joint plan when it states one.

        Raises:
            Misread: it has not the form, or names agents that it may not name.
        """
        answer = read(self._talk, value)
        return answer.message, self.read_entries(answer.plans, asked) if answer.plans is not None else None


class ReviewAnswers(JointAnswers):
    """The answers of agents that agree or object; arguments as for a joint plan."""

    def __init__(self, vocabulary: Vocabulary, max_actions: int, names: Sequence[str], tasks: bool = True) -> None:
        super().__init__(vocabulary, max_actions, names, tasks)
        self._review = part(
            "ReviewAnswer",
            "",
            thoughts=Thoughts,
            agrees=bool,
            reason=Annotated[str, Field(max_length=1000, description="why you object; empty when you agree")],
            proposal=Annotated[
                self.plan | None, Field(description="the plan that you would have instead; null for none")
            ],
        )
        self.review = form("review", self._review)
        """The form of a review."""

    def read_review(self, value: object) -> tuple[bool, str, Plan | None]:
        """Read whether an agent agrees; if not, why, and what it would do.

        Raises:
            Misread: it has not the form.
        """
        answer = read(self._review, value)
        return answer.agrees, answer.reason, read_plan(answer.proposal) if answer.proposal is not None else None

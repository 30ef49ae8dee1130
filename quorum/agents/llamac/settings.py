"""Roles, switches and limits of LLaMAC, and the typed answers of its roles.

| role | answer |
|---|---|
| critic | a joint plan: `quorum.agents.coordination.asking` |
| assessor | `{"thoughts": ..., "choices": [{"agent": ..., "source": "explorer", "plan": null}]}`; `new` has a plan |
| actor | `{"thoughts": ..., "issue": ..., "proposal": {...} or null}` |
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from enum import StrEnum
from typing import Annotated, Any, Literal

from pydantic import Field, NonNegativeInt

from maeil.actions import Vocabulary
from maeil.plans import Plan
from quorum.agents.coordination.asking import JointAnswers, Misread, form, read
from quorum.agents.coordination.joint import FORM, Rejection
from quorum.agents.prompting.answers import Thoughts, part, read_plan
from quorum.agents.skills.lookup import RoleTeamConfig


class LlamacRole(StrEnum):
    """A role; the value is the name of its template."""

    EXPLORER = "explorer"
    EXPLOITER = "exploiter"
    ASSESSOR = "assessor"
    ACTOR = "actor"


CRITICS = {
    "both": (LlamacRole.EXPLORER, LlamacRole.EXPLOITER),
    "explorer": (LlamacRole.EXPLORER,),
    "exploiter": (LlamacRole.EXPLOITER,),
}
"""The proposing roles, by the value of `critics`."""


class LlamacConfig(RoleTeamConfig):
    """Parameters of `llamac`."""

    name: Literal["llamac"]
    critics: Literal["both", "explorer", "exploiter"]
    """Which critics propose; with one critic there is nothing to assess (ablation: only explore, only exploit)."""
    belief_correction: bool
    """Whether the assessor weighs the two proposals; false: they are merged without a call (ablation)."""
    scrutiny: bool
    """Whether joint plans must pass veracity scrutiny; false: only their grammar is checked (ablation)."""
    scrutinize_suggestion: bool
    """Whether the assessor's suggestion must pass it too; false: as the paper prints it."""
    rollout: NonNegativeInt
    """Steps for which scrutiny rolls out a joint plan on a copy of the world, if its gates can; 0: no rollout."""
    confirmation: bool
    """Whether actors check their own part; false: they carry out the suggestion (ablation)."""
    internal_retries: NonNegativeInt
    """IF: maximum retries per decision after a rejected joint plan; 0: no internal feedback."""
    retry: Literal["both", "failed"]
    """Who proposes again after a critic's joint plan is rejected: both critics, as in the paper, or only that one."""
    external_retries: NonNegativeInt
    """EF: maximum times per decision that the assessor replans after actors' feedback; 0: no external feedback."""
    strict: bool
    """Whether conflicts left after all internal retries fail the episode, as unreadable plans always do."""
    on_exhaust: Literal["execute", "noop", "fail"]
    """What an actor does with a part that fails confirmation after all external retries."""
    replan: Literal["idle_only", "all"]
    """Whose plans a decision makes: those of agents without one, or those of all agents, replacing current ones."""
    epochs: NonNegativeInt | None
    """L: number of decision epochs that the critics see; null: all."""
    transitions: bool
    """Whether an epoch holds the full states before and after it (<s, a, r, s'>, as in the paper), or a few numbers of
    the state before it."""


NEW = "new"
"""The source of a choice that comes from neither critic."""


class Answers(JointAnswers):
    """Answer schemas of planners of joint plans, the assessor, and actors; arguments as in `JointAnswers`."""

    def __init__(self, vocabulary: Vocabulary, max_actions: int, names: Sequence[str], tasks: bool = True) -> None:
        super().__init__(vocabulary, max_actions, names, tasks)
        source: Any = Literal[(*(role.value for role in CRITICS["both"]), NEW)]
        choice = part("ChoiceAnswer", "", agent=str, source=source, plan=self.plan | None)
        self._assessor = part("AssessorAnswer", "", thoughts=Thoughts, choices=list[choice])  # type: ignore[valid-type]
        self._actor = part(
            "FeedbackAnswer",
            "",
            thoughts=Thoughts,
            issue=Annotated[str, Field(min_length=1, max_length=1000, description="what is wrong, as you see it")],
            proposal=self.instead,
        )
        self.assessor, self.actor = form("suggestion", self._assessor), form("feedback", self._actor)
        """The schemas of assessor and actor."""
        self.forms = (self.joint, self.assessor, self.actor)
        """The schemas of all roles."""

    def read_assessor(
        self, value: object, asked: Collection[int], sources: Mapping[str, Mapping[int, Plan]]
    ) -> tuple[str, dict[int, Plan]]:
        """Read the assessor's thoughts and suggestion.

        Args:
            value: the answer.
            asked: agents that it may plan for.
            sources: the joint plan of each critic.

        Raises:
            Misread: it does not match the schema, names agents that are not allowed, or a plan that no critic has made.
        """
        answer = read(self._assessor, value)
        indices = self.agents([choice.agent for choice in answer.choices], asked)
        plans: dict[int, Plan] = {}
        rejections = []
        for agent, choice in zip(indices, answer.choices, strict=True):
            if choice.source != NEW:
                chosen = sources.get(choice.source, {}).get(agent)
            else:
                chosen = read_plan(choice.plan) if choice.plan is not None else None
            if chosen is None:
                missing = f"{choice.agent}: there is no plan of the source {choice.source!r} for it"
                rejections.append(Rejection(FORM, (agent,), missing))
            else:
                plans[agent] = chosen
        if rejections:
            raise Misread(rejections)
        return answer.thoughts, plans

    def read_actor(self, value: object) -> tuple[str, Plan | None]:
        """Read an actor's issue and proposal.

        Raises:
            Misread: it does not match the schema.
        """
        answer = read(self._actor, value)
        return answer.issue, read_plan(answer.proposal) if answer.proposal is not None else None

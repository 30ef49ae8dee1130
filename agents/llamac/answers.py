"""The typed answers of the three kinds of roles, and what is read out of them.

| role | answer |
|---|---|
| critic | `{"thoughts": ..., "plans": [{"agent": ..., "plan": {...}}]}`; an agent without an entry waits |
| assessor | `{"thoughts": ..., "choices": [{"agent": ..., "source": "explorer", "plan": null}]}`; `new` has a plan |
| actor | `{"thoughts": ..., "issue": ..., "proposal": {...} or null}` |

Entries are a list, not an object by agent, so that an agent that is named twice is seen and refused.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from agents.llamac.gates import DUPLICATE, FORM, NOT_ASKED, STRANGER, Rejection
from agents.llm.protocol import AnswerFormat
from agents.naive.answers import checked, part, plan_model, read_plan, tidy
from maeil.actions import Vocabulary
from maeil.errors import InvalidThought
from maeil.plans import Plan

NEW = "new"
"""The source of a choice that is neither critic's."""

Thoughts = Annotated[str, Field(max_length=4000, description="what speaks for this answer, in a few sentences")]


class Misread(Exception):
    """An answer that is no joint plan; `rejections` say why."""

    def __init__(self, rejections: Sequence[Rejection]) -> None:
        super().__init__("; ".join(rejection.text for rejection in rejections))
        self.rejections = tuple(rejections)


class Answers:
    """The answers of a team.

    Args:
        vocabulary: the actions that a plan may have.
        max_actions: actions of a plan, at most.
        names: of the agents, by index.
        sources: the critics that a choice can name.
    """

    def __init__(self, vocabulary: Vocabulary, max_actions: int, names: Sequence[str], sources: Sequence[str]) -> None:
        plan: Any = plan_model(vocabulary, max_actions)
        source: Any = Literal[(*sources, NEW)]
        choice = part("ChoiceAnswer", "", agent=str, source=source, plan=plan | None)
        entry = part("EntryAnswer", "", agent=str, plan=plan)
        self._index = {name: index for index, name in enumerate(names)}
        self._critic = part("CriticAnswer", "", thoughts=Thoughts, plans=list[entry])  # type: ignore[valid-type]
        self._assessor = part("AssessorAnswer", "", thoughts=Thoughts, choices=list[choice])  # type: ignore[valid-type]
        self._actor = part(
            "FeedbackAnswer",
            "",
            thoughts=Thoughts,
            issue=Annotated[str, Field(min_length=1, max_length=1000, description="what is wrong, as you see it")],
            proposal=Annotated[plan | None, Field(description="the plan that you would have instead; null for none")],
        )
        self.critic, self.assessor, self.actor = (
            AnswerFormat(name, tidy(model.model_json_schema()))
            for name, model in (("joint_plan", self._critic), ("suggestion", self._assessor), ("feedback", self._actor))
        )
        """The forms of the three answers."""

    def read_critic(self, value: object, asked: Iterable[int]) -> tuple[str, dict[int, Plan]]:
        """Read a critic's thoughts and joint plan.

        Raises:
            Misread: it has not the form, or names agents that it may not name.
        """
        answer = _checked(self._critic, value)
        indices = self._agents([entry.agent for entry in answer.plans], asked)
        return answer.thoughts, {i: read_plan(entry.plan) for i, entry in zip(indices, answer.plans, strict=True)}

    def read_assessor(
        self, value: object, asked: Iterable[int], sources: Mapping[str, Mapping[int, Plan]]
    ) -> tuple[str, dict[int, Plan]]:
        """Read the assessor's thoughts and suggestion.

        Args:
            value: the answer.
            asked: agents that it may make a suggestion for.
            sources: the joint plan of each critic.

        Raises:
            Misread: it has not the form, names agents that it may not name, or a plan that a critic has not made.
        """
        answer = _checked(self._assessor, value)
        indices = self._agents([choice.agent for choice in answer.choices], asked)
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
            Misread: it has not the form.
        """
        answer = _checked(self._actor, value)
        return answer.issue, read_plan(answer.proposal) if answer.proposal is not None else None

    def _agents(self, names: Sequence[str], asked: Iterable[int]) -> list[int]:
        allowed = sorted(asked)
        rejections = [
            Rejection(STRANGER, (), f"there is no agent {name!r}") for name in names if name not in self._index
        ]
        indices = [self._index[name] for name in names if name in self._index]
        rejections += [
            Rejection(DUPLICATE, (agent,), f"agent {agent} has {count} entries; give one")
            for agent, count in sorted(Counter(indices).items())
            if count > 1
        ]
        rejections += [
            Rejection(
                NOT_ASKED, (agent,), f"agent {agent} goes on with what it does; the agents asked about are {allowed}"
            )
            for agent in sorted(set(indices) - set(allowed))
        ]
        if rejections:
            raise Misread(rejections)
        return indices


def _checked(model: type[BaseModel], value: object) -> Any:
    try:
        return checked(model, value)
    except InvalidThought as error:
        raise Misread([Rejection(FORM, (), reason) for reason in error.reasons]) from None

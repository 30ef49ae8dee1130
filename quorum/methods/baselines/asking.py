"""The roles of the baselines, their typed answers, and the sources of joint plans: one planner, or a debate.

| answer | schema |
|---|---|
| joint plan | `quorum.agents.coordination.asking` |
| talk | `{"thoughts": ..., "message": ..., "plans": null}`; or `plans` as in a joint plan, which states it |
| review | `{"thoughts": ..., "agrees": true, "reason": ..., "proposal": {...} or null}` |
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from typing import Annotated

from pydantic import Field

from maeil.actions import Vocabulary
from maeil.calls import Call
from maeil.mind import View
from maeil.plans import Plan
from maeil.together import together
from maeil.world import World
from quorum.agents.coordination.asking import AskResult, JointAnswers, Misread, RoleSpeaker, form, read
from quorum.agents.coordination.joint import NoJointPlan, Proposal, Rejection, impossible
from quorum.agents.llm.protocol import AnswerFormat
from quorum.agents.prompting.answers import Thoughts, part, read_plan


class BaselineRole(StrEnum):
    """A role; the value is the name of its template in `quorum/methods/prompts/baselines/`."""

    CENTRE = "centre"
    """Plans for the team."""
    DEBATER = "debater"
    """One of several planners that see each other's plans."""
    REVIEWER = "reviewer"
    """An agent that agrees or objects to the joint plan."""
    TALKER = "talker"
    """An agent that talks or states the joint plan."""


class BaselineAnswers(JointAnswers):
    """The answers of planners, talkers and reviewers; arguments as in the base class."""

    def __init__(self, vocabulary: Vocabulary, max_actions: int, names: Sequence[str], tasks: bool = True) -> None:
        super().__init__(vocabulary, max_actions, names, tasks)
        self._talk = part(
            "TalkAnswer",
            "",
            thoughts=Thoughts,
            message=Annotated[str, Field(min_length=1, max_length=2000, description="what you say to the others")],
            plans=Annotated[list[self.entry] | None, Field(description="the joint plan; null to go on talking")],  # type: ignore[name-defined]
        )
        self._review = part(
            "ReviewAnswer",
            "",
            thoughts=Thoughts,
            agrees=bool,
            reason=Annotated[str, Field(max_length=1000, description="why you object; empty when you agree")],
            proposal=self.instead,
        )
        self.talk, self.review = form("talk", self._talk), form("review", self._review)
        """The answer schemas for talking and for a review."""

    def forms(self, roles: Iterable[BaselineRole]) -> Sequence[AnswerFormat]:
        """Return the answer schemas of some roles."""
        special = {BaselineRole.TALKER: self.talk, BaselineRole.REVIEWER: self.review}
        return [special.get(role, self.joint) for role in roles]

    def read_talk(self, value: object, asked: Collection[int]) -> tuple[str, dict[int, Plan] | None]:
        """Parse what an agent says, and the joint plan if it states one.

        Raises:
            Misread: the answer does not match the schema, or names agents it may not name.
        """
        answer = read(self._talk, value)
        return answer.message, self.read_entries(answer.plans, asked) if answer.plans is not None else None

    def read_review(self, value: object) -> tuple[bool, str, Plan | None]:
        """Parse whether an agent agrees; if not, its reason and its proposal.

        Raises:
            Misread: the answer does not match the schema.
        """
        answer = read(self._review, value)
        return answer.agrees, answer.reason, read_plan(answer.proposal) if answer.proposal is not None else None


def check_possible(world: World, plans: Mapping[int, Plan]) -> None:
    """Check that the world accepts plans in its current state.

    Raises:
        Misread: it rejects one.
    """
    if refused := impossible(world, plans):
        raise Misread(refused)


@dataclass
class Planner:
    """Gets joint plans from one model, in one call each if no retry is needed.

    Attributes:
        speaker: prompts the model.
        answers: parses its answers.
        world: the world whose current state decides which plans are possible.
        retries: maximum number of retries.
    """

    speaker: RoleSpeaker
    answers: BaselineAnswers
    world: World
    retries: int

    async def plan(
        self, view: View, asked: Sequence[int], blocks: Mapping[str, object]
    ) -> tuple[dict[int, Plan], tuple[Call, ...]]:
        """Ask the model for a joint plan; also return the model calls.

        Args:
            view: the current turn.
            asked: the agents it may include.
            blocks: the data of the prompt.

        Raises:
            NoJointPlan: no plan could be made.
        """
        outcome = await self.propose(BaselineRole.CENTRE, view, asked, blocks)
        if outcome.answer is None:
            raise NoJointPlan(self.retries, outcome.rejections, outcome.calls)
        return outcome.answer.plans, outcome.calls

    async def propose(
        self, role: BaselineRole, view: View, asked: Sequence[int], blocks: Mapping[str, object]
    ) -> AskResult[Proposal]:
        """Ask for a joint plan in a role."""

        def reader(value: object) -> Proposal:
            thoughts, plans = self.answers.read_joint(value, asked)
            check_possible(self.world, plans)
            return Proposal(plans, thoughts)

        return await self.speaker.ask_until_usable(
            role, self.answers.joint, reader, view, blocks, retries=self.retries, agents=len(asked)
        )


def majority(proposals: Sequence[Mapping[int, Plan]], asked: Sequence[int]) -> dict[int, Plan]:
    """Return each agent's most frequent plan among the debaters; ties go to the debater with the lowest index.

    Plans are equal if their task and actions are. A debater without a plan for an agent votes that the agent waits.

    Args:
        proposals: one joint plan per debater, in order.
        asked: the agents to plan for.
    """
    merged = {}
    for agent in asked:
        votes = [proposal.get(agent) for proposal in proposals]
        keys = [(plan.task, plan.actions) if plan is not None else None for plan in votes]
        winner = votes[keys.index(max(keys, key=keys.count))]
        if winner is not None:
            merged[agent] = winner
    return merged


@dataclass
class Panel:
    """Gets joint plans from several debaters, in one call per debater and round if no retry is needed.

    A debater whose answer cannot be parsed or carried out after all retries keeps its last proposal; without one, it is
    silent.

    Attributes:
        planners: the debaters; they share a model, but each has its own `Planner`.
        rounds: number of proposals per debater.
        merge: merges the last proposals into one joint plan: `majority`, or the result of the world's role `merge`.
        personas: descriptions of the debaters, assigned in turn; empty for identical debaters.
        in_turn: whether they speak one after another, each seeing the earlier proposals (ChatEval, "one-by-one");
            otherwise all at once.
    """

    planners: Sequence[Planner]
    rounds: int
    merge: Callable[[Sequence[Mapping[int, Plan]], Sequence[int]], dict[int, Plan]]
    personas: Sequence[str] = ()
    in_turn: bool = False

    async def plan(
        self, view: View, asked: Sequence[int], blocks: Mapping[str, object]
    ) -> tuple[dict[int, Plan], tuple[Call, ...]]:
        """Run the debate; arguments and result as in `Planner.plan`.

        Raises:
            NoJointPlan: all debaters are silent.
        """
        last: dict[int, Proposal] = {}
        rejections: Sequence[Rejection] = ()
        calls: tuple[Call, ...] = ()
        everybody = tuple(range(len(self.planners)))
        for speaking in ([(debater,) for debater in everybody] if self.in_turn else [everybody]) * self.rounds:
            shown = {k: proposal.shown(view.names) for k, proposal in last.items()}
            outcomes = await together(
                partial(
                    self.planners[k].propose, BaselineRole.DEBATER, view, asked, {**blocks, **self._debate(k, shown)}
                )
                for k in speaking
            )
            for k, outcome in zip(speaking, outcomes, strict=True):
                calls += outcome.calls
                if outcome.answer is not None:
                    last[k] = outcome.answer
                rejections = rejections or outcome.rejections
        if not last:
            raise NoJointPlan(self.planners[0].retries, rejections, calls)
        return self.merge([proposal.plans for _, proposal in sorted(last.items())], asked), calls

    def _debate(self, debater: int, shown: Mapping[int, object]) -> dict[str, object]:
        """Return a debater's view of the debate: its identity, its last proposal, and the others' last proposals."""
        others = {f"debater_{k}": proposal for k, proposal in shown.items() if k != debater}
        persona = self.personas[debater % len(self.personas)] if self.personas else None
        return {"debater": f"debater_{debater}", "persona": persona, "own": shown.get(debater), "others": others}


Source = Planner | Panel
"""A source of joint plans."""

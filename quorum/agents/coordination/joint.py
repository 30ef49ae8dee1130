"""Joint plans, what can be wrong with them, how they are written in messages, and what became of them."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

import orjson

from maeil.actions import Vocabulary
from maeil.calls import Call
from maeil.errors import EpisodeStop, InvalidThought
from maeil.messages import Ask, Draft, Message, MessageKind
from maeil.mind import MemberView, Observation, PlanView, View
from maeil.outcomes import Outcome
from maeil.plans import Plan, Task
from maeil.tasks import Constraint
from maeil.world import Progress, World
from quorum.agents.prompting.answers import part_value


class Fault(StrEnum):
    """What sort of rule a code stands for; it decides what happens when all retries are used up."""

    GRAMMAR = "grammar"  # scrutiny: the joint plan cannot be read or carried out: the episode fails
    CONFLICT = "conflict"  # scrutiny: plans do not go together: one of them is dropped
    UNAVAILABLE = "unavailable"  # confirmation: the agent cannot do it now: it waits instead
    FRUITLESS = "fruitless"  # confirmation: it can be done and brings nothing nearer: it is done all the same

    @property
    def gate(self) -> str:
        """The gate that judges by such rules: `scrutiny` or `confirmation`."""
        return "scrutiny" if self in (Fault.GRAMMAR, Fault.CONFLICT) else "confirmation"


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule.

    Attributes:
        fault: what sort of rule it is.
        constraint: the cooperation constraint that it stands for; None for form alone.
        meaning: the rule in a sentence.
    """

    fault: Fault
    constraint: Constraint | None
    meaning: str


@dataclass(frozen=True, slots=True)
class Rejection:
    """A rule that a plan breaks.

    Attributes:
        code: the rule.
        agents: the offenders, ascending; the pair when two plans do not go together. Empty when no agent can be named.
        text: what is wrong, for a model to mend.
    """

    code: str
    agents: tuple[int, ...]
    text: str


@dataclass(frozen=True, slots=True)
class Sight:
    """What a planner of joint plans can know of the world.

    Attributes:
        t: environment step.
        global_observation: the world as one without a body is shown it.
        agents: what each agent sees, by index.
    """

    t: int
    global_observation: Observation
    agents: tuple[Observation, ...]


@dataclass(frozen=True, slots=True)
class Joint:
    """A joint plan.

    Attributes:
        plans: what is suggested, by agent; agents that are asked and not in it wait.
        running: what is left of the plans of the agents that are not asked.
    """

    plans: Mapping[int, Plan]
    running: Mapping[int, Plan] = field(default_factory=dict)

    @property
    def all(self) -> dict[int, Plan]:
        """Every agent's plan, suggested or under way."""
        return {**self.running, **self.plans}


@dataclass(frozen=True, slots=True)
class Proposal:
    """A joint plan with the thoughts behind it.

    Attributes:
        plans: by agent.
        thoughts: in words.
        rejections: what is wrong with it.
    """

    plans: dict[int, Plan]
    thoughts: str = ""
    rejections: tuple[Rejection, ...] = ()

    def shown(self, names: Sequence[str]) -> dict[str, Any]:
        """Write it for a prompt by the names of the agents, JSON-ready; without thoughts where it has none."""
        thoughts = {"thoughts": self.thoughts} if self.thoughts else {}
        return {**thoughts, "plans": named(self.plans, names)}


class NoJointPlan(EpisodeStop):
    """All retries are used up, and there is no joint plan that can be read and carried out: the episode fails.

    It is a failure of the method ("syntactic error" in HMAS-2), scored and pooled like any other.
    """

    outcome = Outcome.FAILURE

    def __init__(self, retries: int, rejections: Sequence[Rejection], calls: Sequence[Call]) -> None:
        found = "; ".join(f"{rejection.code}: {rejection.text}" for rejection in rejections)
        super().__init__(f"no joint plan after {retries} retries: {found}")
        self.calls = tuple(calls)


FORM, UNKNOWN_AGENT, DUPLICATE, NOT_ASKED, IMPOSSIBLE = "V-FORM", "V-STRANGER", "V-DUPLICATE", "V-ASKED", "V-WORLD"

GRAMMAR: Mapping[str, Rule] = {
    FORM: Rule(Fault.GRAMMAR, None, "the answer is of the wanted form"),
    UNKNOWN_AGENT: Rule(Fault.GRAMMAR, None, "plans are for agents of the team"),
    DUPLICATE: Rule(Fault.GRAMMAR, None, "an agent has one plan"),
    NOT_ASKED: Rule(Fault.GRAMMAR, None, "plans are for the agents that are asked about"),
    IMPOSSIBLE: Rule(Fault.GRAMMAR, None, "a plan names what is there, as the world itself checks before a commit"),
}
"""The rules of grammar, the same in every world."""


def look(world: World, t: int) -> Sight:
    """Look at the world."""
    return Sight(t, world.global_observation(), tuple(map(world.observe, range(len(world.agents)))))


def impossible(world: World, plans: Mapping[int, Plan]) -> tuple[Rejection, ...]:
    """Return which plans the world itself would refuse in its present state, and why."""
    return tuple(
        Rejection(IMPOSSIBLE, (agent,), problem)
        for agent, plan in sorted(plans.items())
        for problem in world.check_plan(agent, plan)
    )


def called(agents: Iterable[int]) -> str:
    """Name agents of the worlds of this project in a text for a model, as everything else names them."""
    return ", ".join(f"agent_{agent}" for agent in agents)


def named(plans: Mapping[int, Plan], names: Sequence[str]) -> dict[str, Any]:
    """Write plans by the names of their agents, JSON-ready."""
    return {names[agent]: part_value(plan) for agent, plan in sorted(plans.items())}


def show_rejections(author: str, rejections: Iterable[Rejection], names: Sequence[str]) -> list[dict[str, Any]]:
    """Write for a model what is wrong with a proposal, JSON-ready.

    Args:
        author: whose proposal it is.
        rejections: what is wrong with it.
        names: of the agents.
    """
    return [
        {
            "proposal": author,
            "code": rejection.code,
            "agents": [names[agent] for agent in rejection.agents],
            "problem": rejection.text,
        }
        for rejection in rejections
    ]


@dataclass(frozen=True, slots=True)
class Objection:
    """An agent's feedback on its part of a joint plan.

    Attributes:
        agent: who objects.
        code: the rule that its part breaks; empty where no rule was asked.
        problem: what the rule found.
        issue: what the agent's model finds wrong; empty when that gave no answer.
        proposal: the plan that it would have instead.
    """

    agent: int
    code: str = ""
    problem: str = ""
    issue: str = ""
    proposal: Plan | None = None

    def said(self) -> dict[str, Any]:
        """Return all that it says, JSON-ready."""
        proposal = part_value(self.proposal) if self.proposal is not None else None
        return {"code": self.code, "problem": self.problem, "issue": self.issue, "proposal": proposal}


_UNREADABLE = (ValueError, LookupError, TypeError, InvalidThought)
"""What reading a text raises that no mind of a team with a joint plan has written."""


def directive(recipients: Sequence[int], plans: Mapping[int, Plan], names: Sequence[str]) -> Draft:
    """Write a suggestion to those whom it concerns: each reads its own part, and who its partners are."""
    content = orjson.dumps({"suggestions": named(plans, names)}).decode()
    asks = tuple(Ask(agent, plan.task) for agent, plan in plans.items() if agent in recipients and plan.task)
    return Draft(tuple(recipients), content, MessageKind.DIRECTIVE, asks=asks)


def read_directive(message: Message, vocabulary: Vocabulary, names: Sequence[str]) -> dict[int, Plan]:
    """Read a suggestion; one of plans that cannot be, or without any, as in a control arm, has a part for nobody."""
    try:
        return read_plans(orjson.loads(message.content)["suggestions"], vocabulary, names)
    except _UNREADABLE:
        return {}


def read_plans(plans: Mapping[str, Any], vocabulary: Vocabulary, names: Sequence[str]) -> dict[int, Plan]:
    """Read plans by the names of their agents: the inverse of `quorum.agents.coordination.joint.named`."""
    return {names.index(name): _plan(value, vocabulary) for name, value in plans.items()}


def feedback(recipients: Sequence[int], objection: Objection) -> Draft:
    """Write an objection."""
    return Draft(tuple(recipients), orjson.dumps(objection.said()).decode(), MessageKind.FEEDBACK, asks=())


def read_objections(messages: Iterable[Message], vocabulary: Vocabulary) -> list[Objection]:
    """Read the objections among some messages, by agent; what says nothing, as in a control arm, is none."""
    found = []
    for message in messages:
        if message.kind is MessageKind.FEEDBACK:
            with suppress(*_UNREADABLE):
                found.append(_objection(message.sender, orjson.loads(message.content), vocabulary))
    return sorted(found, key=lambda objection: objection.agent)


def _objection(agent: int, content: Mapping[str, Any], vocabulary: Vocabulary) -> Objection:
    proposal = _plan(content["proposal"], vocabulary) if content["proposal"] is not None else None
    return Objection(agent, content["code"], content["problem"], content["issue"], proposal)


def show(objection: Objection, names: Sequence[str]) -> dict[str, Any]:
    """Write an objection for a prompt, JSON-ready, without what it does not say."""
    return {key: value for key, value in {"agent": names[objection.agent], **objection.said()}.items() if value}


def _plan(value: Mapping[str, Any], vocabulary: Vocabulary) -> Plan:
    task = Task(**value["task"]) if "task" in value else None
    return Plan(tuple(vocabulary.parse(action) for action in value["actions"]), task)


class Memory:
    """The last decision epochs with their outcomes.

    Args:
        length: how many; None for all.
        names: of the agents.
    """

    def __init__(self, length: int | None, names: Sequence[str]) -> None:
        self._names = names
        self._past: deque[dict[str, Any]] = deque(maxlen=length)
        self._open: tuple[int, object, Mapping[int, Plan], Progress] | None = None

    @property
    def epochs(self) -> list[dict[str, Any]]:
        """The epochs that are over, oldest first, JSON-ready."""
        return list(self._past)

    def begin(self, t: int, state: object, plans: Mapping[int, Plan], progress: Progress) -> None:
        """Note a decision, before it is known what comes of it.

        Args:
            t: environment step.
            state: the state, in a few numbers or whole.
            plans: the suggestion.
            progress: how far the team has come.
        """
        self._open = t, state, plans, progress

    def end(self, t: int, progress: Progress, team: Sequence[MemberView], state: object = None) -> None:
        """Note what has come of the last decision, if there is one: by agent the fate of its plan, and the reward.

        The reward is the change of the world's score. A plan that still runs is `running`.

        Args:
            t: environment step.
            progress: how far the team has come.
            team: what became of the plans.
            state: what it has led to, where that is remembered.
        """
        if self._open is None:
            return
        (begin, state_before, plans, before), self._open = self._open, None
        self._past.append(
            {
                "step": begin,
                "steps": t - begin,
                "state": state_before,
                "plans": {
                    self._names[agent]: {
                        "task": str(plan.task) if plan.task is not None else None,
                        "actions": [str(action) for action in plan.actions],
                        **_fate(plan, team[agent]),
                    }
                    for agent, plan in sorted(plans.items())
                },
                "reward": round(progress.score - before.score, 6),
                "reached": progress.reached - before.reached,
                **({"next_state": state} if state is not None else {}),
            }
        )


def place(member: MemberView) -> str:
    """Return where an agent stands between two plans; another after each commit."""
    if member.plan is not None:
        return member.plan.id
    return f"after {member.outcomes[-1].id}" if member.outcomes else ""


def occasion(view: View) -> object:
    """Return what a coordinator plans for: a turn with another occasion begins another decision."""
    return (view.t, tuple(map(place, view.team)), view.notes)


def under_way(suggested: Mapping[int, Plan], view: View) -> dict[int, Plan]:
    """Return what is left of the suggestions that agents are carrying out; those who only wait have none.

    Nor have those whose plans a note of the turn is about: they are to be planned for again.
    """
    found: dict[int, Plan] = {}
    for agent, plan in suggested.items():
        member = view.team[agent]
        if agent not in view.reconsidered and member.plan is not None and is_running(plan, member):
            found[agent] = Plan(plan.actions[member.plan.done :], plan.task, plan.rationale)
    return found


def to_plan_for(running: Mapping[int, Plan], view: View) -> tuple[int, ...]:
    """Return the agents that a coordinator plans for: in a turn with notes, only those whom it may write to."""
    able = view.turn.recipients if view.notes else range(len(view.team))
    return tuple(agent for agent in able if agent not in running and agent < len(view.team))


def is_same(plan: Plan, seen: PlanView) -> bool:
    """Whether a plan is the one that a view shows, or what is left of it."""
    actions = tuple(map(str, plan.actions))
    return actions in (seen.actions, seen.actions[seen.done :])


def is_running(plan: Plan, member: MemberView) -> bool:
    """Whether a plan is the live one of an agent."""
    return member.plan is not None and member.plan.actions == tuple(map(str, plan.actions))


def _fate(plan: Plan, member: MemberView) -> dict[str, str]:
    """The status of a suggested plan, and the reason of its end if it has one; `dropped` when another was committed."""
    if is_running(plan, member):
        return {"status": "running"}
    actions = tuple(map(str, plan.actions))
    ended = next((past for past in reversed(member.outcomes) if past.actions == actions), None)
    if ended is None:
        return {"status": "dropped"}
    return {"status": ended.status.value} | ({"reason": ended.reason} if ended.reason else {})

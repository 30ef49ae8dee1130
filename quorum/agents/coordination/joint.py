"""Joint plans: their faults, their form in messages, and their outcomes."""

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
    """Kind of rule behind a rejection code; it decides what happens after all retries."""

    GRAMMAR = "grammar"  # scrutiny: the joint plan cannot be read or carried out: the episode fails
    CONFLICT = "conflict"  # scrutiny: plans conflict: one of them is dropped
    UNAVAILABLE = "unavailable"  # confirmation: the agent cannot do it now: it waits instead
    FRUITLESS = "fruitless"  # confirmation: possible but makes no progress: it is done anyway

    @property
    def gate(self) -> str:
        """The gate that applies such rules: `scrutiny` or `confirmation`."""
        return "scrutiny" if self in (Fault.GRAMMAR, Fault.CONFLICT) else "confirmation"


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule of a gate.

    Attributes:
        fault: its kind.
        constraint: the cooperation constraint that it expresses; None for rules about form only.
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
        agents: the offenders, ascending; the pair if two plans conflict; empty if no agent can be named.
        text: the problem, written for a model to fix.
    """

    code: str
    agents: tuple[int, ...]
    text: str


@dataclass(frozen=True, slots=True)
class Sight:
    """What a planner of joint plans can know about the world.

    Attributes:
        t: environment step.
        global_observation: the world as shown to a mind without a body.
        agents: what each agent sees, by index.
    """

    t: int
    global_observation: Observation
    agents: tuple[Observation, ...]


@dataclass(frozen=True, slots=True)
class Joint:
    """A joint plan.

    Attributes:
        plans: the suggested plans, by agent; agents planned for but not included wait.
        running: the remaining plans of all other agents.
    """

    plans: Mapping[int, Plan]
    running: Mapping[int, Plan] = field(default_factory=dict)

    @property
    def all(self) -> dict[int, Plan]:
        """Every agent's plan, suggested or under way."""
        return {**self.running, **self.plans}


@dataclass(frozen=True, slots=True)
class Proposal:
    """A joint plan with the reasoning behind it.

    Attributes:
        plans: by agent.
        thoughts: in words.
        rejections: its problems.
    """

    plans: dict[int, Plan]
    thoughts: str = ""
    rejections: tuple[Rejection, ...] = ()

    def shown(self, names: Sequence[str]) -> dict[str, Any]:
        """Format it for a prompt, keyed by agent name, JSON-ready; thoughts are omitted if empty."""
        thoughts = {"thoughts": self.thoughts} if self.thoughts else {}
        return {**thoughts, "plans": named(self.plans, names)}


class NoJointPlan(EpisodeStop):
    """No readable, executable joint plan after all retries: the episode fails.

    This is a failure of the method ("syntactic error" in HMAS-2), scored and pooled like any other.
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
    """Observe the world."""
    return Sight(t, world.global_observation(), tuple(map(world.observe, range(len(world.agents)))))


def impossible(world: World, plans: Mapping[int, Plan]) -> tuple[Rejection, ...]:
    """Return the plans that the world itself would refuse in its current state, with reasons."""
    return tuple(
        Rejection(IMPOSSIBLE, (agent,), problem)
        for agent, plan in sorted(plans.items())
        for problem in world.check_plan(agent, plan)
    )


def called(agents: Iterable[int]) -> str:
    """Return the names of agents for a text for a model, in the notation used everywhere else."""
    return ", ".join(f"agent_{agent}" for agent in agents)


def named(plans: Mapping[int, Plan], names: Sequence[str]) -> dict[str, Any]:
    """Return plans keyed by agent name, JSON-ready."""
    return {names[agent]: part_value(plan) for agent, plan in sorted(plans.items())}


def show_rejections(author: str, rejections: Iterable[Rejection], names: Sequence[str]) -> list[dict[str, Any]]:
    """Describe the problems of a proposal for a model, JSON-ready.

    Args:
        author: author of the proposal.
        rejections: its problems.
        names: names of the agents.
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
        agent: the objecting agent.
        code: the rule that its part breaks; empty if no rule was applied.
        problem: the problem that the rule found.
        issue: the problem that the agent's model describes; empty if it gave no answer.
        proposal: the plan that it prefers.
    """

    agent: int
    code: str = ""
    problem: str = ""
    issue: str = ""
    proposal: Plan | None = None

    def said(self) -> dict[str, Any]:
        """Return its contents, JSON-ready."""
        proposal = part_value(self.proposal) if self.proposal is not None else None
        return {"code": self.code, "problem": self.problem, "issue": self.issue, "proposal": proposal}


_UNREADABLE = (ValueError, LookupError, TypeError, InvalidThought)
"""Errors raised by reading a text that was not written by a mind of a joint-plan team."""


def directive(recipients: Sequence[int], plans: Mapping[int, Plan], names: Sequence[str]) -> Draft:
    """Write a suggestion to its recipients: each reads its own part and the names of its partners."""
    content = orjson.dumps({"suggestions": named(plans, names)}).decode()
    asks = tuple(Ask(agent, plan.task) for agent, plan in plans.items() if agent in recipients and plan.task)
    return Draft(tuple(recipients), content, MessageKind.DIRECTIVE, asks=asks)


def read_directive(message: Message, vocabulary: Vocabulary, names: Sequence[str]) -> dict[int, Plan]:
    """Read a suggestion. If it is invalid or has no plans, as in a control arm, it contains no parts."""
    try:
        return read_plans(orjson.loads(message.content)["suggestions"], vocabulary, names)
    except _UNREADABLE:
        return {}


def read_plans(plans: Mapping[str, Any], vocabulary: Vocabulary, names: Sequence[str]) -> dict[int, Plan]:
    """Read plans keyed by agent name: the inverse of `quorum.agents.coordination.joint.named`."""
    return {names.index(name): _plan(value, vocabulary) for name, value in plans.items()}


def feedback(recipients: Sequence[int], objection: Objection) -> Draft:
    """Write an objection."""
    return Draft(tuple(recipients), orjson.dumps(objection.said()).decode(), MessageKind.FEEDBACK, asks=())


def read_objections(messages: Iterable[Message], vocabulary: Vocabulary) -> list[Objection]:
    """Read the objections among some messages, by agent; messages without content, as in a control arm, are skipped."""
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
    """Format an objection for a prompt, JSON-ready, without its empty fields."""
    return {key: value for key, value in {"agent": names[objection.agent], **objection.said()}.items() if value}


def _plan(value: Mapping[str, Any], vocabulary: Vocabulary) -> Plan:
    task = Task(**value["task"]) if "task" in value else None
    return Plan(tuple(vocabulary.parse(action) for action in value["actions"]), task)


class Memory:
    """The latest decision epochs with their outcomes.

    Args:
        length: number of epochs to keep; None for all.
        names: names of the agents.
    """

    def __init__(self, length: int | None, names: Sequence[str]) -> None:
        self._names = names
        self._past: deque[dict[str, Any]] = deque(maxlen=length)
        self._open: tuple[int, object, Mapping[int, Plan], Progress] | None = None

    @property
    def epochs(self) -> list[dict[str, Any]]:
        """The finished epochs, oldest first, JSON-ready."""
        return list(self._past)

    def begin(self, t: int, state: object, plans: Mapping[int, Plan], progress: Progress) -> None:
        """Record a decision whose outcome is not yet known.

        Args:
            t: environment step.
            state: the state, summarized in a few numbers or complete.
            plans: the suggestion.
            progress: the team's progress.
        """
        self._open = t, state, plans, progress

    def end(self, t: int, progress: Progress, team: Sequence[MemberView], state: object = None) -> None:
        """Record the outcome of the last decision, if any: the status of each agent's plan, and the reward.

        The reward is the change of the world's score. Plans that have not ended are `running`.

        Args:
            t: environment step.
            progress: the team's progress.
            team: the agents' plans.
            state: the resulting state, if epochs keep it.
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
    """Return an identifier of an agent's current gap between plans; it changes with each commit."""
    if member.plan is not None:
        return member.plan.id
    return f"after {member.outcomes[-1].id}" if member.outcomes else ""


def occasion(view: View) -> object:
    """Return the occasion a coordinator plans for: a turn with another occasion starts another decision."""
    return (view.t, tuple(map(place, view.team)), view.notes)


def under_way(suggested: Mapping[int, Plan], view: View) -> dict[int, Plan]:
    """Return the remaining suggested plans that agents are carrying out, except plans that only wait.

    Plans that a note of the turn is about are excluded, because they need a new plan.
    """
    found: dict[int, Plan] = {}
    for agent, plan in suggested.items():
        member = view.team[agent]
        if agent not in view.reconsidered and member.plan is not None and is_running(plan, member):
            found[agent] = Plan(plan.actions[member.plan.done :], plan.task, plan.rationale)
    return found


def to_plan_for(running: Mapping[int, Plan], view: View) -> tuple[int, ...]:
    """Return the agents that a coordinator plans for: in a turn with notes, only those it may write to."""
    able = view.turn.recipients if view.notes else range(len(view.team))
    return tuple(agent for agent in able if agent not in running and agent < len(view.team))


def is_same(plan: Plan, seen: PlanView) -> bool:
    """Return whether a plan is the one that a view shows, or its remainder."""
    actions = tuple(map(str, plan.actions))
    return actions in (seen.actions, seen.actions[seen.done :])


def is_running(plan: Plan, member: MemberView) -> bool:
    """Return whether a plan is the live one of an agent."""
    return member.plan is not None and member.plan.actions == tuple(map(str, plan.actions))


def _fate(plan: Plan, member: MemberView) -> dict[str, str]:
    """Return the status of a suggested plan, with the reason for its end; `dropped` if another plan was committed."""
    if is_running(plan, member):
        return {"status": "running"}
    actions = tuple(map(str, plan.actions))
    ended = next((past for past in reversed(member.outcomes) if past.actions == actions), None)
    if ended is None:
        return {"status": "dropped"}
    return {"status": ended.status.value} | ({"reason": ended.reason} if ended.reason else {})

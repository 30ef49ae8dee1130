"""The mind of one DR. WELL agent (arXiv 2511.04646): it proposes a task, commits to one, and plans independently.

| role | answer |
|---|---|
| proposer | `{"thoughts": ..., "task": {"kind": ..., "target": ...}, "why": ...}` |
| committer | `{"thoughts": ..., "task": {"kind": ..., "target": ...}}` |
| planner | `{"thoughts": ..., "plan": {"actions": [...]}}`: the plan names no task, because the task is already fixed |
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import partial
from typing import Annotated, Any, Literal, TypeVar

from pydantic import Field, NonNegativeInt, PositiveInt

from maeil.actions import Vocabulary
from maeil.calls import Call
from maeil.messages import Draft, Message, MessageKind
from maeil.mind import Act, PlanView, Thought, View
from maeil.plans import Plan, Task
from maeil.tasks import Tasks
from maeil.world import World
from quorum.agents.coordination.asking import AskResult, Misread, RoleSpeaker, form, read
from quorum.agents.coordination.joint import IMPOSSIBLE, Rejection
from quorum.agents.llm.protocol import AnswerFormat
from quorum.agents.prompting.answers import TaskAnswer, Thoughts, part, plan_model, read_plan, task_value
from quorum.agents.prompting.open_tasks import OpenTaskWriter
from quorum.agents.prompting.schemas import ground
from quorum.agents.skills.lookup import RoleTeamConfig
from quorum.methods.drwell.world_model import DrwellTeam


class DrwellRole(StrEnum):
    """A role; its value is the name of its template in `quorum/methods/prompts/drwell/`."""

    PROPOSER = "proposer"
    """Proposes a task to the others in the room."""
    COMMITTER = "committer"
    """Commits to a task."""
    PLANNER = "planner"
    """Plans for its task without consulting the others."""


class DrwellConfig(RoleTeamConfig):
    """Parameters of `drwell`."""

    name: Literal["drwell"]
    repairs: NonNegativeInt
    """Maximum number of retries when an answer cannot be parsed or carried out."""
    instances: PositiveInt
    """Maximum number of earlier plans for its task shown to a planner, best first; the same limit for prototypes."""


@dataclass(frozen=True, slots=True)
class Choice:
    """A chosen task and the reason for it."""

    task: Task
    why: str


class Answers:
    """The answer schemas of a team.

    Args:
        vocabulary: the actions allowed in plans.
        max_actions: maximum number of actions in a plan.
    """

    def __init__(self, vocabulary: Vocabulary, max_actions: int) -> None:
        plan = plan_model(vocabulary, max_actions, rationale=False, task=False)
        why = Annotated[str, Field(min_length=1, max_length=400, description="the reason, in 1 to 2 sentences")]
        self._models = {
            DrwellRole.PROPOSER: part("ProposalAnswer", "", thoughts=Thoughts, task=TaskAnswer, why=why),
            DrwellRole.COMMITTER: part("CommitmentAnswer", "", thoughts=Thoughts, task=TaskAnswer),
            DrwellRole.PLANNER: part("DraftAnswer", "", thoughts=Thoughts, plan=plan),
        }
        names = ("proposal", "commitment", "plan")
        self.forms = {role: form(name, model) for name, (role, model) in zip(names, self._models.items(), strict=True)}
        """The answer schema of each role."""

    def read_choice(self, value: object, role: DrwellRole) -> Choice:
        """Parse a proposal, or a commitment, which has no reason.

        Raises:
            quorum.agents.coordination.asking.Misread: it does not match the schema.
        """
        answer = read(self._models[role], value)
        return Choice(Task(answer.task.kind, answer.task.target), getattr(answer, "why", ""))

    def read_draft(self, value: object) -> tuple[str, Plan]:
        """Parse a planner's thoughts and plan.

        Raises:
            quorum.agents.coordination.asking.Misread: they do not match the schema.
        """
        answer = read(self._models[DrwellRole.PLANNER], value)
        return answer.thoughts, read_plan(answer.plan)


@dataclass(slots=True)
class Room:
    """The proposals and latest commitments of a negotiation, by agent.

    They come from messages: the task as structured data, the reason as plain text.
    """

    proposals: dict[int, Message | Draft] = field(default_factory=dict)
    commitments: dict[int, Task] = field(default_factory=dict)

    def hear(self, messages: Sequence[Message]) -> None:
        """Record proposals and commitments from messages."""
        for message in messages:
            if message.task is None:
                continue
            if message.kind is MessageKind.PROPOSE:
                self.proposals[message.sender] = message
            elif message.kind is MessageKind.ACK:
                self.commitments[message.sender] = message.task

    def propose(self, view: View, choice: Choice) -> Draft:
        """Record a proposal and return its message."""
        text = f"I propose {choice.task}: {choice.why}"
        self.proposals[view.agent] = draft = Draft(view.turn.recipients, text, MessageKind.PROPOSE, choice.task, ())
        return draft

    def commit(self, view: View, choice: Choice) -> Draft:
        """Record a commitment and return its message."""
        self.commitments[view.agent] = choice.task
        return Draft(view.turn.recipients, f"I commit myself to {choice.task}.", MessageKind.ACK, choice.task, ())

    def shown(self, names: Sequence[str]) -> dict[str, Any]:
        """Return the prompt blocks that show the negotiation, JSON-ready."""
        said = {names[agent]: _proposal(message) for agent, message in sorted(self.proposals.items())}
        committed = {names[agent]: task_value(task) for agent, task in sorted(self.commitments.items())}
        return {"proposals": said, "commitments": committed}


def _proposal(message: Message | Draft) -> dict[str, object]:
    """Return a proposal in the shape of an answer: its task and its reason (or the message text)."""
    return {"task": task_value(message.task), "why": message.content.removeprefix(f"I propose {message.task}: ")}


MEMORY = "drwell"
"""The name of the stored world model, which all minds of a team share."""

T = TypeVar("T")


@dataclass(eq=False)
class DrwellMind:
    """The mind of one agent. It shares its team's record of attempted plans and their results.

    - In a turn to speak, it proposes an open task, given the world model's record of each.
    - In a turn to acknowledge, it commits to a task, given all proposals.
    - In a turn to plan, it plans for its allotted task, given that task's prototypes and instances, best first. No
      other agent reads the plan. If no task was allotted, it chooses one first.

    The mind retries, quoting the reasons, if an answer cannot be parsed, names a task that is not open, or is a plan
    that the world rejects or that does not serve the task. After `repairs` retries, the thought is a failure.

    Attributes:
        speaker: prompts the agent's model.
        answers: the answer schemas.
        team: the state that the minds share.
        world: the world the agent acts in.
        settings: limits.
    """

    speaker: RoleSpeaker
    answers: Answers
    team: DrwellTeam
    world: World
    settings: DrwellConfig
    memory_name: str = MEMORY
    """The name of the shared memory."""
    _room: Room = field(default_factory=Room)

    def remember(self) -> Any:
        """Return the world model of the team."""
        return self.team.remember()

    async def think(self, view: View) -> Thought:
        """Learn from the last plan, then propose, commit or plan."""
        if view.plan is None:
            self.team.end(view.agent, view.outcomes, view.t)
        if Act.SPEAK in view.turn.acts:
            self._room = Room()
        self._room.hear(view.unread)
        if Act.PLAN in view.turn.acts:
            return await self._plan(view)
        if not view.constraints:
            return Thought()
        role = DrwellRole.PROPOSER if Act.SPEAK in view.turn.acts else DrwellRole.COMMITTER
        asked = await self._choose(view, role)
        if asked.answer is None:
            return Thought(calls=asked.calls, failure=_no_answer(asked.rejections))
        say = self._room.propose if role is DrwellRole.PROPOSER else self._room.commit
        return Thought(messages=(say(view, asked.answer),), calls=asked.calls)

    async def _choose(self, view: View, role: DrwellRole) -> AskResult[Choice]:
        """Ask for one of the open tasks, showing the world model's record of each and the negotiation so far."""
        tasks = [open_task.task for open_task in view.constraints]

        def reader(value: object) -> Choice:
            choice = self.answers.read_choice(value, role)
            if choice.task not in tasks:
                reason = f"{choice.task} is no open task; they are: {', '.join(map(str, tasks)) or 'none'}"
                raise Misread([Rejection(IMPOSSIBLE, (view.agent,), reason)])
            return choice

        form = self.answers.forms[role]
        wanted = replace(form, grounded=partial(ground, form.schema, {}, (), _by_kind(tasks)))
        room = [view.names[agent] for agent in sorted((view.agent, *view.turn.recipients))]
        blocks = {"tasks": self._known(view), "room": room, **self._room.shown(view.names)}
        return await self._ask(role, wanted, reader, view, blocks)

    async def _plan(self, view: View) -> Thought:
        """Plan for the allotted task. Without one, choose a task first; if none is open, wait."""
        task = view.turn.task
        calls: tuple[Call, ...] = ()
        if task is None and not view.constraints:
            return Thought(Plan((self.world.idle,) * self.settings.pause, None, "there is no open task"))
        if task is None:
            chosen = await self._choose(view, DrwellRole.PROPOSER)
            if chosen.answer is None:
                return Thought(calls=chosen.calls, failure=_no_answer(chosen.rejections))
            task, calls = chosen.answer.task, chosen.calls
        asked = await self._draft(view, task)
        if asked.answer is None:
            return Thought(calls=(*calls, *asked.calls), failure=_no_answer(asked.rejections))
        self.team.begin(view.agent, task, asked.answer, view.t)
        return Thought(asked.answer, calls=(*calls, *asked.calls))

    async def _draft(self, view: View, task: Task) -> AskResult[Plan]:
        def read(value: object) -> Plan:
            thoughts, drafted = self.answers.read_draft(value)
            plan = Plan(drafted.actions, task, thoughts)
            problems = self.world.check_plan(view.agent, plan)
            if not problems and not self.team.serves(view.agent, plan, task):
                problems = (f"its actions do not work at your task {task}",)
            if problems:
                raise Misread([Rejection(IMPOSSIBLE, (view.agent,), problem) for problem in problems])
            return plan

        model, most = self.team.model, self.settings.instances
        blocks = {
            "tasks": [entry for entry in self._known(view) if entry["task"] == task_value(task)],
            "task": task_value(task),
            "partners": [view.names[partner] for partner in view.turn.partners],
            "prototypes": [{"kinds": kinds, **found.shown()} for kinds, found in model.prototypes(str(task))[:most]],
            "instances": [
                {
                    "plan": {"actions": tried.actions, "status": tried.outcome, "reason": tried.reason},
                    "team": tried.team,
                    **found.shown(),
                }
                for tried, found in model.attempts(str(task))[:most]
            ],
        }
        return await self._ask(DrwellRole.PLANNER, self.answers.forms[DrwellRole.PLANNER], read, view, blocks)

    def _known(self, view: View) -> list[dict[str, object]]:
        """Return the open tasks, each with the world model's record."""
        writer = OpenTaskWriter(self.world, view)
        known = []
        for task in view.constraints:
            found = self.team.model.of_task(str(task.task))
            known.append({**writer.write(task), **(found.shown() if found is not None else {"attempts": 0})})
        return known

    async def _ask(
        self,
        role: DrwellRole,
        wanted: AnswerFormat,
        reader: Callable[[object], T],
        view: View,
        blocks: Mapping[str, object],
    ) -> AskResult[T]:
        """Ask until an answer is usable or the retries run out."""
        given = {"observation": view.observation, "past_plans": [_past(plan) for plan in view.outcomes], **blocks}
        problems = [Rejection(IMPOSSIBLE, (view.agent,), text) for text in view.problems]
        return await self.speaker.ask_until_usable(
            role, wanted, reader, view, given, retries=self.settings.repairs, problems=problems, plain=True
        )


def _by_kind(tasks: Iterable[Task]) -> Tasks:
    found: dict[str, list[str]] = {}
    for task in tasks:
        found.setdefault(task.kind, []).append(task.target)
    return found


def _past(plan: PlanView) -> dict[str, object]:
    """Return one of the agent's recent plans as a prompt shows it."""
    past: dict[str, object] = {"actions": plan.actions, "status": plan.status.value, "reason": plan.reason}
    return past if plan.task is None else {**past, "task": str(plan.task)}


def _no_answer(rejections: Iterable[Rejection]) -> str:
    return f"no valid answer: {'; '.join(rejection.text for rejection in rejections)}"

"""The mind of one agent of DR. WELL (arXiv 2511.04646): it proposes, commits itself, and plans alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from maeil.calls import Call
from maeil.messages import Draft, Message, MessageKind
from maeil.mind import Act, PlanView, Thought, View
from maeil.plans import Plan, Task
from maeil.world import World
from quorum.agents.coordination.asking import Misread, RoleSpeaker
from quorum.agents.coordination.joint import FORM, IMPOSSIBLE, Rejection, show_rejections
from quorum.agents.drwell.settings import Answers, Choice, DrwellConfig, DrwellRole
from quorum.agents.drwell.world_model import DrwellTeam
from quorum.agents.llm.protocol import AnswerFormat
from quorum.agents.prompting.open_tasks import OpenTaskWriter


@dataclass(slots=True)
class Room:
    """The proposals and the last commitments of a negotiation, by agent.

    They are read from messages: the task as data, the reason as the text that it is.
    """

    proposals: dict[int, Message | Draft] = field(default_factory=dict)
    commitments: dict[int, Task] = field(default_factory=dict)

    def hear(self, messages: Sequence[Message]) -> None:
        """Take in what was said."""
        for message in messages:
            if message.task is None:
                continue
            if message.kind is MessageKind.PROPOSE:
                self.proposals[message.sender] = message
            elif message.kind is MessageKind.ACK:
                self.commitments[message.sender] = message.task

    def propose(self, view: View, choice: Choice) -> Draft:
        """Return the message of a proposal, and keep it."""
        text = f"I propose {choice.task}: {choice.why}"
        self.proposals[view.agent] = draft = Draft(view.turn.recipients, text, MessageKind.PROPOSE, choice.task)
        return draft

    def commit(self, view: View, choice: Choice) -> Draft:
        """Return the message of a commitment, and keep it."""
        self.commitments[view.agent] = choice.task
        return Draft(view.turn.recipients, f"I commit myself to {choice.task}.", MessageKind.ACK, choice.task)

    def shown(self, names: Sequence[str]) -> dict[str, Any]:
        """Return the blocks of a prompt that tell it, JSON-ready."""
        said = {names[agent]: proposal.content for agent, proposal in sorted(self.proposals.items())}
        committed = {names[agent]: str(task) for agent, task in sorted(self.commitments.items())}
        return {"proposals": said, "commitments": committed}


MEMORY = "drwell"
"""The name under which the world model is kept, which all minds of a team share."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class _Asked(Generic[T]):
    """What came of asking: the answer, None where there is none that can be used; why; and all calls."""

    answer: T | None
    reasons: tuple[str, ...]
    calls: tuple[Call, ...]


class DrwellMind:
    """The mind of one agent. What was tried, and what came of it, it shares with its team.

    - A turn to speak: it proposes an open task, knowing what the world model says of each.
    - A turn to acknowledge: it commits itself to one, knowing all proposals.
    - A turn to plan: it plans for the task that was allotted to it, shown the prototypes and instances of that task,
      the best ones first. Nobody reads the plan. Where nothing was allotted to it, it chooses a task by itself first.

    An answer that cannot be read, names a task that is not open, or is a plan that the world refuses or that does not
    serve the task, is asked for again, with the reasons. After `repairs` of them the thought is a failure.

    Args:
        speaker: asks its model.
        answers: the forms of its answers.
        team: what the minds share.
        world: that it acts in.
        settings: bounds.
    """

    def __init__(
        self, speaker: RoleSpeaker, answers: Answers, team: DrwellTeam, world: World, settings: DrwellConfig
    ) -> None:
        self._speaker = speaker
        self._answers = answers
        self._team = team
        self._world = world
        self._settings = settings
        self._room = Room()
        self.memory_name = MEMORY
        """The name of the memory that it shares."""

    def remember(self) -> Any:
        """Return the world model of the team."""
        return self._team.remember()

    async def think(self, view: View) -> Thought:
        """Learn from its last plan; then propose, commit itself, or plan."""
        if view.plan is None:
            self._team.end(view.agent, view.outcomes, view.t)
        if Act.SPEAK in view.turn.acts:
            self._room = Room()
        self._room.hear(view.unread)
        if Act.PLAN in view.turn.acts:
            return await self._plan(view)
        if not view.constraints:
            return Thought()
        proposes = Act.SPEAK in view.turn.acts
        asked = await (self._propose(view) if proposes else self._commit(view))
        if asked.answer is None:
            return Thought(calls=asked.calls, failure=_no_answer(asked.reasons))
        say = self._room.propose if proposes else self._room.commit
        return Thought(messages=(say(view, asked.answer),), calls=asked.calls)

    async def _propose(self, view: View) -> _Asked[Choice]:
        read = self._open_choice(view, self._answers.read_proposal)
        return await self._ask(DrwellRole.PROPOSER, self._answers.proposal, read, view, self._tasks(view))

    async def _commit(self, view: View) -> _Asked[Choice]:
        read = self._open_choice(view, self._answers.read_commitment)
        return await self._ask(DrwellRole.COMMITTER, self._answers.commitment, read, view, self._tasks(view))

    async def _plan(self, view: View) -> Thought:
        """Plan for the task; choose one first where there is none, and wait where none is open."""
        task = view.turn.task
        calls: tuple[Call, ...] = ()
        if task is None and not view.constraints:
            return Thought(Plan((self._world.idle,) * self._settings.pause, None, "there is no open task"))
        if task is None:
            chosen = await self._propose(view)
            if chosen.answer is None:
                return Thought(calls=chosen.calls, failure=_no_answer(chosen.reasons))
            task, calls = chosen.answer.task, chosen.calls
        asked = await self._draft(view, task)
        if asked.answer is None:
            return Thought(calls=(*calls, *asked.calls), failure=_no_answer(asked.reasons))
        self._team.begin(view.agent, task, asked.answer, view.t)
        return Thought(asked.answer, calls=(*calls, *asked.calls))

    async def _draft(self, view: View, task: Task) -> _Asked[Plan]:
        def read(value: object) -> Plan:
            thoughts, drafted = self._answers.read_draft(value)
            plan = Plan(drafted.actions, task, thoughts)
            problems = self._world.check_plan(view.agent, plan)
            if not problems and not self._team.serves(view.agent, plan, task):
                problems = (f"its actions do not work at your task {task}",)
            if problems:
                raise Misread([Rejection(IMPOSSIBLE, (view.agent,), problem) for problem in problems])
            return plan

        model, most = self._team.model, self._settings.instances
        blocks = {
            "tasks": [
                entry for entry in self._known(view) if entry["task"] == {"kind": task.kind, "target": task.target}
            ],
            "task": str(task),
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
        return await self._ask(DrwellRole.PLANNER, self._answers.draft, read, view, blocks)

    def _open_choice(self, view: View, read: Callable[[object], Choice]) -> Callable[[object], Choice]:
        """Read a choice, which has to be one of the open tasks."""

        def checked(value: object) -> Choice:
            choice = read(value)
            tasks = [open_task.task for open_task in view.constraints]
            if choice.task not in tasks:
                names = ", ".join(map(str, tasks)) or "none"
                reason = f"{choice.task} is no open task; they are: {names}"
                raise Misread([Rejection(IMPOSSIBLE, (view.agent,), reason)])
            return choice

        return checked

    def _tasks(self, view: View) -> Mapping[str, object]:
        """The blocks of those who choose: the open tasks with what is known of each, and what was said in the room."""
        room = [view.names[agent] for agent in sorted((view.agent, *view.turn.recipients))]
        return {"tasks": self._known(view), "room": room, **self._room.shown(view.names)}

    def _known(self, view: View) -> list[dict[str, object]]:
        """The open tasks, each with what the world model says of it."""
        writer = OpenTaskWriter(self._world, view)
        known = []
        for task in view.constraints:
            found = self._team.model.of_task(str(task.task))
            known.append({**writer.write(task), **(found.shown() if found is not None else {"attempts": 0})})
        return known

    async def _ask(
        self,
        role: DrwellRole,
        wanted: AnswerFormat,
        read: Callable[[object], T],
        view: View,
        blocks: Mapping[str, object],
    ) -> _Asked[T]:
        """Ask until an answer can be used, or all repairs are used up."""
        calls: list[Call] = []
        refused: object = None
        rejections: Sequence[Rejection] = [Rejection(IMPOSSIBLE, (view.agent,), text) for text in view.problems]
        while True:
            given = {
                "observation": view.observation,
                "past_plans": [_past(plan) for plan in view.outcomes],
                **blocks,
                "refused": refused,
                "feedback": [entry["problem"] for entry in show_rejections(role, rejections, view.names)],
            }
            asked = await self._speaker.ask(role, wanted, view, given)
            rejections = [Rejection(FORM, (), reason) for reason in asked.reasons]
            if asked.value is not None:
                try:
                    found = read(asked.value)
                except Misread as error:
                    rejections = error.rejections
                else:
                    return _Asked(found, (), (*calls, asked.call))
            calls.append(self._speaker.rejected(asked.call, rejections))
            if len(calls) > self._settings.repairs:
                return _Asked(None, tuple(rejection.text for rejection in rejections), tuple(calls))
            refused = asked.value


def _past(plan: PlanView) -> dict[str, object]:
    """One of the agent's own last plans, as a prompt shows it."""
    past: dict[str, object] = {"actions": plan.actions, "status": plan.status.value, "reason": plan.reason}
    return past if plan.task is None else {**past, "task": str(plan.task)}


def _no_answer(reasons: Sequence[str]) -> str:
    return f"no valid answer: {'; '.join(reasons)}"

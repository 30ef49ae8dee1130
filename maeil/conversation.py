"""The cognitive phase: thoughts and messages between two environment steps, in the order of the cognitive clock."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from maeil.clock import EventQueue
from maeil.constraints import Feedback
from maeil.contracts import check_items, name_of
from maeil.errors import ContractError, IllegalTransition, StalledConversation
from maeil.extension import Extension
from maeil.messages import Draft, Message
from maeil.mind import Act, Note, Resume, Thought, Turn, View
from maeil.plans import Plan
from maeil.review import review
from maeil.settings import LoopSettings
from maeil.stages import Stage, Trigger, may_send
from maeil.tasks import OpenTask
from maeil.team import Participant, Team
from maeil.thinking import Limits, Thinking, TurnAttempt, observation_of
from maeil.together import together
from maeil.topology import Topology, TurnTaken
from maeil.trace.events import ForcedReady, MessageSent, MessagesRead, ThoughtEnd, ThoughtStart
from maeil.turn_checks import check_forced, check_turn
from maeil.world import GivesArrays, World


class Conversation:
    """Runs the conversation of each environment step, and exposes its state to the topology.

    All events of an instant take effect before the thoughts that they cause start. These thoughts run concurrently, and
    the next event leaves the queue only after all of them have returned. So the order of events depends on costs only.
    """

    def __init__(  # noqa: PLR0917 (made once)
        self, world: World, team: Team, topology: Topology, settings: LoopSettings, feedback: Feedback,
        extensions: Sequence[Extension] = (),
    ) -> None:  # fmt: skip
        self._world = world
        # Checked once, because an isinstance check of a protocol takes longer than building the rest of a view.
        self._arrays = world.arrays if isinstance(world, GivesArrays) else None
        self._team = team
        self._usual = self._topology = topology
        self.settings = settings
        """The parameters of the loop; they may change during the episode."""
        self._feedback = feedback
        self._extensions = {extension.name: extension for extension in extensions}
        self._limits = Limits(settings.thought_seconds, settings.episode_seconds)
        # Holds the ends of thoughts, and the arrivals of messages, one for each recipient.
        self._queue: EventQueue[Thinking | Message] = EventQueue()
        self._in_flight: list[Thinking] = []
        self._awaited: set[int] = set()
        self._messages = self._first = 0
        self.agents, self.participants = len(team.agents), len(team.participants)
        self.opened_by: list[int] = []
        self.taken: list[TurnTaken] = []

    # The state of the conversation, for topologies.

    @property
    def t(self) -> int:
        """Environment step."""
        return self._team.now.t

    @property
    def undecided(self) -> list[int]:
        """Agents in R or I that are not currently thinking, ascending."""
        return sorted(self._team.undecided - self._awaited)

    def found_by(self, extension: str) -> Any:
        """Return an extension's data for topologies; None if the episode does not use the extension."""
        return self._extensions[extension].found() if extension in self._extensions else None

    @property
    def quiet(self) -> bool:
        """Whether no participant is thinking and no message is in flight."""
        return not self._awaited and not self._queue

    def may_speak(self, participant: int) -> bool:
        """Whether a participant may get a turn."""
        found = self._team.participants[participant]
        if participant in self._awaited:
            return False
        return may_send(found.stage) if found.embodied else found.thoughts < self.settings.max_thoughts_per_step

    def sent(self, participant: int) -> int:
        """Number of messages that a participant has sent in this environment step."""
        return self._team.participants[participant].sent

    def distance(self, agent: int, other: int) -> float | None:
        """Distance between two agents in the world's own measure."""
        return self._world.distance(agent, other)

    def open_tasks(self) -> Sequence[OpenTask]:
        """Return the current open tasks."""
        return self._feedback.now()

    # Called by the scheduler.

    def begin_step(self) -> None:
        """Reset the counts of the last environment step, and wake agents that have unread messages."""
        for participant in self._team.participants:
            participant.thoughts = participant.sent = participant.forced = 0
        for agent in self._team.agents:
            if agent.mailbox and agent.stage is Stage.EXECUTE:
                self._team.change_stage(agent, Trigger.MESSAGE)

    async def run(self, topology: Topology | None = None) -> None:
        """Let the participants think and talk until all agents are ready and the topology gives no more turns.

        Args:
            topology: the topology that gives the turns; None for the team's own.

        Raises:
            StalledConversation: the topology gives no turn to an agent that needs a decision.
            LimitReached: a wall-clock limit has passed.
            Exception: any error that a mind raises.
        """
        self._limits.check_episode()
        self._topology = topology or self._usual
        self.taken.clear()
        self._first = self._messages
        for extension in self._extensions.values():
            extension.conversation_begins(self._topology)
        self.opened_by = self.undecided
        try:
            await self._converse()
        except BaseException:
            self._close_books()
            raise
        if waiting := self.undecided:
            names = ", ".join(self._team.names[index] for index in waiting)
            stalled = StalledConversation(
                f"step {self.t}: topology '{self._topology.name}' gives no turn to {names}, who still need a decision"
            )
            stalled.blamed = self._topology.turns
            raise stalled

    async def _converse(self) -> None:
        while True:
            if self.quiet:
                for extension in self._extensions.values():
                    await extension.conversation_rests(self._topology, self)
            self._open_turns()
            await self._collect()
            if not self._queue:
                return
            self._drain_instant()

    def _open_turns(self) -> None:
        give = self._topology.turns
        while turns := check_items(give(self), Turn, give, "a list of maeil.Turn, empty for none") or self._left():
            for turn in turns:
                check_turn(turn, self.participants, give)
                participant = self._team.participants[turn.agent]
                if participant.embodied and not may_send(participant.stage):
                    illegal = IllegalTransition(f"{participant.name} gets a turn in stage {participant.stage.value}")
                    illegal.blamed = give
                    raise illegal
                if participant.thoughts < self.settings.max_thoughts_per_step:
                    self._think(TurnAttempt(turn))
                else:
                    self._force_ready(turn, participant)

    def _left(self) -> list[Turn]:
        """Return the turns that extensions give when the conversation is quiet and the topology gives none."""
        found = (extension.turns(self) for extension in self._extensions.values()) if self.quiet else ()
        return next((list(turns) for turns in found if turns), [])

    def _think(self, attempt: TurnAttempt) -> None:
        """Start a thought: the participant reads its messages and observes the current state of the world."""
        participant = self._team.participants[attempt.turn.agent]
        participant.thoughts += 1
        self._awaited.add(participant.index)
        self._team.record(ThoughtStart(participant.index, attempt.turn.words, attempt.problems))
        unread = tuple(participant.mailbox)
        participant.mailbox.clear()
        if unread:
            self._team.record(MessagesRead(participant.index, [message.id for message in unread]))
        for extension in self._extensions.values():
            reads = extension.reads
            found = check_items(reads(participant, unread), Message, reads, "a tuple of maeil.Message, empty for none")
            unread = tuple(found)
        noting = (extension.before_thought(participant, attempt.turn) for extension in self._extensions.values())
        notes = [note for found in noting for note in found]
        self._in_flight.append(Thinking(attempt, self._view(attempt, participant, unread, notes)))
        participant.memory.extend(unread)

    def _view(
        self, attempt: TurnAttempt, participant: Participant, unread: tuple[Message, ...], notes: Sequence[Note]
    ) -> View:
        """Return the view of a participant that starts to think."""
        memory, turn = tuple(participant.memory), attempt.turn
        return View(
            agent=participant.index,
            name=participant.name,
            names=self._team.names,
            turn=turn,
            t=self._team.now.t,
            t_hat=self._team.now.t_hat,
            observation=observation_of(participant, self._world),
            unread=unread,
            memory=memory[max(0, len(memory) - self.settings.memory_messages) :],
            plan=participant.plan_view(),
            outcomes=tuple(participant.outcomes),
            constraints=self._feedback.shown(turn, (*memory, *unread), self._first),
            problems=attempt.problems,
            team=() if participant.embodied else self._team.members(),
            notes=tuple(notes),
            arrays=partial(self._arrays, participant.index) if self._arrays and participant.embodied else None,
        )

    async def _collect(self) -> None:
        """Wait for all thoughts under way, since a thought's end on the clock is only known once it has returned."""
        if not self._in_flight:
            return
        self._team.flush()
        in_flight, self._in_flight = self._in_flight, []
        try:
            minds = [self._team.participants[thinking.view.agent].mind for thinking in in_flight]
            await together(
                partial(thinking.run, mind, self._limits) for thinking, mind in zip(in_flight, minds, strict=True)
            )
        finally:
            for thinking in in_flight:
                unit, count = self.settings.clock_unit, self.settings.clock_count
                thinking.cost = unit.cost(thinking.calls, thinking.seconds, count)
                self._queue.push(self._team.now.t_hat + thinking.cost, thinking.view.agent, thinking)

    def _close_books(self) -> None:
        """Record the cost of thoughts that the end of the episode cuts short: their calls still have to be paid for."""
        while self._queue:
            instant = self._queue.next_time
            _, event = self._queue.pop(instant) or (0, None)
            if isinstance(event, Thinking) and (event.returned or event.calls):
                self._team.now.t_hat = instant
                self._record_end(event, (event.why_in_vain,))

    def _drain_instant(self) -> None:
        """Advance to the next instant and process its events in the order of the queue."""
        self._team.now.t_hat = instant = self._queue.next_time
        again: list[TurnAttempt] = []
        while (found := self._queue.pop(instant)) is not None:
            agent, event = found
            if isinstance(event, Message):
                recipient = self._team.participants[agent]
                recipient.mailbox.append(event)
                if recipient.embodied and recipient.stage in (Stage.WAIT, Stage.EXECUTE):
                    self._team.change_stage(recipient, Trigger.MESSAGE)
            elif (attempt := self._take_effect(event)) is not None:
                again.append(attempt)
        for attempt in again:
            self._think(attempt)

    def _take_effect(self, thinking: Thinking) -> TurnAttempt | None:
        """Apply a thought; or refuse it, and return the next attempt at the turn if one is left."""
        attempt, thought, view = thinking.attempt, thinking.thought, thinking.view
        author = self._team.participants[attempt.turn.agent]
        try:
            failure = thought.failure if isinstance(thought, Thought) else ""
            reasons = (failure,) if failure else self._review(thought, view, author)
        except BaseException:
            self._queue.push(self._team.now.t_hat, author.index, thinking)  # so that its calls are still recorded
            raise
        self._record_end(thinking, reasons)
        spent = author.thoughts >= self.settings.max_thoughts_per_step
        if reasons and not failure and attempt.number < self.settings.max_repairs and not spent:
            return TurnAttempt(attempt.turn, attempt.number + 1, reasons)
        self._awaited.discard(author.index)
        self.taken.append(TurnTaken.of(attempt.turn, () if reasons else thought.messages))
        for name, extension in self._extensions.items():
            extension.answered(view, None if reasons else thought.answers.get(name))
        if not reasons:
            self._send(author, thought.messages, attempt.turn)
            self._decide(author, thought.decision)
        elif Act.PLAN in attempt.turn.acts and author.embodied:
            self._fall_back(author, thinking.failure_flag if failure else "invalid_plan")
        return None

    def _review(self, thought: Thought, view: View, author: Participant) -> tuple[str, ...]:
        """Return the reasons why the loop or an extension refuses a thought; empty if it is accepted."""
        reasons = review(thought, view, author, self._world)
        if not thought.answers.keys() <= self._extensions.keys():
            think, unknown = author.mind.think, sorted(thought.answers.keys() - self._extensions.keys())
            raise ContractError(
                f"{name_of(think)}(): its Thought answers {unknown[0]!r}, but the episode has no such extension: "
                "add requires=... to the Component of the mind",
                think,
            )
        return (*reasons, *(why for one in self._extensions.values() for why in one.review(thought, view, author)))

    def _record_end(self, thinking: Thinking, refused: tuple[str, ...]) -> None:
        """Record the cost of a thought and, if it has no effect, the reasons."""
        calls = [call.record for call in thinking.calls]
        self._team.record(ThoughtEnd(thinking.view.agent, thinking.cost, calls, refused, round(thinking.seconds, 6)))

    def _decide(self, author: Participant, decision: Plan | Resume | None, flag: str = "") -> None:
        if decision is None:
            return
        if decision is Resume.RESUME:
            self._team.change_stage(author, Trigger.RESUMED)
        elif isinstance(decision, Plan):
            self._team.commit(author, decision, flag)
        if author.mailbox:
            self._team.change_stage(author, Trigger.MESSAGE)

    def _fall_back(self, agent: Participant, flag: str) -> None:
        """Decide for an agent whose mind gave no valid plan: resume its plan, or idle for one tick."""
        if agent.plan is not None:
            self._decide(agent, Resume.RESUME)
        else:
            self._decide(agent, Plan((self._world.idle,)), flag)

    def _force_ready(self, turn: Turn, participant: Participant) -> None:
        """End the turn of a participant that has no thoughts left. Its unread messages wait for the next step."""
        most, start = self.settings.max_thoughts_per_step * self.participants, self._world.start_action
        check_forced(participant, most, self.t, self._topology.turns, start)
        self.taken.append(TurnTaken(turn, 0))
        self._team.record(ForcedReady(participant.index))
        if participant.embodied:
            mailbox, participant.mailbox = participant.mailbox, []
            self._fall_back(participant, "forced_ready")
            participant.mailbox = mailbox

    def _send(self, sender: Participant, drafts: tuple[Draft, ...], turn: Turn) -> None:
        """Send messages with their attached open tasks."""
        now = self._team.now
        for draft in drafts:
            tasks = self._feedback.now(f"{draft.content} {draft.task or ''}") if turn.feedback and turn.role else ()
            recipients = tuple(sorted(set(draft.recipients)))
            arrival = now.t_hat + self.settings.delivery
            content = draft.in_words(self._team.names)
            message = Message(
                self._messages, sender.index, recipients, content, draft.kind, now.t, now.t_hat, arrival, tasks,
                draft.task, draft.asks,
            )  # fmt: skip
            self._messages += 1
            sender.sent += 1
            sender.memory.append(message)
            self._team.record(
                MessageSent(
                    message.id, sender.index, recipients, message.kind, content, arrival,
                    [task.to_json() for task in tasks], draft.task.to_json() if draft.task is not None else None,
                    [ask.to_json() for ask in draft.asks] if draft.asks is not None else None,
                )
            )  # fmt: skip
            for recipient in recipients:
                self._queue.push(arrival, recipient, message)

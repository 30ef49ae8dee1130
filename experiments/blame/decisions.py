"""The decisions of a run, each with what a reference would have decided in its place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import orjson

from maeil import Mind, TeamContext
from maeil.calls import Ledger, entered_in
from maeil.mind import Act, Resume, Thought, View
from maeil.plans import Plan
from maeil.trace import Instant, Recorder
from maeil.trace.story import Story
from maeil.user_errors import UserError
from quorum.agents.llm.errors import BudgetReached
from quorum.experiments.blame.correction import Correction
from quorum.experiments.blame.reference import Reference
from quorum.experiments.branch.change import Change
from quorum.experiments.common.event_loop import run_coroutine
from quorum.experiments.episode.branching import Branching, PrefixRefused
from quorum.experiments.episode.call_books import CallBooks
from quorum.experiments.episode.dictated import Words
from quorum.experiments.episode.model_pool import ModelPool
from quorum.experiments.episode.models import EpisodeModels
from quorum.experiments.episode.parts import build
from quorum.experiments.episode.runner import play
from quorum.experiments.episode.team import Team


@dataclass(frozen=True, slots=True)
class Choice:
    """What a mind decided in a turn.

    Attributes:
        actions: of the plan that it committed, as the trace has them; None: it committed none.
        task: what the plan is for: kind and target; None: it says nothing of that.
        resumes: whether it goes on with the plan that it has.
        says: texts of its messages.
        failure: why there is no answer; empty where there is one.
    """

    actions: tuple[Mapping[str, Any], ...] | None
    task: Mapping[str, str] | None
    resumes: bool
    says: tuple[str, ...]
    failure: str = ""

    @classmethod
    def of(cls, thought: Thought) -> Choice:
        """Return what a thought decides."""
        plan = thought.decision
        says = tuple(draft.content for draft in thought.messages)
        if not isinstance(plan, Plan):
            return cls(None, None, plan is Resume.RESUME, says, thought.failure)
        actions = tuple(action.model_dump(mode="json") for action in plan.actions)
        return cls(actions, asdict(plan.task) if plan.task is not None else None, False, says, thought.failure)


@dataclass(frozen=True, slots=True)
class Decision:
    """A turn of a run in which somebody decided something.

    Attributes:
        agent: name of the participant.
        t: environment step.
        t_hat: cognitive time at which its thought began.
        acts: what the turn let it do.
        own: what it decided.
        other: what the reference would have decided.
        heard: whether the reference talks, so that what it says counts.
        sent: ids of the messages that it sent.
    """

    agent: str
    t: int
    t_hat: int | float
    acts: frozenset[Act]
    own: Choice
    other: Choice
    heard: bool
    sent: tuple[int, ...] = ()

    @property
    def planned_otherwise(self) -> bool:
        """Whether the reference would have planned something else."""
        same = (self.own.actions, self.own.resumes) == (self.other.actions, self.other.resumes)
        return Act.PLAN in self.acts and not self.other.failure and not (same and not self.own.failure)

    @property
    def said_otherwise(self) -> bool:
        """Whether the reference would have said something else."""
        return self.heard and not self.other.failure and self.own.says != self.other.says

    @property
    def differs(self) -> bool:
        """Whether the reference would have decided something else: only then can it be a mistake."""
        return self.planned_otherwise or self.said_otherwise

    @property
    def instant(self) -> Instant:
        """When it was begun."""
        return Instant(self.t, self.t_hat)

    def correction(self) -> Correction | None:
        """Return the change of this one turn that has it decided as the reference would; None where nobody can say so.

        A plan in the place of another one, and a message in the place of another one or of silence, can be dictated,
        and messages can be dropped; to go on with a plan cannot be said.
        """
        words: list[Words] = []
        drops: tuple[int, ...] = ()
        if self.planned_otherwise:
            if self.other.actions is None:
                return None
            words.append(Words(self.agent, actions=orjson.dumps(self.other.actions).decode()))
        if self.said_otherwise:
            if not self.other.says and self.sent:
                drops = self.sent
            elif len(self.other.says) == 1:
                words.append(Words(self.agent, text=self.other.says[0]))
            else:
                return None
        return Correction(self.instant, words=tuple(words), drops=drops)

    def takeover(self) -> Correction:
        """Return the change that has the reference decide for its agent from this turn on."""
        return Correction(self.instant, (self.agent,))


@dataclass(frozen=True, slots=True)
class Decisions:
    """All that was decided in a run.

    Attributes:
        every: in the order in which it was decided.
        calls: answers of models that are no simulated ones that the reference took.
        usd: what they have cost.
        asked: whether the reference was asked of every one; a budget may have ended that.
    """

    every: tuple[Decision, ...]
    calls: int = 0
    usd: float = 0.0
    asked: bool = True

    @property
    def candidates(self) -> tuple[Decision, ...]:
        """Those that the reference would have decided otherwise."""
        return tuple(decision for decision in self.every if decision.differs)


@dataclass(slots=True)
class _Shadow:
    """What is seen while a run is played again.

    Attributes:
        heard: whether the reference talks.
        most: answers of models that the reference may take; None: any number.
        usd: money that it may take; None: any.
    """

    heard: bool
    most_calls: int | None
    most_usd: float | None
    found: list[Decision] = field(default_factory=list)
    calls: int = 0
    usd: float = 0.0
    asked: bool = True


class _Asked:
    """A mind beside which the reference is asked the same; what that answers counts for nothing.

    Args:
        mind: that which decides.
        reference: that which is asked.
        shadow: takes down both.
    """

    def __init__(self, mind: Mind, reference: Mind, shadow: _Shadow) -> None:
        self._mind = mind
        self._reference = reference
        self._shadow = shadow

    async def think(self, view: View) -> Thought:
        """Have both think."""
        shadow = self._shadow
        thought = await self._mind.think(view)
        ledger = Ledger()  # the thought must take what it took
        try:
            with entered_in(ledger):
                other = await self._reference.think(view)
        except BudgetReached:
            shadow.asked = False
            return thought
        calls = [call.record for call in other.calls or ledger.calls]
        shadow.calls += len(calls)
        shadow.usd += sum(float(call.get("usd") or 0.0) for call in calls)
        own, would = Choice.of(thought), Choice.of(other)
        shadow.found.append(Decision(view.name, view.t, view.t_hat, view.turn.acts, own, would, shadow.heard))
        return thought


def decisions_of(reference: Reference, most_calls: int | None = None, most_usd: float | None = None) -> Decisions:
    """Play a run once more as it was, and ask the reference at every turn what it would decide.

    Nothing is sent to the models of the run: they answer as recorded. Minds that think along from the start
    (`Handover.SHADOW`) are asked in every turn, as their state is made of all of them.

    Args:
        reference: who is asked.
        most_calls: answers of models that it may take; None: any number.
        most_usd: money that it may take; None: any.

    Raises:
        UserError: the run cannot be brought back as it was.
    """
    parent = reference.parent
    thoughts = parent.episode.story.thoughts
    if not thoughts:
        return Decisions(())
    planned = parent.branch(Instant(thoughts[-1].start.t, thoughts[-1].start.t_hat), Change())
    shadow = _Shadow(reference.talks, most_calls, most_usd)
    run_coroutine(_play(reference, planned.branching, shadow))
    paid = (shadow.calls, shadow.usd) if reference.costs else (0, 0.0)
    order = {name: index for index, name in enumerate(reference.participants)}
    sent = _sent(parent.episode.story)
    found = [replace(one, sent=tuple(sent.get((order[one.agent], one.t, one.t_hat), ()))) for one in shadow.found]
    found.sort(key=lambda one: (one.t, one.t_hat, order[one.agent]))
    return Decisions(tuple(found), *paid, asked=shadow.asked)


def _sent(story: Story) -> Mapping[tuple[int, int, int | float], Sequence[int]]:
    """Return the ids of messages by their sender and the instant at which the thought began that sent them."""
    found: dict[tuple[int, int, int | float], list[int]] = {}
    for life in story.messages:
        if life.thought is not None:
            key = life.message.sender, life.thought.t, life.thought.t_hat
            found.setdefault(key, []).append(life.message.message)
    return found


async def _play(reference: Reference, branching: Branching, shadow: _Shadow) -> None:
    parent = reference.parent
    configuration = parent.configuration
    pool = ModelPool()
    books = CallBooks(configuration, None)
    recorded = branching.calls
    cell = parent.cell()
    models = EpisodeModels(configuration, pool, books, cell.name, recorded=recorded)

    def beside(team: Team, context: TeamContext) -> Team:
        first = branching.seated(team, context)
        others = reference.team(context, pool, shadow.most_calls, shadow.most_usd)
        names: Sequence[str] = reference.participants
        seats = [
            _Asked(mind, others[name], shadow) if name in others else mind
            for name, mind in zip(names, first.minds, strict=True)
        ]
        return Team(seats, first.configs)

    try:
        parts = build(cell, models, branching.memory, beside)
        with Recorder(None, branching.listeners) as recorder, branching.checked():
            await play(cell, parts, recorder, branching)
    except UserError:
        raise
    except Exception as error:
        if not branching.prefix.live:
            raise PrefixRefused(f"{parent.run}: {type(error).__name__}: {error}") from error
    finally:
        await pool.close()

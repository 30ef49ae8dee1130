"""Checks a thought against its turn, the vocabulary and the state of the world before it takes effect."""

from __future__ import annotations

from typing import TypeVar

from maeil.contracts import check_items, check_type, described, name_of
from maeil.errors import ContractError
from maeil.messages import Ask, Draft
from maeil.mind import Act, Resume, Thought, View
from maeil.plans import Plan, Task
from maeil.team import Participant
from maeil.world import World

T = TypeVar("T")


def review(thought: object, view: View, author: Participant, world: World) -> tuple[str, ...]:
    """Return the loop's reasons for refusing a thought.

    Args:
        thought: the mind's return value.
        view: the view that the mind got, with the turn.
        author: the participant.
        world: checks a plan against the current state.

    Returns:
        The reasons, worded for the mind so that it can fix its answer; empty if the thought is accepted.

    Raises:
        ContractError: it is not a thought, or a part of it has the wrong type. This is an error in the mind's code,
            which another answer would not fix.
    """
    thought = check_type(thought, Thought, author.mind.think, "a maeil.Thought")
    return (
        *_review_decision(thought.decision, view, author, world),
        *_review_messages(thought, view, author),
    )


def _review_decision(decision: object, view: View, author: Participant, world: World) -> tuple[str, ...]:
    if Act.PLAN not in view.turn.acts:
        return () if decision is None else ("this turn is for speaking, not for a plan",)
    if decision is None:
        wanted = "'resume' or a new plan" if view.may_resume else "a plan"
        return (f"this turn asks for {wanted}, and the answer has none",)
    if decision is Resume.RESUME:
        if view.may_resume:
            return ()
        return ("there is no plan to resume" if view.plan is None else "this turn asks for a new plan",)
    decision = check_part(decision, Plan, author, "the decision of its Thought", "a maeil.Plan, Resume.RESUME or None")
    if not decision.actions:
        return ("the plan has no actions",)
    own = world.vocabulary.of(author.index)
    unknown = [str(action) for action in decision.actions if action not in own]
    if unknown:
        names = ", ".join(own.names)
        return tuple(f"{action} is not in the vocabulary; the actions are: {names}" for action in unknown)
    reasons = world.check_plan(author.index, decision)
    return tuple(
        check_items(reasons, str, world.check_plan, "a tuple of reasons, each a text; empty if there are none")
    )


def _review_messages(thought: Thought, view: View, author: Participant) -> tuple[str, ...]:
    for draft in thought.messages:
        check_part(draft, Draft, author, "a message of its Thought", "a maeil.Draft")
        check_part(draft.content, str, author, "the content of a message", "a text")
        if draft.task is not None:
            check_part(draft.task, Task, author, "the task of a message", "a maeil.Task or None")
        for ask in draft.asks or ():
            check_part(ask, Ask, author, "an ask of a message", "a maeil.messages.Ask")
    turn = view.turn
    if thought.messages and not turn.acts & {Act.SPEAK, Act.ACKNOWLEDGE}:
        return ("this turn does not allow messages",)
    reasons = []
    if turn.limit is not None and len(thought.messages) > turn.limit:
        reasons.append(f"{len(thought.messages)} messages are more than the {turn.limit} that this turn allows")
    for draft in thought.messages:
        if not draft.recipients:
            reasons.append("a message has no recipient")
        if author.index in draft.recipients:
            reasons.append("a message goes to its own sender")
        if any(ask.agent == author.index or ask.agent not in range(len(view.names)) for ask in draft.asks or ()):
            reasons.append("a message asks something of its sender, or of nobody: what you do yourself is its task")
        others = sorted(set(draft.recipients) - set(turn.recipients) - {author.index})
        if others:
            allowed = ", ".join(map(str, turn.recipients)) or "nobody"
            reasons.append(f"a message goes to {', '.join(map(str, others))}; this turn allows: {allowed}")
    return tuple(reasons)


def check_part(part: object, wanted: type[T], author: Participant, what: str, words: str) -> T:
    """Check the type of a part of a thought; return the part.

    Args:
        part: the part; also an answer to an extension, or a part of such an answer.
        wanted: the required type.
        author: the participant whose mind returned the thought.
        what: description of the part.
        words: description of the required type.

    Raises:
        ContractError: the part has another type.
    """
    if isinstance(part, wanted):
        return part
    think = author.mind.think
    raise ContractError(f"{name_of(think)}(): {what} is {described(part)}; it must be {words}", think)

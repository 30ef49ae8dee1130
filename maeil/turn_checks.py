"""Checks for endless conversations and episodes, and for turns with unknown participants."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from maeil.contracts import name_of
from maeil.errors import ContractError
from maeil.mind import Turn
from maeil.team import Participant


def check_turn(turn: Turn, participants: int, give: Callable[..., Any]) -> None:
    """Check that a turn names only participants of the episode.

    Args:
        turn: the turn.
        participants: number of participants.
        give: the method that gave the turn.

    Raises:
        ContractError: the turn names an unknown participant.
    """
    named = {"a turn to": (turn.agent,), "a turn that may write to": turn.recipients, "a turn with": turn.partners}
    everybody = range(participants)
    for what, indices in named.items():
        if outsiders := [index for index in indices if index not in everybody]:
            raise ContractError(
                f"{name_of(give)}() gives {what} participant {min(outsiders, key=str)}; the participants are "
                f"0 to {participants - 1}",
                give,
            )


def check_forced(
    participant: Participant, most: int, t: int, give: Callable[..., Any], start_action: Callable[..., Any]
) -> None:
    """Count how often a participant is forced to be ready, and check that the conversation of a step ends.

    Args:
        participant: the participant.
        most: maximum number of times in a step.
        t: the step.
        give: the method that gives turns.
        start_action: the method that starts the idle action of a participant that is forced to be ready.

    Raises:
        ContractError: one of these methods makes the conversation endless.
    """
    participant.forced += 1
    if participant.forced <= most:
        return
    blamed, what = give, "keeps giving turns to a participant that has none left (may_speak)"
    if participant.embodied:
        blamed, what = start_action, "returned a controller for the idle action that ends before it takes a step"
    raise ContractError(f"{name_of(blamed)}() {what}: {participant.name}, step {t}", blamed)


def check_ends(step: Callable[..., Any], t: int, max_steps: int | None) -> None:
    """Check that a world ends an episode within `max_steps`.

    Raises:
        ContractError: the episode continues after the last allowed step.
    """
    if t == max_steps:
        wrong = f"has not ended the episode after {max_steps} steps: its Transition must have an end"
        raise ContractError(f"{name_of(step)}() {wrong}", step)

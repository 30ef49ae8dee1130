"""Symbolic actions of an environment: a choice by name or number, values of a space, and waiting."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

from gymnasium.spaces import Discrete
from pydantic import Field, create_model

from maeil.acting import Primitive
from maeil.actions import SymbolicAction, Vocabulary
from maeil.controllers import SUCCESS, failed
from maeil.world import ActionEnd
from pettingzoo_env.description import AgentDescription, Description
from pettingzoo_env.game import Game
from pettingzoo_env.spaces import action_of, illegal, neutral, value_type

STEPS = 10
"""Maximum number of steps of an action."""
Steps = Annotated[int, Field(ge=1, le=STEPS, description="how many times in a row")]


class Wait(SymbolicAction):
    """Do nothing if the environment allows it, otherwise take the first legal choice."""

    phrase: ClassVar[str] = "wait {steps} step(s)"

    action: Literal["wait"] = "wait"
    steps: Steps = 1


class Act(SymbolicAction):
    """Base of the actions that are made of the spaces of an environment."""

    action: str


@dataclass(frozen=True, slots=True)
class Abilities:
    """The actions available to one agent.

    Attributes:
        space: its action space.
        described: the meaning of its choices.
        model: its action, besides `wait`.
    """

    space: Any
    described: AgentDescription
    model: type[Act]

    def number(self, choice: str | int) -> int:
        """Return the number of a choice."""
        names, start = self.described.actions, int(self.space.start)
        return start + names.index(choice) if names is not None and isinstance(choice, str) else int(choice)

    def name(self, number: int) -> str | int:
        """Return the name of a choice in plans."""
        names = self.described.actions
        return names[number - int(self.space.start)] if names is not None else number

    def values(self, action: SymbolicAction) -> list[Primitive]:
        """Return the primitives of an action, step by step."""
        given = action.arguments()
        once: list[Primitive] = [given.get("values")]
        if isinstance(self.space, Discrete):
            once = [*map(self.number, self.described.sequences.get(given["choice"], [given["choice"]]))]
        return once * int(given["steps"])

    def waiting(self, legal: Any) -> Primitive:
        """Return the primitive for waiting a step, given the legal actions (`Game.legal`)."""
        if not isinstance(self.space, Discrete) or self.described.wait is None:
            return neutral(self.space, legal)  # type: ignore[no-any-return]
        wait = self.number(self.described.wait)
        return wait if legal is None or wait in legal else int(legal[0])

    def choices(self, legal: Any) -> Any:
        """Return the possible starts of a plan, given the legal actions; None for all.

        For a `Discrete` space: its choices, as named in plans. For others: in the format of `Game.legal`.
        """
        if legal is None or not isinstance(self.space, Discrete):
            return legal
        sequences = self.described.sequences.items()
        return [*map(self.name, legal), *(name for name, steps in sequences if self.number(steps[0]) in legal)]

    def refusal(self, value: Primitive, legal: Any) -> str:
        """Return why a value is not possible now; empty if it is."""
        try:
            action_of(self.space, value)
        except ValueError as error:
            return str(error)
        if (wrong := illegal(value, legal)) is None:
            return ""
        if isinstance(self.space, Discrete):
            return f"the choice {self.name(wrong)} is not legal now"
        return f"of the values, {wrong} is not legal now: legal are {legal}"


def abilities(game: Game, description: Description) -> tuple[list[Abilities], Vocabulary]:
    """Return each agent's abilities, and the vocabulary. Agents with the same space and names share an action.

    Raises:
        ValueError: plans cannot express a space, or the description does not match it; the message names the place.
    """
    groups: dict[str, list[int]] = {}
    for agent, (name, space) in enumerate(zip(game.names, game.spaces, strict=True)):
        described = description.of(name)
        _check(f"description.agents: {name}", space, described)
        groups.setdefault(f"{space} {described.actions} {described.sequences}", []).append(agent)
    models: dict[str, type[Act]] = {}
    users: dict[str, list[int]] = {}
    for agents in groups.values():
        first = game.names[agents[0]]
        stem = re.sub(r"\W|_\d+$", "", first)
        name = "act" if len(groups) == 1 else f"act_{stem}"
        name = f"act_{agents[0]}" if name in models else name
        models[name], users[name] = _model(name, game.spaces[agents[0]], description.of(first), first), agents
    of = {agent: models[name] for name, agents in users.items() for agent in agents}
    own = [Abilities(game.spaces[i], description.of(name), of[i]) for i, name in enumerate(game.names)]
    return own, Vocabulary(*models.values(), Wait, only=users if len(models) > 1 else None)


def _model(name: str, space: Any, described: AgentDescription, agent: str) -> type[Act]:
    """Return the action model of a space."""
    kind = value_type(space, agent)
    if isinstance(space, Discrete):
        key, phrase, text = "choice", f"{name} {{choice}}[, {{steps}} time(s)]", "Take a choice of the environment."
        kind = Literal[tuple(described.actions)] if described.actions is not None else kind
        kind = kind | Literal[tuple(described.sequences)] if described.sequences else kind
    else:
        key, phrase, text = "values", "", f"Act with these values, of {space}."
    fields: dict[str, Any] = {"action": (Literal[name], name), key: (kind, ...), "steps": (Steps, 1)}
    model: type[Act] = create_model(f"Act_{name}", __base__=Act, __doc__=text, **fields)
    model.phrase = phrase
    return model


def _check(place: str, space: Any, described: AgentDescription) -> None:
    """Check that the names of choices match a space.

    Raises:
        ValueError: they do not.
    """
    names, wait, sequences = described.actions, described.wait, described.sequences
    if not isinstance(space, Discrete):
        if names is not None or wait is not None or sequences:
            raise ValueError(
                f"{place}: actions, wait and sequences are only for Discrete spaces, not for {space}: leave them out"
            )
        return
    if names is not None and (len(names) != space.n or len({*names}) != space.n):
        raise ValueError(
            f"{place}: actions: {len({*names})} different names for {space.n} choices: name each, in order"
        )
    known = names if names is not None else range(int(space.start), int(space.start + space.n))
    if double := [name for name in sequences if name in known]:
        raise ValueError(f"{place}: sequences.{double[0]}: a choice already has this name: choose another")
    used = [(f"sequences.{name}", step) for name, steps in sequences.items() for step in steps]
    for key, step in [*used, ("wait", wait)]:
        if step is not None and step not in known:
            options = ", ".join(map(str, known[:20]))
            raise ValueError(f"{place}: {key}: no such choice: {step}; the choices are {options}")


class Doing:
    """Carries out an action step by step, as long as it is legal; implements `maeil.world.Controller`.

    Args:
        game: the game.
        agent: index of the agent.
        own: the agent's abilities.
        action: the action to carry out.
    """

    def __init__(self, game: Game, agent: int, own: Abilities, action: SymbolicAction) -> None:
        self._game, self._agent, self._own = game, agent, own
        self._waits = isinstance(action, Wait)
        self._values = [None] * action.steps if isinstance(action, Wait) else own.values(action)
        self._done = 0

    def status(self) -> ActionEnd | None:
        """Return the end of the action."""
        if self._done == len(self._values):
            return SUCCESS
        if not self._waits and (reason := self._own.refusal(self._values[self._done], self._game.legal[self._agent])):
            return failed("illegal", reason)
        return None

    def act(self) -> Primitive:
        """Return the primitive of the coming step."""
        self._done += 1
        return self._own.waiting(self._game.legal[self._agent]) if self._waits else self._values[self._done - 1]

    def close(self) -> None:
        """Do nothing: no resources are shared."""

"""A change of the world from outside: once, at the begin of a step, before anybody thinks in it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from maeil.errors import ChangeRefused
from maeil.world import Changeable, World


@dataclass(frozen=True, slots=True)
class ChangeAt:
    """What is changed, and when.

    Attributes:
        t: the environment step at whose begin it is.
        changes: in the words of the world: see `maeil.world.Changeable`.
    """

    t: int
    changes: Mapping[str, Any]


def change_world(world: World, changes: Mapping[str, Any]) -> None:
    """Change the state of a world.

    Raises:
        ChangeRefused: the world is none that can be changed, or there can be no such state.
    """
    if not isinstance(world, Changeable):
        raise ChangeRefused(f"the world '{world.name}' cannot be changed from outside: it has no change()")
    try:
        world.change(changes)
    except ValueError as error:
        raise ChangeRefused(str(error)) from error

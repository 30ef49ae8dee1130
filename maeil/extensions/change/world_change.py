"""How the state of a world is changed from outside."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from maeil.errors import ChangeRefused
from maeil.world import Changeable, World


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

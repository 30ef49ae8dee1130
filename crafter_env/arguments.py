"""What the environments are made with and reset with, checked: each message names the argument and the way out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from operator import index
from typing import Any

from crafter_env.constants import Achievement
from crafter_env.errors import CrafterError
from crafter_env.layout import Layout
from crafter_env.profiles import Profile, Spawn


def whole(name: str, value: object, at_least: int | None = None) -> int:
    """An argument as an integer, NumPy's as well as Python's; nothing is cut to fit.

    Args:
        name: Of the argument, for the message.
        value: What the caller gave.
        at_least: The smallest allowed; None for any.

    Raises:
        CrafterError: It is no integer (1.9 and "3" are none), or too small.
    """
    try:
        number = index(value)  # type: ignore[arg-type] # what has no index is refused below
    except TypeError:
        raise CrafterError(f"{name} = {value!r}: give an integer") from None
    if at_least is not None and number < at_least:
        raise CrafterError(f"{name} = {number}: it is at least {at_least}")
    return number


def one_of(name: str, value: object, choices: Sequence[object]) -> None:
    """Refuse a value that is none of the choices.

    Raises:
        CrafterError: It is none of them; the message names them.
    """
    if value not in choices:
        raise CrafterError(f"{name} = {value!r}: choose one of {', '.join(map(str, choices))}")


def team_size(n: object, layout: Layout | None, profile: Profile) -> int:
    """Number of agents: as given, or those of the layout.

    Raises:
        CrafterError: Not exactly one of the two, no agents, or more than the profile has room for.
    """
    if (n is None) == (layout is None):
        raise CrafterError("CrafterEnv takes exactly one of n and layout: CrafterEnv(n=3)")
    agents = len(layout.agents) if layout is not None else whole("n", n)
    if agents < 1:
        raise CrafterError(f"n = {agents}: a team has at least 1 agent")
    if agents > 1 and layout is None and profile.spawn == Spawn.centre:
        raise CrafterError(
            f"n = {agents} with profile {profile.name!r}, whose agent begins in the middle of the map: it has room for "
            'one; choose profile "coop" or another spawn'
        )
    return agents


def find_goal(goal: str | Achievement | None) -> Achievement | None:
    """The achievement of a name.

    Raises:
        CrafterError: There is none of this name; the message names the nearest and all.
    """
    if goal is None or isinstance(goal, Achievement):
        return goal
    if goal in Achievement.__members__:
        return Achievement[goal]
    near = get_close_matches(goal, Achievement.__members__, n=1)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    raise CrafterError(f"goal = {goal!r} is no achievement.{hint} They are {', '.join(Achievement.__members__)}.")


def layout_option(options: Mapping[str, Any], size: tuple[int, int], n: int) -> Layout | None:
    """The layout that the options of a reset give, if any.

    Args:
        options: Of the reset.
        size: Columns and rows of the environment.
        n: Its agents.

    Raises:
        CrafterError: A misspelt key, no layout, or one of another size or another number of agents.
    """
    for key in options:
        # PettingZoo's own test passes a foreign option, so only what looks like a misspelling is refused.
        if key != "layout" and get_close_matches(key, ["layout"]):
            raise CrafterError(f'unknown option {key!r} of reset: did you mean "layout"?')
    layout = options.get("layout")
    if layout is None:
        return None
    if not isinstance(layout, Layout):
        raise CrafterError(f'options["layout"] is a {type(layout).__name__}: give a Layout (Layout.parse reads text)')
    if (layout.size, len(layout.agents)) != (size, n):
        raise CrafterError(
            f'options["layout"] has {layout.size} cells and {len(layout.agents)} agents, this environment '
            f"{size} and {n}: make another with CrafterEnv(layout=...)"
        )
    return layout

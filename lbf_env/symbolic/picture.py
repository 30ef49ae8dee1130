"""The field as shapes of `quorum_base.drawing`, with legible levels."""

from __future__ import annotations

from lbf_env.observation import ForagingObservation, food_name
from quorum_base.drawing import Drawing, Mark, MarkKind, Shape

KINDS = (
    MarkKind("food, with its level", "#c8102e", "#ff6b6b", Shape.DISC),
    MarkKind("agent", "#0072b2", "#56b4e9"),
    MarkKind("level of the agent", "#4a4a52", "#b4b4be", Shape.DIAMOND),
)
_BADGE = 0.56
"""Size of an agent's level, in the lower right of its cell."""


def draw(field: ForagingObservation) -> Drawing:
    """Draw a field."""
    marks: dict[str, Mark] = {}
    for row, col, level in field.foods:
        name = food_name((row, col))
        marks[name] = Mark(0, col + 0.1, row + 0.1, 0.8, 0.8, label=str(level), title=f"{name}, level {level}")
    for agent, row, col, level in field.agents:
        name, aside = f"agent_{agent}", 0.98 - _BADGE
        title = f"{name}, level {level}"
        marks[name] = Mark(1, col + 0.06, row + 0.06, 0.66, 0.66, label=str(agent), title=title, agent=agent)
        marks[f"{name} level"] = Mark(2, col + aside, row + aside, _BADGE, _BADGE, label=str(level), title=title)
    return Drawing(b"", marks, f"{len(field.foods)} foods are left")


def ansi(field: ForagingObservation) -> str:
    """Draw a field as text: `*2` is a food of level 2, `a1` agent_0 of level 1."""
    lines = [[" ."] * field.side for _ in range(field.side)]
    for row, col, level in field.foods:
        lines[row][col] = f"*{level}"
    for agent, row, col, level in field.agents:
        lines[row][col] = f"{chr(ord('a') + agent % 26)}{level}"
    return "\n".join(" ".join(line) for line in lines)

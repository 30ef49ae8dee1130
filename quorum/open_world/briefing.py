"""The planner's view of the open world: one map for the team, plus the differences between agents.

Agents that walk together have seen much the same, so their maps are drawn as one. For each agent, the briefing lists
the parts of that map it has seen, and its memories of cells that others have changed since. Which agents see each other
follows from their positions. So `read_team` can restore each agent's own observation from the briefing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from crafter_env import VIEW, Cell, CrafterObservation, SeenMap, read_shown
from quorum.agents.coordination.joint import Sight
from quorum.agents.skills.contract import Briefing

UNSEEN = "?"
GROUND = "."
"""The character of a cell if every agent that knows the cell sees an agent on it."""
SHARED = ("map", "creatures")
"""The keys shown once for the team."""
IMPLIED = ("teammates", "asleep", "last_seen", "agents_not_shown")
"""The keys implied by the positions of the others."""

_AGE = ("Tcid", "~!", ".:", "#", "_", "tf")
"""Map characters from the oldest to the newest possible state of a cell; digits and unseen cells come before them.

Collecting leaves ground, stone is placed on ground and water, and stations stay. Stone on a former path may be
newer or older than the path; digging is more common.
"""
_RANK = np.zeros(128, dtype=np.int8)
for _rank, _characters in enumerate(_AGE, 1):
    _RANK[[ord(each) for each in _characters]] = _rank

_Canvas = npt.NDArray[np.str_]


def show_team(seen: Sequence[CrafterObservation]) -> dict[str, Any]:
    """Return the block that shows all agents' observations, by agent name; dead agents are only marked as dead."""
    living = [one for one in seen if one.alive]
    shown: dict[str, Any] = {"now": seen[0].now, "agents": {one.agent: {"alive": False} for one in seen}}
    if not living:
        return shown
    joint = _joint(living)
    creatures: dict[str, dict[str, Cell]] = {}
    for one in living:
        you = one.shown()["you"]
        for kind, found in you.get("creatures", {}).items():
            creatures.setdefault(kind, {}).update(found)
        own = {key: value for key, value in you.items() if key not in (*SHARED, *IMPLIED)}
        own["seen"] = _parts(one.map)
        if remembers := _remembered(one, joint):
            own["remembers"] = remembers
        shown["agents"][one.agent] = own
    shown["map"] = _cut(joint)
    if creatures:
        shown["creatures"] = creatures
    return shown


def read_team(shown: Mapping[str, Any], facts: Mapping[str, Any]) -> list[CrafterObservation]:
    """Restore the observations of all agents, by index, from a prompt.

    Args:
        shown: the result of `show_team`.
        facts: see `crafter_env.read_shown`.

    Raises:
        KeyError, TypeError, ValueError: the prompt has another format.
    """
    names = sorted(shown["agents"], key=lambda name: (len(name), name))
    cells: dict[str, Cell] = {
        name: (one["cell"][0], one["cell"][1]) for name, one in shown["agents"].items() if one.get("alive", True)
    }
    nothing = {"left": 0, "top": 0, "rows": []}
    found = []
    for name in names:
        own = shown["agents"][name]
        you = {key: value for key, value in own.items() if key not in ("seen", "remembers")}
        if name in cells:
            mates = {other: cell for other, cell in cells.items() if other != name and in_view(cells[name], cell)}
            you["teammates"] = mates
            you["asleep"] = [other for other in mates if shown["agents"][other].get("sleeping", False)]
            you["creatures"] = {
                kind: {identity: cell for identity, cell in each.items() if in_view(cells[name], cell)}
                for kind, each in shown.get("creatures", {}).items()
            }
            otherwise = {
                divmod(identity - 1, facts["size"][1]): character
                for character, identities in own.get("remembers", {}).items()
                for identity in identities
            }
            standing = {cells[other]: str(names.index(other) % 10) for other in (name, *mates)}
            you["map"] = _own(shown["map"], own["seen"], {**otherwise, **standing})
        else:
            you["map"] = nothing
        found.append(read_shown({"now": shown["now"], "you": you}, facts, len(names)))
    return found


def in_view(cell: Cell, other: Sequence[int]) -> bool:
    """Return whether an agent on a cell sees the other cell."""
    return abs(cell[0] - other[0]) <= VIEW[0] // 2 and abs(cell[1] - other[1]) <= VIEW[1] // 2


def _joint(seen: Sequence[CrafterObservation]) -> _Canvas:
    """Draw all seen cells without agents, (rows, columns): the current view if any, else the newest memory."""
    columns, rows = seen[0].size
    joint: _Canvas = np.full((rows, columns), UNSEEN)
    for one in seen:  # mark ground first, so that cells hidden under visible agents are not left out
        joint[_window(one.map)][_canvas(one.map) != UNSEEN] = GROUND
    newest = np.zeros(joint.shape, dtype=np.int8)
    for one in seen:
        window, canvas = _window(one.map), _canvas(one.map)
        age = _RANK[canvas.view(np.uint32)]
        age[_view_of(one, joint.shape)[window] & (age > 0)] = len(_AGE) + 1
        newer = age > newest[window]
        joint[window][newer], newest[window][newer] = canvas[newer], age[newer]
    return joint


def _cut(joint: _Canvas) -> dict[str, Any]:
    """Crop the map to the part that any agent has seen."""
    rows, columns = (joint != UNSEEN).nonzero()
    left, top = int(columns.min()), int(rows.min())
    cut = joint[top : rows.max() + 1, left : columns.max() + 1]
    return {"left": left, "top": top, "rows": ["".join(row) for row in cut.tolist()]}


def _remembered(one: CrafterObservation, joint: _Canvas) -> dict[str, list[int]]:
    """Return the ids of cells that an agent remembers differently from the team map, by character."""
    canvas = _canvas(one.map)
    stale = (canvas != joint[_window(one.map)]) & (canvas != UNSEEN) & ~np.char.isdigit(canvas)
    found: dict[str, list[int]] = {}
    for row, column in np.argwhere(stale).tolist():
        identity = (one.map.left + column) * one.size[1] + one.map.top + row + 1
        found.setdefault(str(canvas[row, column]), []).append(identity)
    return found


def _view_of(one: CrafterObservation, shape: tuple[int, ...]) -> npt.NDArray[np.bool_]:
    """Return a mask of the cells an agent currently sees."""
    assert one.cell is not None
    x, y = one.cell
    half_width, half_height = VIEW[0] // 2, VIEW[1] // 2
    found = np.zeros(shape, dtype=np.bool_)
    found[max(y - half_height, 0) : y + half_height + 1, max(x - half_width, 0) : x + half_width + 1] = True
    return found


def _parts(drawn: SeenMap) -> list[list[int]]:
    """Cover the known part of a map with rectangles [left, top, right, bottom], bounds inclusive."""
    known = _canvas(drawn) != UNSEEN
    left_over, parts = known.copy(), []
    while left_over.any():
        row, column = (int(each) for each in np.argwhere(left_over)[0])
        width = _run(known[row, column:])
        height = _run(known[row:, column : column + width].all(axis=1))
        left_over[row : row + height, column : column + width] = False
        left, top = drawn.left + column, drawn.top + row
        parts.append([left, top, left + width - 1, top + height - 1])
    return parts


def _run(known: npt.NDArray[np.bool_]) -> int:
    """Return the length of the known run at the start."""
    return len(known) if known.all() else int(known.argmin())


def _own(joint: Mapping[str, Any], parts: Sequence[Sequence[int]], differing: Mapping[Cell, str]) -> dict[str, Any]:
    """Cut one agent's map out of the team map.

    Args:
        joint: the team map.
        parts: see `_parts`.
        differing: characters of cells that differ on its map: visible agents, including itself, and memories.
    """
    lefts, tops, rights, bottoms = zip(*parts, strict=True)
    left, top, right, bottom = min(lefts), min(tops), max(rights), max(bottoms)
    own = [[UNSEEN] * (right - left + 1) for _ in range(bottom - top + 1)]
    for west, north, east, south in parts:
        begin = west - joint["left"]
        for y in range(north, south + 1):
            row = joint["rows"][y - joint["top"]][begin : begin + east - west + 1]
            own[y - top][west - left : east - left + 1] = row
    for (x, y), character in differing.items():
        own[y - top][x - left] = character
    return {"left": left, "top": top, "rows": ["".join(row) for row in own]}


def _canvas(drawn: SeenMap) -> _Canvas:
    """Return a map as an array of characters, (rows, columns)."""
    return np.array([list(row) for row in drawn.rows])


def _window(drawn: SeenMap) -> tuple[slice, slice]:
    """Return a map's position in the world."""
    return (
        slice(drawn.top, drawn.top + len(drawn.rows)),
        slice(drawn.left, drawn.left + len(drawn.rows[0])),
    )


class CrafterBriefing(Briefing):
    """Shows all observations in one map; for past decisions, the score and the non-empty inventories."""

    def state(self, sight: Sight) -> object:
        """Return the team's view: see `quorum.open_world.briefing`."""
        return show_team([observation for observation in sight.agents if isinstance(observation, CrafterObservation)])

    def digest(self, sight: Sight) -> object:
        """Return the score and the non-empty inventories of living agents."""
        seen = [observation for observation in sight.agents if isinstance(observation, CrafterObservation)]
        return {"score": seen[0].score, "bags": {o.agent: dict(o.inventory) for o in seen if o.alive and o.inventory}}

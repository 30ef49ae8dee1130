"""The text format of LLaMAC's appendix (arXiv 2311.13884, Figure B.1): the values of prompts in it, and back.

| value | in a prompt |
|---|---|
| an agent's name | `Agent[0.5, 1.5]`: its cell |
| a plan | `move(box_green, target_green)`; one that waits is `wait(1)`, several actions stand one after the other |
| a joint plan | `{"Agent[0.5, 0.5]": "move(box_green, target_green)"}` |
| a state | `board`, every place of it, and `observations`, a line for each agent |
| what an agent sees | `observation`, its line; and the board where it sees that |

The converters are those of `llamac_env`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from llamac_env import (
    Board,
    Choice,
    Difficulty,
    EntryRule,
    Grid,
    TransportObservation,
    Unreadable,
    local_line,
    observation_lines,
    read_agent,
    read_board,
    read_line,
    write_agent,
)
from quorum.agents.skills.transport.briefing import TransportState

_ACTION = re.compile(r"move\(([^,()]*), (.*)\)|wait\((\d+)\)")
_NEXT = ", then "
_LINES = frozenset({"observation", "observations"})
_WORDS = frozenset({"thoughts", "text", "message", "issue", "problem", "reason", "rationale"})
"""Keys of what somebody has written: nothing in it is a value."""


def grid_of(seen: TransportObservation | Mapping[str, Any]) -> Grid:
    """Return the cells of an observation, or of a state or an observation as `write_value` writes it.

    Raises:
        KeyError, ValueError: it is none of them.
    """
    if isinstance(seen, TransportObservation):
        return seen.grid
    rule = EntryRule(seen.get("entry_rule", EntryRule.final_state))
    return Grid(seen["rows"], seen["cols"], Difficulty(seen["difficulty"]), rule)


def board_of(seen: TransportObservation | Mapping[str, Any]) -> Board:
    """Return the board of an observation, or of a state as `write_value` writes it.

    Raises:
        KeyError, ValueError: it shows none.
    """
    return seen.to_board() if isinstance(seen, TransportObservation) else read_board(grid_of(seen), seen["board"])


def write_value(grid: Grid, value: object) -> Any:
    """Write a value of a prompt: plans, states, observations and the names of agents in it; the rest as it is."""
    match value:
        case TransportObservation():
            return _observation(value)
        case str():
            return write_name(grid, value)
        case TransportState():
            return {**_told(value.seen), "observations": observation_lines(value.seen.to_board())}
        case {"actions": [{"action": str()}, *_] as actions}:
            return _NEXT.join(map(write_action, actions))
        case Mapping():
            return {
                write_name(grid, key): item if key in _WORDS else write_value(grid, item) for key, item in value.items()
            }
        case list() | tuple():
            return [write_value(grid, item) for item in value]
    return value


def read_value(grid: Grid, value: Any) -> Any:
    """Read a value of a prompt: an observation and a state as a prompt in typed JSON shows them.

    A state comes back without what each agent can do, which follows from its board.
    """
    match value:
        case str():
            return _read_text(grid, value)
        case {"observations": list(), "board": dict()}:
            return _seen(value).shown()
        case {"observation": str(line)}:
            own = read_line(grid, line)
            can_do = tuple(Choice(box, to) for box, places in own.pop("can_do").items() for to in places)
            return _seen(value, **own, can_do=can_do).shown()
        case dict():
            return {
                _read_name(grid, key): item if key in _WORDS else read_value(grid, item) for key, item in value.items()
            }
        case list():
            return [read_value(grid, item) for item in value]
    return value


def write_action(action: Mapping[str, Any]) -> str:
    """Write an action."""
    if action["action"] == "wait":
        return f"wait({action['steps']})"
    return f"move({action['box']}, {action['to']})"


def write_name(grid: Grid, name: str) -> str:
    """Write the name of an agent; any other text as it is."""
    stem, _, number = name.rpartition("_")
    is_agent = stem == "agent" and number.isdecimal() and int(number) < grid.agents
    return write_agent(grid, int(number)) if is_agent else name


def _read_name(grid: Grid, text: str) -> str:
    if not text.startswith("Agent"):
        return text
    try:
        return f"agent_{read_agent(grid, text)}"
    except Unreadable:
        return text


def _observation(seen: TransportObservation) -> dict[str, Any]:
    return {**_told(seen), "observation": local_line(seen)}


def _told(seen: TransportObservation) -> dict[str, Any]:
    """What is told beside the lines of the agents; of a board every place, empty ones, too."""
    told: dict[str, Any] = {"difficulty": seen.difficulty, "rows": seen.rows, "cols": seen.cols}
    told |= {"entry_rule": seen.entry_rule} if seen.grid.is_hard else {}
    told |= {"max_steps": seen.max_steps, "step": seen.step}
    if seen.board is not None:
        told |= {"boxes_left": seen.boxes_left, "boxes_placed": seen.boxes_placed, "board": seen.board}
    return told | ({"collided": True} if seen.collided else {})


def _seen(told: Mapping[str, Any], **own: Any) -> TransportObservation:
    """The inverse of `_told`."""
    nobody = {"entry_rule": str(EntryRule.final_state), "agent": "", "square": "", "sees": {}, "can_do": ()}
    fields = {key: item for key, item in told.items() if key not in _LINES}
    return TransportObservation(**{**nobody, **fields, **own})


def _read_text(grid: Grid, text: str) -> Any:
    """Read a text that is all of a value: a plan or the name of an agent; any other is what it is."""
    found = [_ACTION.fullmatch(part) for part in text.split(_NEXT)]
    if not all(found):
        return _read_name(grid, text)
    actions = [_action(*part.groups()) for part in found if part is not None]
    boxes = [action["box"] for action in actions if action["action"] == "move"]
    task = {"kind": "place", "target": boxes[0]} if boxes else None
    return {"task": task, "actions": actions}


def _action(box: str | None, to: str | None, steps: str | None) -> dict[str, Any]:
    if steps is not None:
        return {"action": "wait", "steps": int(steps)}
    return {"action": "move", "box": box, "to": to}

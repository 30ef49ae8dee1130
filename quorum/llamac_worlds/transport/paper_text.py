"""The text format of LLaMAC's appendix (arXiv 2311.13884, Figure B.1), for prompt values and answers.

| value | in a prompt |
|---|---|
| an agent's name | `Agent[0.5, 1.5]`: its cell |
| a plan | `move(box_green, target_green)` or `wait(1)`; several actions are joined by `, then ` |
| a joint plan | `{"Agent[0.5, 0.5]": "move(box_green, target_green)"}` |
| a state | `board` with every place, and `observations` with a line per agent |
| an agent's observation | `observation`, its line; and the board if it sees the board |

| role | answer: text, then a joint plan if the role gives one |
|---|---|
| critic, centre, debater | the reasons, and the joint plan: `{"Agent[0.5, 0.5]": "move(box_green, target_green)"}` |
| assessor | the same: it writes the suggestion out |
| actor | its objection; optionally its own move in the same form |
| reviewer | `I agree.`, or the reason for objecting and its own move |
| talker | its message; or `EXECUTE` and the joint plan, which ends the dialogue (HMAS-2, arXiv 2309.15943) |

The converters come from `llamac_env`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from llamac_env import (
    Board,
    BoxMove,
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
    read_joint,
    read_line,
    write_agent,
    write_destination,
)
from maeil.errors import InvalidThought
from quorum.agents.prompting.examples import beyond
from quorum.llamac_worlds.transport.moves import TransportState

_ACTION = re.compile(r"move\(([^,()]*), (.*)\)|wait\((\d+)\)")
_NEXT = ", then "
_LINES = frozenset({"observation", "observations"})
_WORDS = frozenset({"thoughts", "text", "message", "issue", "problem", "reason", "rationale"})
"""Keys of free text, which contains no values to convert."""


def grid_of(seen: TransportObservation | Mapping[str, Any]) -> Grid:
    """Return the cells of an observation, or of a state or observation in the format of `write_value`.

    Raises:
        KeyError, ValueError: the value is none of these.
    """
    if isinstance(seen, TransportObservation):
        return seen.grid
    rule = EntryRule(seen.get("entry_rule", EntryRule.final_state))
    return Grid(seen["rows"], seen["cols"], Difficulty(seen["difficulty"]), rule)


def board_of(seen: TransportObservation | Mapping[str, Any]) -> Board:
    """Return the board of an observation, or of a state in the format of `write_value`.

    Raises:
        KeyError, ValueError: it shows no board.
    """
    return seen.to_board() if isinstance(seen, TransportObservation) else read_board(grid_of(seen), seen["board"])


def write_value(grid: Grid, value: object) -> Any:
    """Convert the plans, states, observations and agent names in a prompt value; keep the rest."""
    match value:
        case TransportObservation():
            return {**_shown(value), "observation": local_line(value)}
        case str():
            return write_name(grid, value)
        case TransportState():
            return {**_shown(value.seen), "observations": observation_lines(value.seen.to_board())}
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
    """Convert a prompt value back; observations and states take the form of typed JSON prompts.

    A converted state lacks each agent's possible moves, which follow from its board.
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
    """Convert the name of an agent; return any other text unchanged."""
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


def _shown(seen: TransportObservation) -> dict[str, Any]:
    """Return everything but the agents' lines; a board includes its empty places."""
    shown: dict[str, Any] = {"difficulty": seen.difficulty, "rows": seen.rows, "cols": seen.cols}
    shown |= {"entry_rule": seen.entry_rule} if seen.grid.is_hard else {}
    shown |= {"max_steps": seen.max_steps, "step": seen.step}
    if seen.board is not None:
        shown |= {"boxes_left": seen.boxes_left, "boxes_placed": seen.boxes_placed, "board": seen.board}
    return shown | ({"collided": True} if seen.collided else {})


def _seen(shown: Mapping[str, Any], **own: Any) -> TransportObservation:
    """Invert `_shown`."""
    nobody = {"entry_rule": str(EntryRule.final_state), "agent": "", "square": "", "sees": {}, "can_do": ()}
    fields = {key: item for key, item in shown.items() if key not in _LINES}
    return TransportObservation(**{**nobody, **fields, **own})


def _read_text(grid: Grid, text: str) -> Any:
    """Convert a text that is entirely a plan or the name of an agent; return any other text unchanged."""
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


EXECUTE = "EXECUTE"
AGREED = "I agree."
_AGREES = re.compile(r"\W*I\s+agree\b", re.IGNORECASE)
_FENCE = re.compile(r"```\w*")
_MOST_WORDS = {"thoughts": 4000, "message": 2000, "issue": 1000, "reason": 1000}
"""Maximum number of characters in typed answers; longer text is cut off."""
_EXAMPLE = {"task": None, "actions": [{"action": "move", "box": "box_green", "to": "target_green"}]}


class PaperText:
    """Implements `quorum.agents.coordination.prompts.Notation` for grid transportation.

    Args:
        look: returns the current global state, as an observation or in the format of `write`; answers are parsed
            against its board.
    """

    def __init__(self, look: Callable[[], TransportObservation | Mapping[str, Any]]) -> None:
        self._look = look

    def write(self, value: object) -> Any:
        """Write a prompt value."""
        return write_value(grid_of(self._look()), value)

    def read(self, value: Any) -> Any:
        """Read a prompt value."""
        return read_value(grid_of(self._look()), value)

    def write_answer(self, answer: Mapping[str, Any], agent: str) -> str:
        """Write a typed answer: the text, and the first move of each plan; agents that wait are left out.

        Args:
            answer: the answer, in which an assessor's choices include their plans.
            agent: name of the answering agent.
        """
        match answer:
            case {"agrees": True}:
                return AGREED
            case {"agrees": False, "reason": str(words), "proposal": plan} | {"issue": str(words), "proposal": plan}:
                return f"{words}\n{self._joint({agent: plan})}" if plan is not None else words
            case {"message": str(words), "plans": None}:
                return words
            case {"message": str(words), "plans": list(entries)}:
                words = f"{words}\n{EXECUTE}"
            case {"thoughts": str(words), "plans": list(entries)} | {"thoughts": str(words), "choices": list(entries)}:
                pass
            case _:
                raise ValueError(f"an answer with the keys {', '.join(answer)} cannot be written in this notation")
        return f"{words}\n{self._joint({entry['agent']: entry['plan'] for entry in entries})}"

    def read_answer(self, role: str, text: str) -> dict[str, Any]:
        """Parse the text of an answer.

        Raises:
            InvalidThought: it lacks a joint plan that its role requires, or has one that cannot be carried out.
        """
        words = _FENCE.sub("", text.partition("{")[0]).strip()
        if role == "reviewer":
            agrees = _AGREES.match(text) is not None
            found = None if agrees else self._proposal(text)
            return _cut({"thoughts": "", "agrees": agrees, "reason": "" if agrees else words, "proposal": found})
        if role == "actor":
            if not words:
                raise InvalidThought(("the answer says nothing: tell what is wrong in a sentence",))
            return _cut({"thoughts": "", "issue": words, "proposal": self._proposal(text)})
        if role == "talker":
            said, states, after = text.partition(EXECUTE)
            if not text.strip():
                raise InvalidThought(("the answer says nothing",))
            plans = self._entries(after) if states else None
            return _cut({"thoughts": "", "message": said.strip() or EXECUTE, "plans": plans})
        entries = self._entries(text)
        if role == "assessor":
            return _cut({"thoughts": words, "choices": [{**entry, "source": "new"} for entry in entries]})
        return _cut({"thoughts": words, "plans": entries})

    def example(self, role: str) -> str:
        """Return an example answer of a role, for prompts, on a board with a longer row.

        Args:
            role: the answering role.
        """
        agent = f"Agent[0.5, {beyond(grid_of(self._look()).agents)}.5]"
        plans = [{"agent": agent, "plan": _EXAMPLE}]
        answers: dict[str, dict[str, Any]] = {
            "reviewer": {"agrees": True},
            "actor": {"issue": "This brings the box no nearer; the green box can be placed.", "proposal": _EXAMPLE},
            "talker": {"message": "All have said what they can do.", "plans": plans},
        }
        return self.write_answer(
            answers.get(role, {"thoughts": "The green box is in the cell of its target.", "plans": plans}), agent
        )

    def _joint(self, plans: Mapping[str, Mapping[str, Any]]) -> str:
        grid = grid_of(self._look())
        moves = {
            write_name(grid, agent): write_action(plan["actions"][0])
            for agent, plan in plans.items()
            if plan["actions"][0]["action"] == "move"
        }
        return json.dumps(moves)

    def _entries(self, text: str) -> list[dict[str, Any]]:
        board = board_of(self._look())
        found = read_joint(board, text)
        if found.refusals:
            raise InvalidThought(tuple(f"{refusal.code}: {refusal.reason}" for refusal in found.refusals))
        return [
            {"agent": f"agent_{agent}", "plan": _plan(board.grid, agent, move)} for agent, move in found.moves.items()
        ]

    def _proposal(self, text: str) -> dict[str, Any] | None:
        """Return the answering agent's alternative: the text's only possible move, or None."""
        board = board_of(self._look())
        found = read_joint(board, text).moves
        return _plan(board.grid, *next(iter(found.items()))) if len(found) == 1 else None


def _plan(grid: Grid, agent: int, move: BoxMove) -> dict[str, Any]:
    box = f"box_{move.colour}"
    action = {"action": "move", "box": box, "to": write_destination(grid, agent, move)}
    return {"task": {"kind": "place", "target": box}, "actions": [action]}


def _cut(answer: dict[str, Any]) -> dict[str, Any]:
    return {key: item[: _MOST_WORDS[key]] if key in _MOST_WORDS else item for key, item in answer.items()}

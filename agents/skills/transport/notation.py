"""The text format of LLaMAC's appendix (arXiv 2311.13884, Figure B.1) as a notation: prompts and answers of planners.

| value | in a prompt |
|---|---|
| an agent's name | `Agent[0.5, 1.5]`: its cell |
| a plan | `move(box_green, target_green)`; one that waits is `wait(1)`, several actions stand one after the other |
| a joint plan | `{"Agent[0.5, 0.5]": "move(box_green, target_green)"}` |
| a state | `board`, every place of it, and `observations`, a line for each agent |
| what an agent sees | `observation`, its line; and the board where it sees that |

The converters are those of `llamac_env`. An answer has words first, and then a joint plan where its role gives one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from llamac_env import (
    Board,
    BoxMove,
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
    write_board,
    write_destination,
)
from maeil.errors import InvalidThought

EXECUTE = "EXECUTE"
"""What a talker writes before the joint plan that it states (HMAS-2, arXiv 2309.15943)."""
AGREED = "I agree."
"""What a reviewer writes who does not object."""
_AGREES = re.compile(r"\W*I\s+agree\b", re.IGNORECASE)
_FENCE = re.compile(r"```\w*")
_ACTION = re.compile(r"move\(([^,()]*), (.*)\)|wait\((\d+)\)")
_NEXT = ", then "
_WORDS = frozenset({"thoughts", "text", "message", "issue", "problem", "reason", "rationale"})
"""Keys of what somebody has written: nothing in it is a value."""
_MOST_WORDS = {"thoughts": 4000, "message": 2000, "issue": 1000, "reason": 1000}
"""Characters that typed answers take; a text can have any number, and the rest is cut off."""
_EXAMPLE = {"task": None, "actions": [{"action": "move", "box": "box_green", "to": "target_green"}]}


class TransportNotation:
    """Fulfils `quorum.agents.coordination.notation.Notation` for grid transportation.

    Args:
        look: gives the board as it is: answers are read against it.
    """

    def __init__(self, look: Callable[[], Board]) -> None:
        self._look = look

    @classmethod
    def of(cls, shown: Mapping[str, Any]) -> TransportNotation:
        """Return the notation of a prompt, by a state or an observation in it; it reads no answers.

        Raises:
            KeyError, ValueError: it is neither.
        """
        rule = EntryRule(shown.get("entry_rule", EntryRule.final_state))
        grid = Grid(shown["rows"], shown["cols"], Difficulty(shown["difficulty"]), rule)
        return cls(lambda: Board(grid, (), ()))

    def write(self, value: object) -> Any:
        """Write a value of a prompt."""
        grid = self._look().grid
        match value:
            case TransportObservation():
                return _observation(value)
            case str():
                return _written_name(grid, value)
            case {"board": Mapping() as items, "difficulty": str(), **shown}:
                board = read_board(grid, items)
                rest = {**shown, "difficulty": str(grid.difficulty)}
                rest.pop("agents", None)
                return {**rest, "board": write_board(board), "observations": observation_lines(board)}
            case {"actions": [{"action": str()}, *_] as actions}:
                return _NEXT.join(map(_written, actions))
            case Mapping():
                return {
                    _written_name(grid, key): item if key in _WORDS else self.write(item) for key, item in value.items()
                }
            case list() | tuple():
                return [self.write(item) for item in value]
        return value

    def read(self, value: Any) -> Any:
        """Read a value of a prompt; a state comes back without what each agent can do, which follows from its board."""
        grid = self._look().grid
        match value:
            case str():
                return _read_text(grid, value)
            case {"observations": list(), "board": dict()}:
                return {key: item for key, item in value.items() if key != "observations"}
            case {"observation": str(line)}:
                return {**{key: item for key, item in value.items() if key != "observation"}, **read_line(grid, line)}
            case dict():
                return {
                    _read_name(grid, key): item if key in _WORDS else self.read(item) for key, item in value.items()
                }
            case list():
                return [self.read(item) for item in value]
        return value

    def write_answer(self, answer: Mapping[str, Any], agent: str) -> str:
        """Write a typed answer: the words, and the first move of each plan in it; who waits is left out.

        Args:
            answer: with the plans of an assessor's choices in it.
            agent: whose answer it is.
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
                raise ValueError(f"an answer with the keys {', '.join(answer)} has no form in this notation")
        return f"{words}\n{self._joint({entry['agent']: entry['plan'] for entry in entries})}"

    def read_answer(self, role: str, text: str) -> dict[str, Any]:
        """Read the text of an answer.

        Raises:
            InvalidThought: it holds no joint plan where its role gives one, or one that cannot be carried out.
        """
        words = _words(text)
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

    def example(self, role: str, agent: str) -> str:
        """Return an answer of a role as a prompt shows it.

        Args:
            role: who is to answer.
            agent: an agent that it may have a plan for.
        """
        plans = [{"agent": agent, "plan": _EXAMPLE}]
        answers: dict[str, dict[str, Any]] = {
            "reviewer": {"agrees": False, "reason": "The green box in my cell can be placed.", "proposal": _EXAMPLE},
            "actor": {"issue": "This brings the box no nearer; the green box can be placed.", "proposal": _EXAMPLE},
            "talker": {"message": "All have said what they can do.", "plans": plans},
        }
        return self.write_answer(
            answers.get(role, {"thoughts": "The green box is in the cell of its target.", "plans": plans}), agent
        )

    def _joint(self, plans: Mapping[str, Mapping[str, Any]]) -> str:
        grid = self._look().grid
        moves = {
            _written_name(grid, agent): _written(plan["actions"][0])
            for agent, plan in plans.items()
            if plan["actions"][0]["action"] == "move"
        }
        return json.dumps(moves)

    def _entries(self, text: str) -> list[dict[str, Any]]:
        board = self._look()
        found = read_joint(board, text)
        if found.refusals:
            raise InvalidThought(tuple(f"{refusal.code}: {refusal.reason}" for refusal in found.refusals))
        return [
            {"agent": f"agent_{agent}", "plan": _plan(board.grid, agent, move)} for agent, move in found.moves.items()
        ]

    def _proposal(self, text: str) -> dict[str, Any] | None:
        """Return what somebody would do instead: the one move in the text that can be made, or None."""
        found = read_joint(self._look(), text).moves
        return _plan(self._look().grid, *next(iter(found.items()))) if len(found) == 1 else None


def _observation(seen: TransportObservation) -> dict[str, Any]:
    left_out = {"agent", "square", "sees", "can_do"}
    told = {key: item for key, item in seen.shown().items() if key not in left_out}
    board = {"board": write_board(seen.to_board())} if seen.board is not None else {}
    return {**told, **board, "observation": local_line(seen)}


def _plan(grid: Grid, agent: int, move: BoxMove) -> dict[str, Any]:
    box = f"box_{move.colour}"
    action = {"action": "move", "box": box, "to": write_destination(grid, agent, move)}
    return {"task": {"kind": "place", "target": box}, "actions": [action]}


def _written(action: Mapping[str, Any]) -> str:
    if action["action"] == "wait":
        return f"wait({action['steps']})"
    return f"move({action['box']}, {action['to']})"


def _read_text(grid: Grid, text: str) -> Any:
    """Read a text that is all of a value: a plan or the name of an agent; any other is what it is."""
    found = [_ACTION.fullmatch(part) for part in text.split(_NEXT)]
    if not all(found):
        return _read_name(grid, text)
    actions = [
        {"action": "move", "box": part[1], "to": part[2]}
        if part[3] is None
        else {"action": "wait", "steps": int(part[3])}
        for part in found
        if part is not None
    ]
    boxes = [action["box"] for action in actions if action["action"] == "move"]
    task = {"kind": "place", "target": boxes[0]} if boxes else None
    return {"task": task, "actions": actions}


def _written_name(grid: Grid, name: str) -> str:
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


def _words(text: str) -> str:
    """The words of an answer before the joint plan in it."""
    return _FENCE.sub("", text.partition("{")[0]).strip()


def _cut(answer: dict[str, Any]) -> dict[str, Any]:
    return {key: item[: _MOST_WORDS[key]] if key in _MOST_WORDS else item for key, item in answer.items()}

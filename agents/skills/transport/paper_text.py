"""The answers of planners in the text format of LLaMAC's appendix: words, then a joint plan where a role gives one.

| role | answer |
|---|---|
| critic, centre, debater | the reasons, and the joint plan: `{"Agent[0.5, 0.5]": "move(box_green, target_green)"}` |
| assessor | the same: it writes the suggestion out |
| actor | what is wrong; its own move in the same form, where it has one |
| reviewer | `I agree.`, or why not, and its own move |
| talker | what it says; or `EXECUTE` and the joint plan, which ends the dialogue (HMAS-2, arXiv 2309.15943) |
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from llamac_env import BoxMove, Grid, TransportObservation, read_joint, write_destination
from maeil.errors import InvalidThought
from quorum.agents.skills.transport.notation import board_of, grid_of, read_value, write_action, write_name, write_value

EXECUTE = "EXECUTE"
AGREED = "I agree."
_AGREES = re.compile(r"\W*I\s+agree\b", re.IGNORECASE)
_FENCE = re.compile(r"```\w*")
_MOST_WORDS = {"thoughts": 4000, "message": 2000, "issue": 1000, "reason": 1000}
"""Characters that typed answers take; a text can have any number, and the rest is cut off."""
_EXAMPLE = {"task": None, "actions": [{"action": "move", "box": "box_green", "to": "target_green"}]}


class PaperText:
    """Fulfils `quorum.agents.coordination.notation.Notation` for grid transportation.

    Args:
        look: gives the state as it is, seen from outside or as `write` writes it: answers are read against its board.
    """

    def __init__(self, look: Callable[[], TransportObservation | Mapping[str, Any]]) -> None:
        self._look = look

    def write(self, value: object) -> Any:
        """Write a value of a prompt."""
        return write_value(grid_of(self._look()), value)

    def read(self, value: Any) -> Any:
        """Read a value of a prompt."""
        return read_value(grid_of(self._look()), value)

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
        grid = grid_of(self._look())
        moves = {
            write_name(grid, agent): write_action(plan["actions"][0])
            for agent, plan in plans.items()
            if plan["actions"][0]["action"] == "move"
        }
        return json.dumps(moves)

    def _entries(self, text: str) -> list[dict[str, Any]]:
        seen = self._look()
        grid = grid_of(seen)
        found = read_joint(board_of(seen), text)
        if found.refusals:
            raise InvalidThought(tuple(f"{refusal.code}: {refusal.reason}" for refusal in found.refusals))
        return [{"agent": f"agent_{agent}", "plan": _plan(grid, agent, move)} for agent, move in found.moves.items()]

    def _proposal(self, text: str) -> dict[str, Any] | None:
        """Return what somebody would do instead: the one move in the text that can be made, or None."""
        seen = self._look()
        grid = grid_of(seen)
        found = read_joint(board_of(seen), text).moves
        return _plan(grid, *next(iter(found.items()))) if len(found) == 1 else None


def _plan(grid: Grid, agent: int, move: BoxMove) -> dict[str, Any]:
    box = f"box_{move.colour}"
    action = {"action": "move", "box": box, "to": write_destination(grid, agent, move)}
    return {"task": {"kind": "place", "target": box}, "actions": [action]}


def _words(text: str) -> str:
    """The words of an answer before the joint plan in it."""
    return _FENCE.sub("", text.partition("{")[0]).strip()


def _cut(answer: dict[str, Any]) -> dict[str, Any]:
    return {key: item[: _MOST_WORDS[key]] if key in _MOST_WORDS else item for key, item in answer.items()}

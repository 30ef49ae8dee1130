"""The contract of a notation: a world's own text format, in which planners are told things and answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol


class Notation(Protocol):
    """A text format of a world, in place of typed JSON. The values of prompts and answers mean the same in both.

    Prompts and answers of the minds are put into it where they are sent and received (`RolePrompts`, `RoleSpeaker`);
    the simulated model puts them back, so that its rules need to know typed values alone.
    """

    def write(self, value: object) -> Any:
        """Write a value of a prompt: plans, states, observations and the names of agents in it; the rest as it is."""

    def read(self, value: Any) -> Any:
        """Read a value of a prompt: the inverse of `write`, for all that an answer depends on."""

    def write_answer(self, answer: Mapping[str, Any], agent: str) -> str:
        """Write the typed answer of an agent as text; an assessor's choices have their plans in them."""

    def read_answer(self, role: str, text: str) -> dict[str, Any]:
        """Read the text of an answer as the typed answer of a role.

        Raises:
            maeil.errors.InvalidThought: it is none; the reasons say what to mend.
        """

    def example(self, role: str, agent: str) -> str:
        """Return an answer of a role, as a prompt shows it; `agent` may have a plan in it."""

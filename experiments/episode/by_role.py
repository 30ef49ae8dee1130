"""The model and the deadline of a call, by the role and the turn in which it is asked."""

from __future__ import annotations

from collections.abc import Mapping

from quorum.agents.llm.protocol import Model, Origin, Reply, Request


class ByRole:
    """A participant's model whose calls go to another one in some roles.

    Args:
        model: answers in all other roles.
        special: what answers in a role, by its name.
    """

    def __init__(self, model: Model, special: Mapping[str, Model]) -> None:
        self._model = model
        self._special = special

    async def complete(self, request: Request) -> Reply:
        """Answer a request."""
        role = request.origin.role if request.origin is not None else ""
        return await self._special.get(role, self._model).complete(request)


def deadline_of(deadlines: Mapping[str, float], usual: float, origin: Origin) -> float | None:
    """Return the seconds that one attempt may take in all: its role's, else the longest of its turn's sorts.

    Args:
        deadlines: of some roles and sorts of turns.
        usual: that of all others.
        origin: who asks, in which role and turn.

    Returns:
        None where the call has the usual one.
    """
    if origin.role in deadlines:
        return deadlines[origin.role]
    if deadlines.keys().isdisjoint(origin.turn):
        return None
    return max(deadlines.get(sort, usual) for sort in origin.turn)

"""Minds of the corridor of whom one gives the only order, and all others wait for it; for tests of credits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from corridor import Rest, Walk

from maeil import Component, ComponentConfig, Plan, TeamContext, Thought, View
from maeil.component import Compatibility
from maeil.messages import Draft
from maeil.mind import Act
from quorum.configuration.registry import minds

SAID = {0: "go", 1: "what a day"}
"""What the first agent says to the others, by step."""


class OrdersConfig(ComponentConfig):
    """It has no parameters."""

    name: Literal["orders"]


class Ordering:
    """Walks, says `go` in the first step, and something that nobody acts on in the next."""

    async def think(self, view: View) -> Thought:
        says = Act.SPEAK in view.turn.acts and view.turn.recipients and view.t in SAID
        return Thought(Plan((Walk(cells=1),)), (Draft(view.turn.recipients, SAID[view.t]),) if says else ())


class Ordered:
    """Waits until somebody has said `go`."""

    def __init__(self) -> None:
        self._ordered = False

    async def think(self, view: View) -> Thought:
        self._ordered |= any(message.content == "go" for message in view.unread)
        return Thought(Plan((Walk(cells=1) if self._ordered else Rest(),)))


def build(_config: OrdersConfig, context: TeamContext) -> Sequence[Ordering | Ordered]:
    """Make the one who orders, and those who are ordered."""
    return [Ordering(), *(Ordered() for _ in context.world.agents[1:])]


minds.register("orders", Component(OrdersConfig, build, compatible=Compatibility.ANYBODY))

"""The contract of memory that outlives an episode: what a mind takes along to the next one."""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable


@runtime_checkable
class Remembers(Protocol):
    """A mind that takes something along from one episode to the next.

    When an episode is over, each name is asked for once. The team of the next episode is built with the answers
    (`maeil.component.TeamContext.memories`), which have been written as JSON and read again meanwhile.
    """

    @property
    def memory_name(self) -> str:
        """The name under which it is kept: that of its participant, or one that all minds share who share a memory."""

    def remember(self) -> Any:
        """Return what it takes along, JSON-ready: plain numbers, texts, lists and dicts with texts as keys."""

"""The contract of memory across episodes."""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable


@runtime_checkable
class Remembers(Protocol):
    """A mind that keeps a memory from one episode to the next.

    At the end of an episode, `remember` is called once for each memory name. The memories are saved as JSON, and the
    team of the next episode is built with them (`maeil.component.TeamContext.memories`).
    """

    @property
    def memory_name(self) -> str:
        """The name of the memory: that of the participant, or a common name for minds that share a memory."""

    def remember(self) -> Any:
        """Return the memory as JSON-ready data: numbers, strings, lists and dicts with string keys."""

"""What is seen of an episode that is replayed from seed and joint actions, instant by instant."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Generic, TypeVar

from maeil.errors import ReplayMismatch
from maeil.trace import Stamped, replay_events
from maeil.world import World
from quorum.experiments.common.extension_errors import as_extension_error

Seen = TypeVar("Seen")


class Replayed(Generic[Seen]):
    """What is seen of a replay, as long as it goes.

    Args:
        events: of the trace.
        world: what is replayed, built anew.
        see: looks at the world as it stands; called once at each instant.
        said: the subject of the sentence that tells how far it went: `the world is shown`.
    """

    def __init__(self, events: Iterable[Stamped], world: World, see: Callable[[], Seen], said: str) -> None:
        self.problems: list[str] = []
        """Why there is no more."""
        self._see = see
        self._said = said
        self._states = replay_events(events, world)
        self._instants = 0

    def __iter__(self) -> Replayed[Seen]:
        """Go on with the replay."""
        return self

    def __next__(self) -> Seen:
        """Return what is seen at the next instant; none where the episode ends or cannot be replayed further."""
        try:
            next(self._states)
            seen = self._see()
        except StopIteration:
            raise
        except ReplayMismatch as mismatch:
            self.problems.append(
                "The recorded episode is not what its seed and actions give in this version, "
                f"so {self._said} up to there only: {str(mismatch)[:500]}"
            )
        except Exception as error:  # a damaged trace may ask of a world what it never would be asked
            mistake = as_extension_error(error)
            why = mistake.message if mistake is not None else f"{type(error).__name__}: {error}"
            said = f"{self._said[0].upper()}{self._said[1:]}"
            self.problems.append(f"{said} up to step {self._instants} only: {why}")
        else:
            self._instants += 1
            return seen
        self._states = iter(())
        raise StopIteration

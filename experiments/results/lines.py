"""Whether the runs of a line fit together: each began with the memory that the one before it has left."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from quorum.experiments.common.memory_file import MEMORY, MEMORY_BEFORE
from quorum.experiments.configuration.cell import line_of
from quorum.experiments.results.run_meta import RunMeta


@dataclass(frozen=True, slots=True)
class LinePlace:
    """Where a run stands in its line.

    Attributes:
        line: equal for the runs of one line.
        episode: number in it.
        before: digest of the memory that it began with; None for none.
        after: digest of that which it left; None where it failed.
    """

    line: str
    episode: int
    before: str | None
    after: str | None


def place_of(meta: RunMeta) -> LinePlace | None:
    """Return where a run stands in its line; None where its team takes nothing along, or it does not say.

    A branch is in no line: it begins with what its run began with, whatever other branches have left.
    """
    configuration = meta.configuration
    if meta.branch is not None:
        return None
    if meta.memory is None or configuration is None or not isinstance(episode := configuration.get("episode"), int):
        return None
    try:
        line = line_of(configuration, meta.inputs)
    except TypeError:  # nested more deeply than any that was composed
        return None
    return LinePlace(line, episode, meta.memory.before, meta.memory.after)


def misfits(places: Mapping[str, LinePlace | None]) -> dict[str, str]:
    """Return the runs that do not fit to the one before them, each with the reason.

    Args:
        places: of runs, by name. Those whose line has no run before them here are not judged.
    """
    names = {(place.line, place.episode): name for name, place in places.items() if place is not None}
    found = {}
    for name, place in places.items():
        before = names.get((place.line, place.episode - 1)) if place is not None else None
        left = places[before] if before is not None else None
        if place is not None and left is not None and place.before != left.after:
            found[name] = f"{MEMORY_BEFORE}: it began with another memory than the {MEMORY} of {before}"
    return found

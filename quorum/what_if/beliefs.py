"""Beliefs of agents in probed runs: right answers by fact, agent, hop and step."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from maeil.metrics.statistics import mean
from quorum.display.sanitize import sanitize
from quorum.runs.run_folder import is_run, read_whole_trace, runs_inside
from quorum.runs.summary import aligned, shown
from quorum.what_if.extensions.probe.events import Belief
from quorum.what_if.extensions.probe.facts import UNKNOWN


def _hop(belief: Belief) -> str:
    return "no message" if belief.hop is None else str(belief.hop) if belief.hop else "its source"


_GROUPS: Mapping[str, Callable[[int, str, Belief], str]] = {
    "all": lambda *_: "",
    "fact": lambda _t, _agent, belief: belief.fact,
    "agent": lambda _t, agent, _belief: agent,
    "hop": lambda _t, _agent, belief: _hop(belief),
    "step": lambda t, *_: str(t),
}
"""Groupings of answers, in the order of the rows."""


@dataclass(frozen=True, slots=True)
class Beliefs:
    """All answers of some probed runs.

    Attributes:
        answers: each with the environment step and the name of the agent.
    """

    answers: Sequence[tuple[int, str, Belief]]

    @classmethod
    def of(cls, folder: Path) -> Beliefs:
        """Read the answers of a run, or of all runs of a folder.

        Raises:
            UserError: a run cannot be read.
        """
        runs = [folder] if is_run(folder) else [*runs_inside(folder)]
        return cls(
            [
                (stamped.t, trace.start.agents[stamped.event.agent], stamped.event)
                for trace in map(read_whole_trace, runs)
                for stamped in trace.among(Belief)
                if isinstance(stamped.event, Belief)
            ]
        )

    def to_json(self) -> list[dict[str, Any]]:
        """Return a row for each group of answers, JSON-ready: the grouping, the group, and its figures."""
        rows = []
        for by, group_of in _GROUPS.items():
            groups: dict[str, list[Belief]] = {}
            for t, agent, belief in sorted(self.answers, key=lambda one: (one[0], one[1], one[2].hop or 0)):
                groups.setdefault(group_of(t, agent, belief), []).append(belief)
            for group, found in groups.items():
                shares = {
                    "right": mean([one.answer == one.truth for one in found]),
                    "unknown": mean([one.answer == UNKNOWN for one in found]),
                    "chance": mean([1 / one.choices for one in found]),
                }
                rows.append({"by": by, "group": group, "answers": len(found), **shares})
        return rows

    def __str__(self) -> str:
        head = ("by", "", "answers", "right", "unknown", "chance")
        lines = [
            (by, sanitize(group), *map(shown, figures)) for by, group, *figures in map(dict.values, self.to_json())
        ]
        return "\n".join(aligned([head, *lines], (False, False, True, True, True, True)))

"""What the agents of probed runs believed: right answers by fact, agent, hop and step."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from maeil.extensions.probe.events import Belief
from maeil.extensions.probe.facts import UNKNOWN
from maeil.metrics.statistics import mean
from quorum.experiments.common.sanitize import sanitize
from quorum.experiments.results.run_folder import is_run, read_whole_trace, runs_inside
from quorum.experiments.results.summary import aligned, shown


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

    def rows(self) -> Iterator[tuple[str, str, Mapping[str, float | None]]]:
        """Yield a row for each group of answers: by what they are grouped, the group, and its figures."""
        groups: dict[tuple[str, str], list[Belief]] = {("all", ""): []}
        for t, agent, belief in sorted(self.answers, key=lambda one: (one[0], one[1])):
            hop = "no message" if belief.hop is None else "its source" if not belief.hop else str(belief.hop)
            for key in (("all", ""), ("fact", belief.fact), ("agent", agent), ("hop", hop), ("step", str(t))):
                groups.setdefault(key, []).append(belief)
        order = ("all", "fact", "agent", "hop", "step")
        for (by, group), found in sorted(groups.items(), key=lambda item: (order.index(item[0][0]), item[0][1] if item[0][0] == "hop" else "")):
            yield (
                by,
                group,
                {
                    "answers": len(found),
                    "right": mean([one.answer == one.truth for one in found]),
                    "unknown": mean([one.answer == UNKNOWN for one in found]),
                    "chance": mean([1 / one.choices for one in found]),
                },
            )

    def plain(self) -> list[dict[str, Any]]:
        """Return the rows as JSON-ready data."""
        return [{"by": by, "group": group, **figures} for by, group, figures in self.rows()]

    def __str__(self) -> str:
        head = ("by", "", "answers", "right", "unknown", "chance")
        lines = [(by, sanitize(group), *map(shown, figures.values())) for by, group, figures in self.rows()]
        return "\n".join(aligned([head, *lines], (False, False, True, True, True, True)))

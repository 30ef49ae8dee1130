"""From `quorum metrics RUN --credit agent` to what was asked for."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

from maeil.metrics import Value, compute_on_demand
from maeil.metrics.credit import Differences, LiveDifferences, MessageValues, Utility
from maeil.user_errors import UserError, choices_hint
from quorum.experiments.branch.parent import Parent
from quorum.experiments.credit.continuation import Continuations
from quorum.experiments.credit.difference import difference_rewards
from quorum.experiments.results.recorded_episode import open_episode
from quorum.experiments.results.run_folder import is_run, runs_inside

Tell = Callable[[str], None]


class Kind(StrEnum):
    """What is to be credited, and how."""

    AGENT = "agent"
    """Each agent: it idles, and all others act as recorded."""
    LIVE = "live"
    """Each agent: it idles, and the minds of all others think on."""
    MESSAGE = "message"
    """Each message: it is not sent, and all minds think on."""

    @property
    def per(self) -> str:
        """The table of `quorum metrics --per` that it is of."""
        return "message" if self is Kind.MESSAGE else "agent"


@dataclass(slots=True)
class Credits:
    """What was found out about one run.

    Attributes:
        run: its folder.
        metrics: those of the group `credit` that were asked for.
        rows: for `agent` and `message`, by the name of the agent or the number of the message, what it is worth.
    """

    run: Path
    metrics: dict[str, Value] = field(default_factory=dict)
    rows: dict[str, dict[str | int, Mapping[str, Value]]] = field(default_factory=dict)

    def add(self, per: str, column: str, worth: Mapping[Any, Utility]) -> None:
        """Add columns to the rows: the value in each of the three utilities."""
        rows = self.rows.setdefault(per, {})
        for name, utility in worth.items():
            values = {
                column: utility.returned,
                f"{column}_reached": utility.reached,
                f"{column}_score": utility.score,
            }
            rows[name] = {**rows.get(name, {}), **values}

    def joined(self, per: str, rows: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
        """Return the rows of a table of `quorum metrics --per` with what was found out.

        A participant without a body has no credit: None.
        """
        own = self.rows.get(per, {})
        names = list(dict.fromkeys(name for values in own.values() for name in values))
        return [{**row, **dict.fromkeys(names), **own.get(row[per], {})} for row in rows]


def kinds_of(names: Iterable[str]) -> list[Kind]:
    """Return what is asked for, each once.

    Raises:
        UserError: there is no such kind.
    """
    known = [str(kind) for kind in Kind]
    for name in names:
        if name not in known:
            raise UserError(f"--credit {name}: there is no such credit", choices_hint(name, "They are", known))
    return [kind for kind in Kind if kind in set(names)]


def runs_of(given: Iterable[Path]) -> Iterator[Path]:
    """Return the folders of runs: those that were given, and for a folder of runs, such as a sweep, all in it."""
    for folder in given:
        inside = [] if not folder.is_dir() or is_run(folder) else list(runs_inside(folder))
        yield from inside or [folder]


def credits_of(run: Path, kinds: Collection[Kind], begin: int = 0, tell: Tell = lambda _: None) -> Credits:
    """Find out what agents and messages of a run were worth.

    Args:
        run: its folder.
        kinds: what is asked for.
        begin: the step from which on an agent idles, for `Kind.AGENT`.
        tell: told how often the run is played again with thoughts, before that begins.

    Raises:
        UserError: there is no such run, it cannot be brought back, its world draws lots, or, but for `Kind.AGENT`, a
            model would have to be paid for.
    """
    found = Credits(run)
    if Kind.AGENT in kinds:
        episode = open_episode(run)
        differences = difference_rewards(episode, begin)
        found.metrics |= compute_on_demand(Differences(differences))
        found.add("agent", "difference", dict(zip(episode.trace.start.agents, differences, strict=True)))
    if others := [kind for kind in kinds if kind is not Kind.AGENT]:
        _add_continuations(found, Continuations(Parent.open(run)), others, tell)
    return found


def _add_continuations(found: Credits, again: Continuations, kinds: Collection[Kind], tell: Tell) -> None:
    agents = again.agents if Kind.LIVE in kinds else ()
    messages = tuple(again.messages) if Kind.MESSAGE in kinds else ()
    tell(f"{found.run}: playing it {len(agents) + len(messages)} times")
    without = {agent: again.without_agent(agent) for agent in agents}
    unsent = {message: again.without_message(message) for message in messages}
    if Kind.LIVE in kinds:
        found.metrics |= compute_on_demand(LiveDifferences(list(without.values())))
        found.add("agent", "live_difference", without)
    if Kind.MESSAGE in kinds:
        found.metrics |= compute_on_demand(MessageValues(list(unsent.values())))
        found.add("message", "value", unsent)

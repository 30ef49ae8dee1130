"""Pilots: episodes played in memory with the simulated model, to estimate what such an episode takes."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import fsum
from typing import Any

from maeil.metrics.model import answers_of, call_number
from maeil.trace.events import ScoreChange, Stamped, ThoughtEnd, ThoughtStart
from quorum.configuration.cell import Cell
from quorum.configuration.inputs import inputs_of
from quorum.configuration.schema import Configuration, validate
from quorum.configuration.team_label import minds_in
from quorum.episode.in_memory import play_in_memory
from quorum.episode.rehearsal import rehearse, unlogged
from quorum.episode.substitute import asks_real_models, substituted

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Taken:
    """What an episode took, or the mean of several.

    Attributes:
        answers: answers of language models.
        prompt: tokens read.
        completion: tokens written.
        usd: cost at the prices of the models.
        thoughts: thoughts of all agents.
        chain: minimum number of consecutive answers: agents that think at the same instant wait together.
        seconds: computing time.
        steps: environment steps.
    """

    answers: float
    prompt: float
    completion: float
    usd: float
    thoughts: float
    chain: float
    seconds: float
    steps: float

    def times(self, share: float) -> Taken:
        """Return all amounts multiplied by `share`."""
        return Taken(*(share * getattr(self, name) for name in self.__slots__))

    @property
    def tokens(self) -> float:
        """Tokens read and written."""
        return self.prompt + self.completion


@dataclass(frozen=True, slots=True)
class Pilot:
    """A pilot.

    Attributes:
        taken: what it took until it stopped.
        steps: environment steps played.
        whole: whether the episode was played to its end.
        reached: share of the goals that were reached; 0 in a world without a list of goals.
    """

    taken: Taken
    steps: int
    whole: bool
    reached: float = 0.0

    def extrapolated(self, plain: Mapping[str, Any], steps: float | None = None) -> Taken:
        """Return what the whole episode takes: a stopped pilot is scaled by its steps.

        Args:
            plain: configuration of the episode; its step limit and budget cap the result.
            steps: expected steps; None: the step limit.
        """
        if self.whole:
            return self.taken
        wanted = max(plain["max_steps"] if steps is None else steps, self.steps)
        return within(plain["budget"], self.taken.times(wanted / max(self.steps, 1)))


class _OutOfTime(Exception):
    """The time of a pilot is up."""


def effort() -> float:
    """Return CPU time plus a tenth of wall time, in seconds, so that a world that only waits ends too."""
    return time.process_time() + time.monotonic() / 10


def play_pilot(cell: Cell, seconds: float, clock: Callable[[], float] = effort) -> Pilot | None:
    """Play a cell in memory. The simulated model replaces others, at their prices; nothing is written.

    Args:
        cell: the cell to play. For a branch, an episode of its configuration is played from the start.
        seconds: computing time after which it stops; compiling kernels does not count.
        clock: returns seconds.

    Returns:
        None if the simulated model cannot answer for such minds.
    """
    configuration = offline(cell.configuration)
    whole = True
    try:
        for mind in minds_in(cell.plain["agents"]):
            rehearse(configuration.env.name, mind)
        tally = _Tally(seconds, clock)
        with unlogged():
            play_in_memory(Cell(configuration, inputs_of(configuration)), [tally])
    except _OutOfTime:
        whole = False
    except Exception as error:  # the dry run shows the kind as unknown; the run itself reports the mistake
        _log.info("no pilot of %s: %r", cell.name, error)
        return None
    return Pilot(tally.taken(), tally.steps, whole, tally.reached)


def offline(configuration: Configuration) -> Configuration:
    """Return a configuration whose models answer immediately, contact no server, and write nothing."""
    if not configuration.uses_models:
        return configuration
    real = asks_real_models(configuration)
    plain = (substituted(configuration, configuration.llm.participants) if real else configuration).to_json()
    quick = {"cache": False, "latency": 0.0}
    plain["llm"] |= {key: value for key, value in quick.items() if key in plain["llm"]}
    return validate(plain, recorded=True)


class _Tally:
    """A listener that sums up what an episode takes, and stops it when its time is up."""

    def __init__(self, seconds: float, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._begin = clock()
        self._seconds = seconds
        self._calls: list[Mapping[str, Any]] = []
        self._thoughts = 0
        self._since: dict[int, tuple[float, float]] = {}
        self._chains: dict[tuple[float, float], int] = {}
        self.steps = 0
        self.reached = 0.0

    def __call__(self, stamped: Stamped) -> None:
        self.steps = stamped.t
        match stamped.event:
            case ScoreChange(reached=reached, goals=goals) if goals:
                self.reached = reached / goals
            case ThoughtStart(agent=agent):
                self._since[agent] = (stamped.t, stamped.t_hat)
            case ThoughtEnd(agent=agent, calls=calls):
                self._thoughts += 1
                self._calls += calls
                place = self._since[agent]
                self._chains[place] = max(self._chains.get(place, 0), sum(map(answers_of, calls)))
                # Not at each event: reading the clock takes as long as everything else here.
                if self._clock() - self._begin > self._seconds:
                    raise _OutOfTime

    def taken(self) -> Taken:
        """Return the sums so far."""

        def total(key: str) -> float:
            return fsum(call_number(call, key) or 0 for call in self._calls)

        return Taken(
            answers=sum(map(answers_of, self._calls)),
            prompt=total("prompt_tokens"),
            completion=total("completion_tokens"),
            usd=total("usd"),
            thoughts=self._thoughts,
            chain=sum(self._chains.values()),
            seconds=self._clock() - self._begin,
            steps=self.steps,
        )


def within(budget: Mapping[str, float | None], taken: Taken) -> Taken:
    """Return what an episode takes that ends when its budget is reached."""
    amounts = {"usd": taken.usd, "tokens": taken.tokens, "calls": taken.answers}
    shares = (limit / amounts[kind] for kind, limit in budget.items() if limit is not None and amounts[kind] > limit)
    return taken.times(min(shares, default=1.0))


def mean_of(taken: Sequence[Taken]) -> Taken:
    """Return the mean of episodes."""
    return Taken(*(fsum(getattr(one, name) for one in taken) / len(taken) for name in Taken.__slots__))

"""How an episode ended, and what counts as a success."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import asdict, dataclass
from math import fsum
from typing import Any

from maeil.outcomes import Outcome
from maeil.trace import Trace
from maeil.trace.events import EpisodeEnd, ScoreChange, Stamped, StepTaken, ThoughtEnd
from quorum.agents.llm.spending import Spent
from quorum.episode.call_ledger import spent_in
from quorum_base.user_errors import UserError

_CRITERION = re.compile(r"(?:(steps)<=|(score|reached)>=)(-?\d{1,9}(?:\.\d{1,9})?)")


@dataclass(frozen=True, slots=True)
class Ending:
    """How an episode ended.

    Attributes:
        outcome: an `Outcome`; `refused` for a correction that the world refuses.
        steps: environment steps.
        reached: goals reached.
        goals: goals in total; 0 if the world has none.
        score: score of the world.
        calls: answers of language models, excluding those of its recorded prefix.
        usd: their cost, as far as prices are known.
        tokens: number of tokens that they read and wrote.
        returned: sum of the rewards of its steps.
    """

    outcome: str
    steps: int = 0
    reached: int = 0
    goals: int = 0
    score: float = 0.0
    calls: int = 0
    usd: float = 0.0
    tokens: int = 0
    returned: float = 0.0

    @property
    def finished(self) -> bool:
        """Whether the task was finished."""
        return self.outcome == Outcome.SUCCESS

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON-ready data."""
        return asdict(self)


class Ender:
    """Watches an episode, or reads its trace, to find how it ends.

    Args:
        live: whether calls are made now, and are not part of a recorded prefix.
    """

    def __init__(self, live: Callable[[], bool] = lambda: True) -> None:
        self._live = live
        self._score: ScoreChange | None = None
        self._end: EpisodeEnd | None = None
        self._spent, self._t = Spent(), 0
        self._rewards: list[float] = []

    def __call__(self, stamped: Stamped) -> None:
        """Process an event."""
        event = stamped.event
        self._t = stamped.t
        if isinstance(event, ThoughtEnd):
            if event.calls and self._live():
                self._spent += spent_in(event.calls)
        elif isinstance(event, StepTaken):
            self._rewards.append(event.reward)
        elif isinstance(event, ScoreChange):
            self._score = event
        elif isinstance(event, EpisodeEnd):
            self._end = event

    @property
    def ending(self) -> Ending:
        """How the episode ended; `error` if it broke off."""
        score = self._score or ScoreChange(0, 0, 0.0)
        end = self._end or EpisodeEnd(Outcome.ERROR, self._t)
        spent = self._spent
        found = end.outcome, end.steps, score.reached, score.goals, float(score.score)
        return Ending(*found, spent.answers, spent.usd, spent.tokens, fsum(self._rewards))


def ending_of(trace: Trace) -> Ending:
    """Return how a recorded episode ended."""
    ender = Ender()
    for stamped in trace.among(StepTaken, ScoreChange, EpisodeEnd, ThoughtEnd):
        ender(stamped)
    return ender.ending


@dataclass(frozen=True, slots=True)
class Success:
    """What counts as a success: a finished task, optionally within a number of steps; or a minimum score or goals.

    Attributes:
        text: as the user gives it: `success`, `steps<=60`, `score>=3` or `reached>=2`.
    """

    text: str

    @classmethod
    def parse(cls, text: str) -> Success:
        """Read a condition of success.

        Raises:
            UserError: it is not one.
        """
        found = "".join(text.split())
        if found != Outcome.SUCCESS and _CRITERION.fullmatch(found) is None:
            raise UserError(
                f"--success {text}: it is no condition of success",
                "Give success, or a bound: 'steps<=60', 'score>=3', 'reached>=2'.",
            )
        return cls(found)

    def met(self, ending: Ending) -> bool:
        """Whether an episode is a success. A limit of steps also requires a finished task."""
        match = _CRITERION.fullmatch(self.text)
        if match is None:
            return ending.finished
        if match[1]:
            return ending.finished and ending.steps <= float(match[3])
        return (ending.score if match[2] == "score" else ending.reached) >= float(match[3])

    @property
    def measure(self) -> str:
        """Name of the graded measure, the unit of the shares of agents next to success itself."""
        match = _CRITERION.fullmatch(self.text)
        return "progress" if match is None else "steps saved" if match[1] else match[2]

    def grade(self, ending: Ending, longest: int) -> float:
        """Return the grade of an episode; more is better.

        It is the share of goals reached (the score, in a world without goals). For a minimum score or goals, it is that
        number. For a limit of steps, it is the number of steps saved of `longest`, or 0 if the task was not finished.

        Args:
            ending: the ending of the episode.
            longest: steps that count for an unfinished episode.
        """
        match self.measure:
            case "steps saved":
                return float(longest - ending.steps) if ending.finished else 0.0
            case "score":
                return ending.score
            case "reached":
                return float(ending.reached)
        return ending.reached / ending.goals if ending.goals else ending.score


FINISHED = Success(Outcome.SUCCESS)
"""The task is finished."""

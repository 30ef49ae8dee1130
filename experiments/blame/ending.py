"""How an episode ended, and what counts as a success."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from maeil.trace import Trace
from maeil.trace.events import EpisodeEnd, ScoreChange, Stamped, ThoughtEnd
from maeil.user_errors import UserError

_CRITERION = re.compile(r"(steps|score|reached)(<=|>=)(-?\d{1,9}(?:\.\d{1,9})?)")
_COMPARE: Mapping[str, Callable[[float, float], bool]] = {"<=": operator.le, ">=": operator.ge}
_MEASURES = {"steps": "steps saved"}
_BETTER = {"steps": "<=", "score": ">=", "reached": ">="}


@dataclass(frozen=True, slots=True)
class Ending:
    """How an episode ended.

    Attributes:
        outcome: `completed`, `limit`, `budget` or `error`; `refused` for a correction that the world did not take.
        finished: whether the task was finished.
        steps: environment steps.
        reached: goals reached.
        goals: goals in all; 0 where the world has none.
        score: the world's own.
        calls: answers of language models that were asked for in it, without those of its recorded beginning.
        usd: what they have cost, where prices are known.
    """

    outcome: str
    finished: bool = False
    steps: int = 0
    reached: int = 0
    goals: int = 0
    score: float = 0.0
    calls: int = 0
    usd: float = 0.0

    def plain(self) -> dict[str, Any]:
        """Return it as JSON-ready data."""
        return asdict(self)


class Ender:
    """Watches an episode, or reads its trace, for how it ends.

    Args:
        live: says whether what is asked now is asked of a model, and was not recorded before.
    """

    def __init__(self, live: Callable[[], bool] = lambda: True) -> None:
        self._live = live
        self._score: ScoreChange | None = None
        self._end: EpisodeEnd | None = None
        self._calls, self._usd, self._t = 0, 0.0, 0

    def __call__(self, stamped: Stamped) -> None:
        """Take an event in."""
        event = stamped.event
        self._t = stamped.t
        if isinstance(event, ThoughtEnd):
            if event.calls and self._live():
                self._calls += len(event.calls)
                self._usd += sum(float(call.get("usd") or 0.0) for call in event.calls)
        elif isinstance(event, ScoreChange):
            self._score = event
        elif isinstance(event, EpisodeEnd):
            self._end = event

    @property
    def ending(self) -> Ending:
        """How it ended; `error` for an episode that breaks off."""
        score = self._score or ScoreChange(0, 0, 0.0)
        end = self._end or EpisodeEnd("error", self._t, finished=False)
        return Ending(
            end.outcome, end.finished, end.steps, score.reached, score.goals, float(score.score), self._calls, self._usd
        )


def ending_of(trace: Trace) -> Ending:
    """Return how a recorded episode ended."""
    ender = Ender()
    for stamped in trace.among(ScoreChange, EpisodeEnd, ThoughtEnd):
        ender(stamped)
    return ender.ending


@dataclass(frozen=True, slots=True)
class Success:
    """What counts as a success: the task is finished; or, in a bound, besides, its steps, or its score alone.

    Attributes:
        text: as it is given: `completed`, `steps<=60`, `score>=3` or `reached>=2`.
    """

    text: str

    @classmethod
    def parse(cls, text: str) -> Success:
        """Read what counts as a success.

        Raises:
            UserError: it cannot be read.
        """
        found = "".join(text.split())
        match = _CRITERION.fullmatch(found)
        if found != "completed" and (match is None or _BETTER[match[1]] != match[2]):
            raise UserError(
                f"--success {text}: it is no condition of success",
                "Give completed, or a bound: 'steps<=60', 'score>=3', 'reached>=2'.",
            )
        return cls(found)

    def met(self, ending: Ending) -> bool:
        """Whether an episode is one. A bound of steps asks that the task is finished, too."""
        match = _CRITERION.fullmatch(self.text)
        if match is None:
            return ending.finished
        value = {"steps": ending.steps, "score": ending.score, "reached": ending.reached}[match[1]]
        return (ending.finished or match[1] != "steps") and _COMPARE[match[2]](value, float(match[3]))

    @property
    def measure(self) -> str:
        """Name of what is graded: what the credit of agents is given in, beside success itself."""
        match = _CRITERION.fullmatch(self.text)
        return "progress" if match is None else _MEASURES.get(match[1], match[1])

    def grade(self, ending: Ending, longest: int) -> float:
        """Return how good an episode is, more is better.

        That is the share of goals reached (of a world without goals its score), for a bound of score or of goals that
        number, and for one of steps the steps that were saved of `longest`, none where the task was not finished.

        Args:
            ending: of it.
            longest: steps that an unfinished episode is counted with.
        """
        match self.measure:
            case "steps saved":
                return float(longest - ending.steps) if ending.finished else 0.0
            case "score":
                return ending.score
            case "reached":
                return float(ending.reached)
        return ending.reached / ending.goals if ending.goals else ending.score


COMPLETED = Success("completed")
"""The task is finished."""

"""Tables, files and the figure of a choice probe. Boards are the unit of all intervals."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from math import isnan, log
from typing import Any

import numpy as np
import orjson

from quorum.comparison.figures import style
from quorum.comparison.statistics.intervals import Estimate, estimate
from quorum.display.sanitize import sanitize
from quorum.runs.summary import aligned, shown
from quorum.what_if.choice.arms import ARMS, HEARD
from quorum.what_if.choice.figure import draw
from quorum.what_if.choice.probabilities import Distribution
from quorum.what_if.choice.probe import Measured
from quorum.what_if.choice.rows import Row

_CLAIM = "named"
_COLUMNS = (
    "model", "run", "board", "agent", "t", "t_hat", "by", "named", "arm", "choice", "probability", "listed", "bounded",
)  # fmt: skip


def log_odds(distribution: Distribution, choice: str) -> float:
    """Return the logarithm of a choice's probability over that of all other choices together."""
    shares = distribution.shares
    return log(shares[choice]) - log(sum(share for other, share in shares.items() if other != choice))


@dataclass(frozen=True, slots=True)
class Table:
    """The results of a choice probe.

    Attributes:
        measured: all measured decisions.
        planned: number of decisions to measure.
    """

    measured: Sequence[Measured]
    planned: int

    @property
    def rows(self) -> list[Row]:
        """A row for each arm of each model, for decisions by request and by name."""
        groups: dict[tuple[str, str], list[Measured]] = {}
        for one in self.measured:
            groups.setdefault((one.model, "asked" if one.decision.heard.asked else _CLAIM), []).append(one)
        return [
            _row(*group, arm, some)
            for group, found in groups.items()
            for arm in ARMS
            if (some := [one for one in found if arm in one.arms])
        ]

    @property
    def means(self) -> Iterator[tuple[str, str, Mapping[str, float]]]:
        """The mean probability of each choice in each arm, by model, over boards where it is available."""
        shares: dict[tuple[str, str], dict[str, dict[int, list[float]]]] = {}
        for one in self.measured:
            for choice in one.decision.heard.choices:
                for arm, found in one.arms.items():
                    boards = shares.setdefault((one.model, choice), {}).setdefault(arm, {})
                    boards.setdefault(one.decision.board, []).append(found.shares[choice])
        for (model, choice), arms in sorted(shares.items()):
            yield model, choice, {arm: float(np.mean([*map(np.mean, boards.values())])) for arm, boards in arms.items()}

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON-ready data; ends of intervals are null if there is no interval."""
        rows = [{key: _plain(value) for key, value in asdict(row).items()} for row in self.rows]
        choices = [{"model": model, "choice": choice, "arms": dict(arms)} for model, choice, arms in self.means]
        return {"decisions": self.planned, "measured": len(self.measured), "rows": rows, "choices": choices}

    def csv(self) -> str:
        """Return a line for each choice of each decision in each arm."""
        file = io.StringIO()
        written = csv.writer(file, lineterminator="\n")
        written.writerow(_COLUMNS)
        for one in self.measured:
            where, heard = one.decision, one.decision.heard
            place = (one.model, where.run, where.board, where.agent, where.t, where.t_hat)
            for arm, found in one.arms.items():
                for choice, share in found.shares.items():
                    said = ("asked" if heard.asked else _CLAIM, heard.named, arm, choice)
                    written.writerow((*place, *said, share, found.listed, int(choice in found.bounded)))
        return file.getvalue()

    def files(self) -> dict[str, bytes]:
        """Return its files by name: the table of all probabilities, the results as JSON, and the figure."""
        with style.styled():
            figure = draw(self.rows)
            drawn = {f"choices.{form}": style.rendered(figure, form) for form in ("pdf", "png")}
        plain = orjson.dumps(self.to_json(), option=orjson.OPT_INDENT_2)
        return {"choices.csv": self.csv().encode(), "choices.json": plain + b"\n", **drawn}

    def __str__(self) -> str:
        arms = [arm for arm in ARMS if any(arm in one.arms for one in self.measured)]
        choices = [(model, choice, *(shown(found.get(arm)) for arm in arms)) for model, choice, found in self.means]
        rows = [
            (row.model, row.by, row.arm, str(row.decisions), str(row.odds.boards), shown(row.probability),
             _interval(row.odds), "" if row.arm == HEARD else _interval(row.effect), shown(row.distance))
            for row in self.rows
        ]  # fmt: skip
        head = ("model", "by", "arm", "decisions", "boards", "P", "log-odds", "heard - arm", "distance")
        lines = [
            "mean probability of each choice",
            *_aligned([("model", "choice", *arms), *choices], 2),
            "",
            "the task that the messages name: its probability P, its log-odds, and their change from the arm to heard",
            *_aligned([head, *rows], 3),
        ]
        if len(self.measured) < self.planned:
            lines.append(f"{self.planned - len(self.measured)} of {self.planned} decisions were not measured")
        if bounded := sum(bool(found.bounded) for one in self.measured for found in one.arms.values()):
            lines.append(f"in {bounded} answers the service did not list a choice: its probability is an upper bound")
        return "\n".join(lines)


def _row(model: str, by: str, arm: str, measured: Sequence[Measured]) -> Row:
    _, boards = np.unique([one.decision.board for one in measured], return_inverse=True)
    named = [one.decision.heard.named for one in measured]
    pairs = [(one.arms[HEARD], one.arms[arm], choice) for one, choice in zip(measured, named, strict=True)]
    odds = np.array([log_odds(found, choice) for _, found, choice in pairs])
    effect = np.array([log_odds(heard, choice) for heard, _, choice in pairs]) - odds
    shares = estimate(np.array([found.shares[choice] for _, found, choice in pairs]), boards=boards)
    moved = [sum(abs(heard.shares[one] - found.shares[one]) for one in found.shares) / 2 for heard, found, _ in pairs]
    distance = estimate(np.array(moved), boards=boards).value
    return Row(
        model, by, arm, len(measured), shares.value, estimate(odds, boards=boards), estimate(effect, boards=boards),
        distance,
    )  # fmt: skip


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(one) for key, one in value.items()}
    return None if isinstance(value, float) and isnan(value) else value


def _interval(found: Estimate) -> str:
    return f"{found.value:+.2f}" if isnan(found.low) else f"{found.value:+.2f} [{found.low:+.2f}, {found.high:+.2f}]"


def _aligned(rows: Sequence[Sequence[str]], left: int) -> Iterator[str]:
    return aligned([[*map(sanitize, row)] for row in rows], [place >= left for place in range(len(rows[0]))])

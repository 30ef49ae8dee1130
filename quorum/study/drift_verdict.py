"""Test whether today's answers differ from recorded ones more than they differ from each other.

Each prompt has three answers: the recorded one and two of today. If exactly two of them are equal, the third is the odd
one. If the service has not changed, the three are draws from one distribution, so each is the odd one in a third of
such prompts. An exact binomial test compares how often the recorded answer is odd with that third. Noise affects all
three alike.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from math import comb, fsum
from statistics import fmean
from typing import Any

import orjson

from quorum.agents.llm.protocol import Reply, Request
from quorum.agents.llm.spending import dollars
from quorum.agents.llm.structured import NoAnswer, extract
from quorum.agents.llm.validation import validator_of
from quorum.runs.summary import aligned

LEVEL = 0.025
"""Level of each of the two tests, on texts and on decisions: 5 % in total."""
_CONFIDENCE = 0.95
_STEPS = 40
"""Number of bisections of an interval of probabilities."""


@dataclass(frozen=True, slots=True)
class Agreement:
    """How far the three answers to each prompt agree.

    Attributes:
        prompts: number of prompts.
        then_now: number of equal pairs of a recorded answer and one of today, of two per prompt.
        now_now: number of prompts with two equal answers of today.
        two_equal: number of prompts with exactly two equal answers.
        odd: number of these in which the recorded answer is the third.
        kept: number of prompts with three equal answers.
    """

    prompts: int
    then_now: int
    now_now: int
    two_equal: int
    odd: int
    kept: int

    @classmethod
    def of(cls, answers: Sequence[tuple[Any, Any, Any]]) -> Agreement:
        """Compare answers.

        Args:
            answers: for each prompt: the recorded one, and two of today.
        """
        equal = [(then == first, then == second, first == second) for then, first, second in answers]
        return cls(
            len(answers),
            sum(one + other for one, other, _ in equal),
            sum(now for _, _, now in equal),
            sum(sum(pairs) == 1 for pairs in equal),
            sum(pairs == (False, False, True) for pairs in equal),
            sum(all(pairs) for pairs in equal),
        )

    @property
    def p(self) -> float:
        """Probability of at least this many odd recorded answers if the service has not changed."""
        m = self.two_equal
        return float(sum(comb(m, k) * 2 ** (m - k) for k in range(self.odd, m + 1)) / 3**m)

    @property
    def changed(self) -> bool:
        """Whether drift is significant."""
        return self.p <= LEVEL

    @property
    def telling(self) -> bool:
        """Whether drift would be significant if all answers that are repeated today had changed."""
        return 3.0**-self.now_now <= LEVEL

    @property
    def most(self) -> float:
        """The largest share, at 95 % confidence, of the answers repeated today that differ from the recorded ones."""
        low, high = 0.0, 1.0
        for _ in range(_STEPS):
            middle = (low + high) / 2
            few = sum(
                comb(self.now_now, k) * middle**k * (1 - middle) ** (self.now_now - k) for k in range(self.odd + 1)
            )
            low, high = (middle, high) if few > 1 - _CONFIDENCE else (low, middle)
        return high


@dataclass(frozen=True)
class Drift:
    """The answers of a service to recorded prompts, then and now.

    Attributes:
        run: folder of the run.
        recorded: number of different prompts that could be repeated.
        requests: the repeated requests.
        answers: for each: the recorded one, and two of today.
    """

    run: str
    recorded: int
    requests: Sequence[Request]
    answers: Sequence[tuple[Reply, Reply, Reply]]

    @cached_property
    def texts(self) -> Agreement:
        """How far texts agree."""
        return Agreement.of([(a.text, b.text, c.text) for a, b, c in self.answers])

    @cached_property
    def decisions(self) -> Agreement:
        """How far decisions agree; see `decision`."""
        found = zip(self.requests, self.answers, strict=True)
        return Agreement.of([(decision(q, a), decision(q, b), decision(q, c)) for q, (a, b, c) in found])

    @property
    def changed(self) -> bool:
        """Whether drift is significant, of texts or of decisions."""
        return self.texts.changed or self.decisions.changed

    @property
    def _now(self) -> list[Reply]:
        return [reply for _, *now in self.answers for reply in now]

    @property
    def usd(self) -> float | None:
        """Cost of today's answers; None if a price is unknown."""
        known = [reply.usd for reply in self._now if reply.usd is not None]
        return fsum(known) if len(known) == len(self._now) else None

    @property
    def simulated(self) -> bool:
        """Whether a simulated model answered."""
        return any(reply.simulated for reply in self._now)

    @property
    def verdict(self) -> str:
        """The conclusion, in words."""
        found = self.decisions
        if found.changed:
            return f"drift: the service decides differently now ({_test(found)})"
        if self.texts.changed:
            return (
                f"drift: the service words its answers differently now ({_test(self.texts)}); decisions show no drift"
            )
        if not found.telling:
            return (
                f"inconclusive: today the service repeats its decision in {found.now_now} of {found.prompts} "
                "prompts, too few to separate drift from noise"
            )
        return (
            f"no drift found: of the decisions that the service repeats today, at most {found.most:.0%} differ from "
            f"the recorded ones, at 95 % confidence ({_test(found)})"
        )

    def lines(self) -> list[str]:
        """Return it for a reader."""
        asked, simulated = len(self.answers), " (simulated: no real model)" if self.simulated else ""
        money = "unknown money (no price)" if self.usd is None else dollars(self.usd)
        rows = [
            ("", "then and now", "now and now"),
            *(
                (f"equal {name}", f"{found.then_now} of {2 * found.prompts}", f"{found.now_now} of {found.prompts}")
                for name, found in self._agreements.items()
            ),
            ("", "then", "now"),
            *((name, *columns) for name, columns in self._reported.items()),
        ]
        return [
            f"{self.run}: {asked} of {self.recorded} recorded prompts, sent twice each, {money}{simulated}",
            *aligned(rows),
            self.verdict,
        ]

    @property
    def _agreements(self) -> dict[str, Agreement]:
        return {"texts": self.texts, "decisions": self.decisions}

    @property
    def _reported(self) -> dict[str, list[str]]:
        """What the service reports and counts, then and now."""
        sides = ([then for then, *_ in self.answers], self._now)
        return {
            "model": [_names(reply.model for reply in side) for side in sides],
            "fingerprint": [_names(reply.fingerprint for reply in side) or "none sent" for side in sides],
            "tokens of a prompt": [f"{fmean(reply.usage.prompt for reply in side):,.1f}" for side in sides],
            "tokens of an answer": [f"{fmean(reply.usage.completion for reply in side):,.1f}" for side in sides],
        }

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON-ready data."""
        return {
            "run": self.run,
            "recorded": self.recorded,
            **{name: {**asdict(found), "p": found.p} for name, found in self._agreements.items()},
            **{name.replace(" ", "_"): list(sides) for name, sides in self._reported.items()},
            "usd": self.usd,
            "simulated": self.simulated,
            "changed": self.changed,
            "verdict": self.verdict,
        }


def decision(request: Request, reply: Reply) -> bytes:
    """Return the decision of an answer: its JSON without prose, so that two wordings of one plan are equal.

    Prose is every text with a space in it. An answer that does not match the requested schema is its text.
    """
    try:
        value = extract(reply.text, validator_of(request.answer.schema if request.answer is not None else {}))
    except NoAnswer:
        return reply.text.encode()
    return orjson.dumps(_without_prose(value), option=orjson.OPT_SORT_KEYS)


def _without_prose(value: Any) -> Any:
    match value:
        case dict():
            return {name: _without_prose(inner) for name, inner in value.items()}
        case list():
            return [_without_prose(inner) for inner in value]
        case str() if " " in value:
            return ""
    return value


def _names(found: Iterable[str]) -> str:
    return ", ".join(dict.fromkeys(name for name in found if name))


def _test(found: Agreement) -> str:
    if not found.two_equal:
        return f"all three answers are equal in {found.kept} of {found.prompts} prompts"
    return (
        f"the recorded answer is the odd one out in {found.odd} of {found.two_equal} prompts with two equal answers, "
        f"where chance gives a third, p = {found.p:.2g}"
    )

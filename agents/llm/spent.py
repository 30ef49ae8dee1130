"""What answers have taken: their number, tokens and money, and how that is written."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Spent:
    """What the answers of language models took, those of the cache included.

    Attributes:
        answers: their number.
        tokens: read and written.
        usd: money in US dollars, as far as it is known.
        unpriced: answers whose price is not known.
        cached: answers that came from the cache, so that they were paid earlier.
    """

    answers: int = 0
    tokens: int = 0
    usd: float = 0.0
    unpriced: int = 0
    cached: int = 0

    def __add__(self, other: Spent) -> Spent:
        return Spent(
            self.answers + other.answers,
            self.tokens + other.tokens,
            self.usd + other.usd,
            self.unpriced + other.unpriced,
            self.cached + other.cached,
        )

    def __sub__(self, other: Spent) -> Spent:
        return Spent(
            self.answers - other.answers,
            self.tokens - other.tokens,
            self.usd - other.usd,
            self.unpriced - other.unpriced,
            self.cached - other.cached,
        )

    @property
    def known_usd(self) -> float | None:
        """The money; None where the price of an answer is not known."""
        return None if self.unpriced else self.usd

    @property
    def money(self) -> str:
        """The money in words: what is not known is never written as nothing."""
        if not self.unpriced:
            return dollars(self.usd)
        if self.unpriced == self.answers:
            return "price unknown"
        return f"{dollars(self.usd)} and {self.unpriced:,} answers at an unknown price"


def dollars(usd: float) -> str:
    """Write an amount with two decimals, or with two digits of a smaller one."""
    return f"${usd:,.2f}" if usd == 0 or usd >= 0.1 else f"${usd:.2g}" if usd >= 1e-4 else f"${usd:.1e}"

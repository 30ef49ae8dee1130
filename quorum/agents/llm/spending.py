"""The cost of answers, the calls under way, and the budget of an episode."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from quorum.agents.llm.errors import BudgetReached, UnknownPrice
from quorum.agents.llm.limits import estimate_prompt
from quorum.agents.llm.paid import paid_with
from quorum.agents.llm.prices import Price
from quorum.agents.llm.protocol import Model, Origin, Reply, Request, Usage
from quorum_base.stopwatches import Stopwatch, timed_by


@dataclass(frozen=True, slots=True)
class Spent:
    """Resources used by the answers of language models, including cached answers.

    Attributes:
        answers: number of answers.
        tokens: tokens read and written.
        usd: known cost in US dollars.
        unpriced: number of answers with an unknown price.
        cached: number of answers from the cache, which were paid for earlier.
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

    @property
    def known_usd(self) -> float | None:
        """The cost; None if the price of an answer is unknown."""
        return None if self.unpriced else self.usd

    @property
    def money(self) -> str:
        """The cost in words; an unknown cost never appears as zero."""
        if not self.unpriced:
            return dollars(self.usd)
        if self.unpriced == self.answers:
            return "price unknown"
        return f"{dollars(self.usd)} and {self.unpriced:,} answers at an unknown price"


def dollars(usd: float) -> str:
    """Format an amount with two decimals, or with two significant digits if it is smaller."""
    return f"${usd:,.2f}" if usd == 0 or usd >= 0.1 else f"${usd:.2g}" if usd >= 1e-4 else f"${usd:.1e}"


_NOBODY = Origin("", 0)


@dataclass(frozen=True, slots=True, eq=False)
class CallUnderWay:
    """A request that waits for its answer.

    Attributes:
        agent: the thinking participant.
        role: the participant's role; empty if it has none.
        stopwatch: measures its duration, without the wait for a slot.
    """

    agent: str
    role: str
    stopwatch: Stopwatch


class UnderWay:
    """The calls under way and the totals of all answers so far: one object per process.

    The event loop writes it; any thread may read it.

    Args:
        clock: monotonic seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.clock = clock
        """Monotonic clock, in seconds."""
        self.spent = Spent()
        """Totals of all answers so far, including cached ones."""
        self.simulated = False
        """Whether a simulated model gave any of them, so that the cost is fictitious."""
        self._calls: list[CallUnderWay] = []

    @property
    def calls(self) -> list[CallUnderWay]:
        """The calls that have a slot, longest running first."""
        found = [call for call in self._calls.copy() if not call.stopwatch.stands]
        return sorted(found, key=lambda call: -call.stopwatch.seconds)

    @property
    def queued(self) -> int:
        """Number of calls waiting for a slot in our own queue."""
        return sum(call.stopwatch.stands for call in self._calls.copy())

    def begin(self, origin: Origin | None) -> CallUnderWay:
        """Register a new call."""
        who = origin or _NOBODY
        call = CallUnderWay(who.agent, who.role, Stopwatch(self.clock))
        self._calls.append(call)
        return call

    def end(self, call: CallUnderWay, reply: Reply | None) -> None:
        """Remove a call, given its answer or the reply of a failed call that was paid for; None if nothing was paid."""
        self._calls.remove(call)
        if reply is not None:
            usage, usd = reply.usage, reply.usd
            self.spent += Spent(1, usage.prompt + usage.completion, usd or 0.0, int(usd is None), int(reply.cache_hit))
            self.simulated = self.simulated or reply.simulated


class Watched:
    """A model whose calls are visible while they are under way. A repeated request is a separate call.

    Args:
        model: the model.
        under_way: registers the calls.
    """

    def __init__(self, model: Model, under_way: UnderWay) -> None:
        self._model = model
        self._under_way = under_way

    async def complete(self, request: Request) -> Reply:
        """Answer a request."""
        call = self._under_way.begin(request.origin)
        reply: Reply | None = None
        try:
            with timed_by(call.stopwatch):
                reply = await self._model.complete(request)
        except BaseException as error:
            reply = paid_with(error)
            raise
        finally:
            self._under_way.end(call, reply)
        return reply


@dataclass(frozen=True, slots=True)
class Budget:
    """Limits of an episode; None for no limit.

    Attributes:
        usd: cost in US dollars.
        tokens: tokens read and written.
        calls: calls by minds and repairs, answered or not; retries do not count.
    """

    usd: float | None = None
    tokens: int | None = None
    calls: int | None = None


class Spending:
    """The resources that an episode has used of its budget: one object for all models of the episode.

    A call is refused if the amounts used, under way and expected for this call together exceed the budget. The expected
    amount is the mean of the calls so far or, before the first answer, the length of the prompt. Cached answers count
    like others, so that an episode ends at the same point with and without a cache.

    Args:
        budget: the limits.
    """

    def __init__(self, budget: Budget) -> None:
        self.budget = budget
        self.usd = 0.0
        self.tokens = 0
        self.calls = 0
        self._answers = 0
        self._under_way: dict[str, float] = {"usd": 0.0, "tokens": 0.0}
        self._unpriced = ""

    def open(self, prompt: float, price: Price | None) -> dict[str, float]:
        """Start a call; return its expected amounts, for `close`.

        Raises:
            BudgetReached: the call would exceed the budget.
            UnknownPrice: there is a budget of money, and an earlier answer did not report its cost.
        """
        if self._unpriced and self.budget.usd is not None:
            raise UnknownPrice(f"the price of '{self._unpriced}' is unknown, so a budget of money cannot be enforced")
        if self._answers:
            expected = {"usd": self.usd / self._answers, "tokens": self.tokens / self._answers}
        else:
            usd = 0.0 if price is None else price.usd(Usage(prompt=int(prompt), completion=0))
            expected = {"usd": usd, "tokens": prompt}
        budget = self.budget
        self._check("calls", self.calls, 1, budget.calls)
        self._check("tokens", self.tokens, self._under_way["tokens"] + expected["tokens"], budget.tokens)
        self._check("usd", self.usd, self._under_way["usd"] + expected["usd"], budget.usd)
        self.calls += 1
        for kind, amount in expected.items():
            self._under_way[kind] += amount
        return expected

    @staticmethod
    def _check(kind: str, used: float, more: float, limit: float | None) -> None:
        slack = 1e-9 * (limit or 0.0)
        if limit is not None and (used + more > limit + slack or used >= limit):
            raise BudgetReached(kind, used, limit)

    def close(self, expected: dict[str, float], reply: Reply | None) -> None:
        """End a call, given its answer or the reply of a failed call that was paid for; None if nothing was paid.

        The caller still receives an answer without a price, because it is paid for; the next call is refused.
        """
        for kind, amount in expected.items():
            self._under_way[kind] -= amount
        if reply is None:
            return
        self._answers += 1
        self.tokens += reply.usage.prompt + reply.usage.completion
        if reply.usd is not None:
            self.usd += reply.usd
        else:
            self._unpriced = reply.model


def check_price(budget: Budget, model: str, priced: bool) -> None:
    """Refuse a budget of money for a model with an unknown price, before the first request.

    Raises:
        UnknownPrice: the price is unknown.
    """
    if budget.usd is not None and not priced:
        raise UnknownPrice(f"the price of '{model}' is unknown, so a budget of money cannot be enforced")


class Account(Protocol):
    """The account that calls are charged to: that of an episode, or that of a cell with its sweep."""

    def open(self, prompt: float, price: Price | None) -> Any:
        """Start a call; return its expected amounts, for `close`. See `Spending.open`."""

    def close(self, expected: Any, reply: Reply | None) -> None:
        """End a call; `reply` is None if there was no answer."""


class Allowance(Account, Protocol):
    """An episode's share of a budget that it shares with others.

    Attributes:
        cut: the limit that ended the episode; empty if none did.
    """

    cut: str


class Budgeted:
    """A model whose calls stay within a budget.

    Args:
        model: the model.
        account: the account to charge, shared by all models of an episode.
        price: price of this model, for the first estimate; None if unknown.
    """

    def __init__(self, model: Model, account: Account, price: Price | None = None) -> None:
        self._model = model
        self._account = account
        self._price = price

    async def complete(self, request: Request) -> Reply:
        """Answer a request.

        Raises:
            BudgetReached: the call would exceed the budget; no request was made.
            UnknownPrice: an earlier answer did not report its cost; no request was made.
        """
        expected = self._account.open(estimate_prompt(request), self._price)
        reply: Reply | None = None
        try:
            reply = await self._model.complete(request)
        except BaseException as error:
            reply = paid_with(error)
            raise
        finally:
            self._account.close(expected, reply)
        return reply

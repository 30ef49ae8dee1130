"""What answers have cost, which calls are under way, and the budget of an episode."""

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


_NOBODY = Origin("", 0)


@dataclass(frozen=True, slots=True)
class CallUnderWay:
    """A request that waits for its answer.

    Attributes:
        agent: the participant who thinks.
        role: the role in which it is asked; empty where it has none.
        stopwatch: counts for how long, without waiting for a place.
    """

    agent: str
    role: str
    stopwatch: Stopwatch


class UnderWay:
    """What is asked at the moment, and what the answers so far have taken: one object a process.

    It is written from the event loop, and may be read from any thread.

    Args:
        clock: monotonic seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.clock = clock
        """Gives monotonic seconds."""
        self.spent = Spent()
        """Of all answers so far, those of the cache among them."""
        self.simulated = False
        """Whether a simulated model gave one of them, so that the money is made up."""
        self._calls: dict[int, CallUnderWay] = {}
        self._next = 0

    @property
    def calls(self) -> list[CallUnderWay]:
        """The calls that have a place, that which takes longest first."""
        found = [call for call in tuple(self._calls.values()) if not call.stopwatch.stands]
        return sorted(found, key=lambda call: -call.stopwatch.seconds)

    @property
    def queued(self) -> int:
        """Calls that wait for a place in our own queue."""
        return sum(call.stopwatch.stands for call in tuple(self._calls.values()))

    def begin(self, origin: Origin | None) -> tuple[int, Stopwatch]:
        """Enter a call that begins; return its number, and what counts its time."""
        who = origin or _NOBODY
        self._next += 1
        call = self._calls[self._next] = CallUnderWay(who.agent, who.role, Stopwatch(self.clock))
        return self._next, call.stopwatch

    def end(self, number: int, reply: Reply | None) -> None:
        """Take a call out, with its answer, or what was paid for none; None where nothing was."""
        del self._calls[number]
        if reply is not None:
            self.spent += _of(reply)
            self.simulated = self.simulated or reply.simulated


def _of(reply: Reply) -> Spent:
    usage, usd = reply.usage, reply.usd
    return Spent(1, usage.prompt + usage.completion, usd or 0.0, int(usd is None), int(reply.cache_hit))


class Watched:
    """A model whose calls can be seen while they are under way. Asking for an answer again is a separate call.

    Args:
        model: the model.
        under_way: where they are entered.
    """

    def __init__(self, model: Model, under_way: UnderWay) -> None:
        self._model = model
        self._under_way = under_way

    async def complete(self, request: Request) -> Reply:
        """Answer a request."""
        number, stopwatch = self._under_way.begin(request.origin)
        reply: Reply | None = None
        try:
            with timed_by(stopwatch):
                reply = await self._model.complete(request)
        except BaseException as error:
            reply = paid_with(error)
            raise
        finally:
            self._under_way.end(number, reply)
        return reply


@dataclass(frozen=True, slots=True)
class Budget:
    """What an episode may use; None for any amount.

    Attributes:
        usd: money.
        tokens: tokens read and written.
        calls: requests for an answer: those of minds and each repair, also those that get none; retries are not.
    """

    usd: float | None = None
    tokens: int | None = None
    calls: int | None = None


class Spending:
    """What an episode has used of its budget: one object for all models of the episode.

    A call is refused when what has been used, what is under way, and what this call is expected to use go beyond the
    budget. Expected is the mean of the calls so far; before the first answer, the length of the prompt.
    Calls that the cache answers count like others, so that an episode ends at the same place with and without a cache.

    Args:
        budget: what may be used.
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
        """Begin a call; give what is expected of it, for `close`.

        Raises:
            BudgetReached: it would go beyond the budget.
            UnknownPrice: there is a budget of money, and an earlier answer did not say what it cost.
        """
        if self._unpriced and self.budget.usd is not None:
            raise UnknownPrice(f"the price of '{self._unpriced}' is not known: a budget of money cannot be kept")
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
        """End a call, with its answer, or what was paid for none; None where nothing was.

        An answer without a price is given to who has asked, as it is paid; the next call is refused.
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
    """Refuse a budget of money for a model whose price is not known, before anything is asked.

    Raises:
        UnknownPrice: it is not known.
    """
    if budget.usd is not None and not priced:
        raise UnknownPrice(f"the price of '{model}' is not known, so a budget of money cannot be kept")


class Account(Protocol):
    """What calls are charged to: that of an episode, or that of a cell with its sweep."""

    def open(self, prompt: float, price: Price | None) -> Any:
        """Begin a call; give what is expected of it, for `close`. See `Spending.open`."""

    def close(self, expected: Any, reply: Reply | None) -> None:
        """End a call; None where no answer came."""


class Allowance(Account, Protocol):
    """What an episode may draw of a budget that it shares with others.

    Attributes:
        cut: the bound that has cut the episode; empty: none has.
    """

    cut: str


class Budgeted:
    """A model whose calls keep to a budget.

    Args:
        model: the model.
        account: what its calls are charged to, shared by all models of an episode.
        price: price of this model, for the first estimate; None when it is not known.
    """

    def __init__(self, model: Model, account: Account, price: Price | None = None) -> None:
        self._model = model
        self._account = account
        self._price = price

    async def complete(self, request: Request) -> Reply:
        """Answer a request.

        Raises:
            BudgetReached: it would go beyond the budget; nothing has been asked.
            UnknownPrice: an earlier answer did not say what it cost; nothing has been asked.
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

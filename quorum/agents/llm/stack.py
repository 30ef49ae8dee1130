"""The wrappers around a provider, in their one order.

From the outside in:

1. `Structuring`: asks again when an answer is empty or of a wrong form; every repair is a separate call below.
2. `Watched`: shows the call to those who watch, while it is under way.
3. `Recording`: one record for each call, written when its answer comes, so that no later failure can lose it.
4. `Budgeted`: refuses the call that would go beyond the budget; counts what the cache answers, too, so that an episode
   ends at the same place with and without a cache.
5. `GivingBack`: an answer that an earlier attempt at the episode has paid for is not asked for again.
6. `Budgeted` again, by what the episode may draw of the budget of its sweep.
7. `FallingBack`: another model where this one cannot be reached; what follows is each model's own.
8. `Priced`: what an answer has cost, where it does not say so itself.
9. `Cached`: an answer that was paid for needs no network, no place and no retry.
10. `Retrying`: waits outside of the limits, so that a call that waits holds no place.
11. `Limited`: places and rates, each try by itself.
12. `Redacting`: no text of a reply or an error holds a key; everything above may be written down.
13. The provider, with the deadline of each try; its door over HTTP lets no key in.
"""

from __future__ import annotations

import logging
import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from quorum.agents.llm.conversation import without_carried
from quorum.agents.llm.errors import ContextOverflow, InfrastructureFailed
from quorum.agents.llm.given_back import GivenBack, GivingBack
from quorum.agents.llm.limits import CallLimits, Limited, Retrying, RetryRules
from quorum.agents.llm.paid import after, carried, paid_with
from quorum.agents.llm.prices import Price, Priced
from quorum.agents.llm.protocol import Model, Reply, Request
from quorum.agents.llm.recording import Keep, Recording, Sink
from quorum.agents.llm.spending import Allowance, Budgeted, Spending, UnderWay, Watched, check_price
from quorum.agents.llm.structured import Structuring

_log = logging.getLogger(__name__)

Caching = Callable[[Model], Model]
"""Wraps a model so that its answers are kept: `Cached`."""


@dataclass(frozen=True, slots=True)
class Fallback:
    """A model that is asked when those before it cannot be reached.

    Attributes:
        name: what its answers are marked with.
        model: as it is reached: with its own retries, limits, cache and price.
        drawn: returns a request with the sampling and the deadline of this model.
        priced: whether its answers have a price.
    """

    name: str
    model: Model
    drawn: Callable[[Request], Request]
    priced: bool


class FallingBack:
    """A model whose calls go to others, in order, when it cannot be reached: all its retries are used up.

    Nothing else is a reason: a wrong key, a refused request, a prompt that is too long, a used budget, an answer that
    is none. A fallback whose context is too short for a prompt cannot be reached with it: the prompt fits into the
    model that was chosen. Every call begins with the first model again.

    Args:
        model: is asked first.
        fallbacks: are asked then.
    """

    def __init__(self, model: Model, fallbacks: Sequence[Fallback]) -> None:
        self._model = model
        self._fallbacks = tuple(fallbacks)
        self._logged: set[str] = set()

    async def complete(self, request: Request) -> Reply:
        """Answer a request; the answer of a fallback names it.

        Raises:
            InfrastructureFailed: none of them can be reached.
        """
        paid: list[Reply | None] = []
        with carried(paid):
            return await self._in_turn(request, paid)

    async def _in_turn(self, request: Request, paid: list[Reply | None]) -> Reply:
        """Ask one model after the other; what was paid for those that failed is added to `paid`."""
        begin = time.perf_counter()
        try:
            return await self._model.complete(request)
        except InfrastructureFailed as error:
            failures = [error]
            paid.append(paid_with(error))
        for fallback in self._fallbacks:
            level = logging.INFO if fallback.name in self._logged else logging.WARNING
            self._logged.add(fallback.name)
            _log.log(
                level, "%s is asked in the place of a model that cannot be reached: %s", fallback.name, failures[-1]
            )
            try:
                reply = await fallback.model.complete(fallback.drawn(without_carried(request)))
            except InfrastructureFailed as error:
                failures.append(InfrastructureFailed(f"{fallback.name}: {error}", error.attempts))
                paid.append(paid_with(error))
            except ContextOverflow as error:
                failures.append(InfrastructureFailed(f"{fallback.name}: its context is too short: {error}", 1))
                paid.append(paid_with(error))
            else:
                tried = sum(failure.attempts for failure in failures)
                seconds = time.perf_counter() - begin
                reply = after(paid, reply)
                return replace(reply, fallback=fallback.name, attempts=reply.attempts + tried, seconds=seconds)
        tried = sum(failure.attempts for failure in failures)
        raise InfrastructureFailed("; ".join(map(str, failures)), tried) from None


def with_access(
    model: Model,
    *,
    rng: random.Random,
    retry: RetryRules | None = None,
    patient: bool = True,
    limits: CallLimits | None = None,
    caching: Caching | None = None,
    price: Price | None = None,
) -> Model:
    """Wrap a model in what says how it is reached, and what it costs; each wrapper only if it is named.

    Args:
        model: a provider, or its batches.
        rng: randomness of the waits between tries.
        retry: bounds on tries and waiting.
        patient: whether a server to which there was no connection yet is waited for.
        limits: shared by a process.
        caching: makes the wrapper that keeps answers.
        price: price of the model.
    """
    stack = model
    if limits is not None:
        stack = Limited(stack, limits)
    if retry is not None:
        stack = Retrying(stack, retry, rng, patient=patient)
    if caching is not None:
        stack = caching(stack)
    return Priced(stack, price) if price is not None else stack


def build_stack(
    model: Model,
    *,
    name: str,
    max_repairs: int,
    spending: Spending | None = None,
    allowance: Allowance | None = None,
    price: Price | None = None,
    priced: bool = False,
    fallbacks: Sequence[Fallback] = (),
    given: GivenBack | None = None,
    widens: Callable[[Request], bool] = lambda _: True,
    sink: Sink | None = None,
    keep: Keep = lambda _: None,
    under_way: UnderWay | None = None,
) -> Model:
    """Wrap a model in what belongs to an episode: `Structuring` always, the other wrappers only if they are named.

    Args:
        model: as `with_access` gives it, or a replay.
        name: the model's name, for messages.
        max_repairs: how often an answer of a wrong form is asked for again.
        spending: the episode's budget and what is used of it.
        allowance: what the episode may draw of the budget of its sweep; answers that are given back are not charged.
        price: price of the model.
        priced: whether the model's replies carry money although `price` is None (the simulated model, litellm).
        fallbacks: what is asked where the model cannot be reached.
        given: answers that earlier attempts at the episode have paid for.
        widens: whether an empty answer may be asked for again by a request with more room.
        sink: takes a record of every call.
        keep: takes the pictures of every call that is recorded.
        under_way: where calls can be seen while they are under way.

    Raises:
        quorum.agents.llm.errors.UnknownPrice: a budget of money, and no price.
    """
    stack: Model = FallingBack(model, fallbacks) if fallbacks else model
    stack = Budgeted(stack, allowance, price) if allowance is not None else stack
    stack = GivingBack(stack, given) if given is not None else stack
    if spending is not None:
        check_price(spending.budget, name, priced or price is not None)
        for fallback in fallbacks:
            check_price(spending.budget, fallback.name, fallback.priced)
        stack = Budgeted(stack, spending, price)
    if sink is not None:
        stack = Recording(stack, sink, keep)
    if under_way is not None:
        stack = Watched(stack, under_way)
    return Structuring(stack, max_repairs, widens)

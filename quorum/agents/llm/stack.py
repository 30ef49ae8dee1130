"""The wrappers around a provider, in their fixed order.

From the outside in:

1. `Structuring`: repeats the request after an empty or malformed answer; every repair is a separate call below.
2. `Watched`: shows calls that are under way to observers.
3. `Recording`: writes one record per call as soon as its answer arrives, so that later failures cannot lose it.
4. `Budgeted`: refuses a call that would exceed the budget. It also counts answers from the cache, so that an episode
   ends at the same point with and without a cache.
5. `Resuming`: reuses answers that an earlier attempt at the episode has paid for.
6. `Budgeted` again, for the episode's share of the sweep's budget.
7. `FallingBack`: uses another model if this one is unreachable; each model has its own wrappers below.
8. `Priced`: adds the cost of an answer if the answer does not report it.
9. `Cached`: a cached answer needs no network, no slot and no retry.
10. `Retrying`: waits outside the limits, so that a waiting call holds no slot.
11. `Limited`: concurrency and rate limits, for each try.
12. `Redacting`: removes keys from replies and errors, so that everything above may be written down.
13. The provider, with the deadline of each try; its HTTP layer removes keys as well.
"""

from __future__ import annotations

import logging
import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from quorum.agents.llm.conversation import without_carried
from quorum.agents.llm.errors import ContextOverflow, InfrastructureFailed
from quorum.agents.llm.limits import CallLimits, Limited, Retrying, RetryRules
from quorum.agents.llm.paid import carried, paid_with, together
from quorum.agents.llm.prices import Price, Priced
from quorum.agents.llm.protocol import Model, Reply, Request
from quorum.agents.llm.recording import Keep, Recording, Sink
from quorum.agents.llm.resumed_answers import ResumedAnswers, Resuming
from quorum.agents.llm.spending import Allowance, Budgeted, Spending, UnderWay, Watched, check_price
from quorum.agents.llm.structured import Structuring

_log = logging.getLogger(__name__)

Caching = Callable[[Model], Model]
"""Wraps a model in a cache (`Cached`)."""


@dataclass(frozen=True, slots=True)
class Fallback:
    """A model used when the models before it are unreachable.

    Attributes:
        name: marks its answers.
        model: the model with its own retries, limits, cache and price.
        drawn: returns a request with this model's sampling parameters and deadline.
        priced: whether its answers have a price.
    """

    name: str
    model: Model
    drawn: Callable[[Request], Request]
    priced: bool


class FallingBack:
    """A model that passes its calls on to fallbacks, in order, when it is unreachable and all retries are used up.

    No other failure triggers a fallback: not a wrong key, a refused request, a prompt that is too long, an exhausted
    budget or an invalid answer. A fallback whose context is too short for a prompt counts as unreachable, because the
    prompt fits the chosen model. Every call starts with the first model again.

    Args:
        model: the first choice.
        fallbacks: the models to try next.
    """

    def __init__(self, model: Model, fallbacks: Sequence[Fallback]) -> None:
        self._model = model
        self._fallbacks = tuple(fallbacks)
        self._logged: set[str] = set()

    async def complete(self, request: Request) -> Reply:
        """Answer a request; a fallback's answer names the fallback.

        Raises:
            InfrastructureFailed: no model is reachable.
        """
        begin = time.perf_counter()
        paid: list[Reply | None] = []
        with carried(paid):
            try:
                return await self._model.complete(request)
            except InfrastructureFailed as error:
                failures = [error]
                paid.append(paid_with(error))
            for fallback in self._fallbacks:
                level = logging.INFO if fallback.name in self._logged else logging.WARNING
                self._logged.add(fallback.name)
                _log.log(level, "%s answers instead of a model that cannot be reached: %s", fallback.name, failures[-1])
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
                    reply = together([*paid, reply])
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
    """Wrap a model in retries, limits, cache and price, each only if given.

    Args:
        model: a provider, or its batches.
        rng: randomness of the waits between tries.
        retry: bounds on tries and waiting.
        patient: whether to wait for a server that has not accepted any connection yet.
        limits: limits shared by a process.
        caching: makes the cache wrapper.
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
    given: ResumedAnswers | None = None,
    widens: Callable[[Request], bool] = lambda _: True,
    sink: Sink | None = None,
    keep: Keep = lambda _: None,
    under_way: UnderWay | None = None,
) -> Model:
    """Add an episode's wrappers to a model: `Structuring` always, the others only if given.

    Args:
        model: the result of `with_access`, or a replay.
        name: the model's name, for messages.
        max_repairs: how often to repeat a request after a malformed answer.
        spending: the episode's budget and its use so far.
        allowance: the episode's share of the sweep's budget; reused answers are not charged to it.
        price: price of the model.
        priced: whether the model's replies report a cost even if `price` is None (the simulated model, litellm).
        fallbacks: models to use when this one is unreachable.
        given: answers that earlier attempts at the episode have paid for.
        widens: whether an empty answer may be requested again with a higher token limit.
        sink: receives a record of every call.
        keep: receives the pictures of every recorded call.
        under_way: shows calls that are under way.

    Raises:
        quorum.agents.llm.errors.UnknownPrice: there is a budget of money but no price.
    """
    stack: Model = FallingBack(model, fallbacks) if fallbacks else model
    stack = Budgeted(stack, allowance, price) if allowance is not None else stack
    stack = Resuming(stack, given) if given else stack
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

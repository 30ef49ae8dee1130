"""The wrappers around a provider, in their one order.

From the outside in:

1. `Structuring`: asks again when an answer is empty or of a wrong form; every repair is a call of its own below.
2. `Watched`: shows the call to those who watch, while it is under way.
3. `Recording`: one record for each call, written when its answer comes, so that no later failure can lose it.
4. `Budgeted`: refuses the call that would go beyond the budget; counts what the cache answers, too, so that an episode
   ends at the same place with and without a cache.
5. `FallingBack`: another model where this one cannot be reached; what follows is each model's own.
6. `Priced`: what an answer has cost, where it does not say so itself.
7. `Cached`: an answer that was paid for needs no network, no place and no retry.
8. `Retrying`: waits outside of the limits, so that a call that waits holds no place.
9. `Limited`: places and rates, each try by itself.
10. The provider, with the deadline of each try.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from quorum.agents.llm.budget import Budgeted, Spending, check_price
from quorum.agents.llm.cache import Cache, Cached
from quorum.agents.llm.fallback import Fallback, FallingBack
from quorum.agents.llm.limits import Limited, Limits
from quorum.agents.llm.prices import Price, Priced
from quorum.agents.llm.protocol import Model, Request
from quorum.agents.llm.recording import Keep, Recording, Sink
from quorum.agents.llm.retry import Retrying, RetryRules
from quorum.agents.llm.structured import Structuring
from quorum.agents.llm.under_way import UnderWay, Watched


@dataclass(frozen=True, slots=True)
class Caching:
    """How answers are cached.

    Attributes:
        cache: where they are kept.
        identity: what else than the request reaches the model; a provider's `identity`.
        sampled: whether answers drawn above temperature 0 are kept, too.
    """

    cache: Cache
    identity: Mapping[str, str]
    sampled: bool


def reached(
    model: Model,
    *,
    rng: random.Random,
    retry: RetryRules | None = None,
    limits: Limits | None = None,
    caching: Caching | None = None,
    price: Price | None = None,
) -> Model:
    """Put the wrappers around a model that say how it is reached, and what it costs.

    Args:
        model: a provider, the simulated model, or a replay.
        rng: randomness of the waits between tries.
        retry: bounds on tries and waiting.
        limits: shared limits.
        caching: where and what answers are kept.
        price: price of the model.
    """
    stack = model
    if limits is not None:
        stack = Limited(stack, limits)
    if retry is not None:
        stack = Retrying(stack, retry, rng)
    if caching is not None:
        stack = Cached(stack, caching.cache, caching.identity, sampled=caching.sampled)
    return Priced(stack, price) if price is not None else stack


def build_stack(
    model: Model,
    *,
    name: str,
    rng: random.Random,
    retry: RetryRules | None = None,
    limits: Limits | None = None,
    caching: Caching | None = None,
    spending: Spending | None = None,
    price: Price | None = None,
    priced: bool = False,
    fallbacks: Sequence[Fallback] = (),
    max_repairs: int,
    widens: Callable[[Request], bool] = lambda _: True,
    sink: Sink | None = None,
    keep: Keep = lambda _: None,
    under_way: UnderWay | None = None,
) -> Model:
    """Put the wrappers around a model; `Structuring` always, the others when they are named.

    Providers, `limits` and the cache are shared by a process; the stack, `spending` and `sink` are an episode's.

    Args:
        model: a provider, the simulated model, or a replay.
        name: the model's name, for messages.
        rng: randomness of the waits between tries.
        retry: bounds on tries and waiting.
        limits: shared limits.
        caching: where and what answers are kept.
        spending: the episode's budget and what is used of it.
        price: price of the model.
        priced: whether the model's replies carry money although `price` is None (the simulated model, litellm's map).
        fallbacks: what is asked where the model cannot be reached.
        max_repairs: how often an answer of a wrong form is asked for again.
        widens: whether an empty answer may be asked for again by a request with more room.
        sink: takes a record of every call.
        keep: takes the pictures of every call that is recorded.
        under_way: where calls can be seen while they are under way.

    Raises:
        quorum.agents.llm.errors.UnknownPrice: a budget of money, and no price.
    """
    stack = reached(model, rng=rng, retry=retry, limits=limits, caching=caching, price=price)
    if fallbacks:
        stack = FallingBack(stack, fallbacks)
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

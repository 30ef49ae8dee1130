"""Another model in the place of one that cannot be reached."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from quorum.agents.llm.errors import ContextOverflow, InfrastructureFailed
from quorum.agents.llm.protocol import Model, Reply, Request

_log = logging.getLogger(__name__)


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
        self._told: set[str] = set()

    async def complete(self, request: Request) -> Reply:
        """Answer a request; the answer of a fallback names it.

        Raises:
            InfrastructureFailed: none of them can be reached.
        """
        begin = time.perf_counter()
        try:
            return await self._model.complete(request)
        except InfrastructureFailed as error:
            failures = [error]
        for fallback in self._fallbacks:
            level = logging.INFO if fallback.name in self._told else logging.WARNING
            self._told.add(fallback.name)
            _log.log(
                level, "%s is asked in the place of a model that cannot be reached: %s", fallback.name, failures[-1]
            )
            try:
                reply = await fallback.model.complete(fallback.drawn(request))
            except InfrastructureFailed as error:
                failures.append(InfrastructureFailed(f"{fallback.name}: {error}", error.attempts))
            except ContextOverflow as error:
                failures.append(InfrastructureFailed(f"{fallback.name}: its context is too short: {error}", 1))
            else:
                tried = sum(failure.attempts for failure in failures)
                seconds = time.perf_counter() - begin
                return replace(reply, fallback=fallback.name, attempts=reply.attempts + tried, seconds=seconds)
        tried = sum(failure.attempts for failure in failures)
        raise InfrastructureFailed("; ".join(map(str, failures)), tried) from None

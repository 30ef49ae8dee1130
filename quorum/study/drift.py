"""Send the prompts of a recorded run to its service again, without writing anything."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import fsum
from pathlib import Path
from typing import Any

from maeil.errors import EpisodeStop
from quorum.agents.llm.embeddings import wants_embeddings
from quorum.agents.llm.errors import BudgetReached, LanguageModelError
from quorum.agents.llm.limits import RetryRules
from quorum.agents.llm.prices import BATCH
from quorum.agents.llm.protocol import Model, Reply, Request
from quorum.agents.llm.records import WALL, read_reply, request_key
from quorum.agents.llm.spending import Budget, Budgeted, Spending, check_price, dollars
from quorum.agents.llm.stack import with_access
from quorum.configuration.providers.config import ProviderConfig
from quorum.configuration.providers.replay import ReplayConfig
from quorum.configuration.schema import Configuration, validate
from quorum.episode.call_ledger import CALLS, RECORDED
from quorum.episode.model_pool import ModelPool, as_user_errors, model_hint
from quorum.episode.models import FIRST_WAIT, LONGEST_WAIT
from quorum.process.event_loop import run_coroutine
from quorum.runs.recorded_episode import require_run
from quorum.runs.recorded_prompt import calls_of, recorded_request
from quorum.runs.run_folder import RunFolder
from quorum.study.drift_verdict import Drift
from quorum_base.user_errors import UserError

SAMPLE = 20
"""Maximum number of prompts to repeat: those with the smallest digests, so that the choice is stable."""


@dataclass(frozen=True, slots=True)
class Recorded:
    """A recorded call whose prompt can be sent again.

    Attributes:
        request: the request.
        reply: the reply.
        config: configuration of the model that answered.
    """

    request: Request
    reply: Reply
    config: ProviderConfig


@dataclass(frozen=True, slots=True)
class Repetition:
    """The calls of a run to repeat.

    Attributes:
        run: its folder.
        calls: the calls to repeat, at most `SAMPLE`, each twice.
        recorded: number of repeatable calls with different prompts in the run.
    """

    run: Path
    calls: Sequence[Recorded]
    recorded: int

    @property
    def usd(self) -> float | None:
        """Expected cost: twice that of the recorded answers; None if a price is unknown."""
        money = [_usd(call) for call in self.calls]
        known = [usd for usd in money if usd is not None]
        return 2 * fsum(known) if len(known) == len(money) else None

    @property
    def expectation(self) -> str:
        """What will be sent where, with which key, and its expected cost."""
        places = dict.fromkeys(_place(call.config) for call in self.calls)
        tokens = 2 * sum(call.reply.usage.prompt + call.reply.usage.completion for call in self.calls)
        money = "unknown money (no price)" if self.usd is None else dollars(self.usd)
        amounts = f"{2 * len(self.calls)} answers, {tokens:,} tokens, {money}"
        return f"expected: about {amounts} (as recorded), from {'; '.join(places)}"


def _place(config: ProviderConfig) -> str:
    key = f" with the key in {config.key_variable}" if config.key_variable else ""
    where = f" at {config.address}" if config.address else ""
    return f"{config.label}{where}{key}"


def _usd(call: Recorded) -> float | None:
    """Return the cost of a single answer, outside a batch, at today's price; if that is unknown, its recorded cost."""
    tier = "" if call.reply.tier == BATCH else call.reply.tier
    price = call.config.price.of_tier(tier) if call.config.price is not None else None
    return call.reply.usd if price is None else price.usd(call.reply.usage)


def repetition(run: Path) -> Repetition:
    """Choose the calls of a run to repeat.

    Raises:
        UserError: the run cannot be read, or no service answered in it.
    """
    require_run(run)
    configuration = validate(RunFolder(run).configuration(), recorded=True)
    found: dict[str, Recorded] = {}
    replayed = ""
    for call in list(calls_of(run)):  # read to the end first, which shows whether the file is complete
        config = configuration.llm_of(str(call.get("agent", "")), str(call.get("role", "")))
        if isinstance(config, ReplayConfig):
            replayed = config.run
        elif isinstance(config, ProviderConfig) and _is_own(call):
            recorded = _recorded(run, call, config, configuration)
            if recorded is not None:
                found.setdefault(str(call["key"]), recorded)
    if replayed and not found:
        hint = f"Check the original run: quorum check --drift {replayed}."
        raise UserError(f"{run}: its answers are replayed, so no service gave them", hint)
    if not found:
        hint = f"Give a run whose minds asked a language model: it has answers in {CALLS}."
        raise UserError(f"{run}: no service answered in this run", hint)
    return Repetition(run, [found[key] for key in sorted(found)[:SAMPLE]], len(found))


def _is_own(call: Mapping[str, Any]) -> bool:
    """Whether the configured model answered a call in this run itself."""
    reply = call.get("reply")
    if not isinstance(reply, Mapping):
        return False
    wall = reply.get(WALL)
    return not reply.get("fallback") and not (isinstance(wall, Mapping) and wall.get(RECORDED))


def _recorded(
    run: Path, call: Mapping[str, Any], config: ProviderConfig, configuration: Configuration
) -> Recorded | None:
    """Return a recorded call; None for one that requested embeddings, which have no text."""
    try:
        request = recorded_request(run, call, in_words=configuration.prompts.get("form") == "words")
        reply = read_reply(call["reply"])
        if request_key(request) != call["key"]:
            raise ValueError("a request does not match its key")
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise UserError(f"{run / CALLS} is damaged: {error}") from error
    return None if wants_embeddings(request) else Recorded(request, reply, config)


def ask_again(wanted: Repetition, budget: Budget) -> Drift:
    """Send each prompt twice, without a cache.

    Args:
        wanted: the calls to repeat.
        budget: the budget.

    Raises:
        UserError: the service cannot be called, or the budget is too small.
    """
    calls = 2 * len(wanted.calls)
    if budget.calls is not None and budget.calls < calls:
        raise UserError(f"--budget-calls {budget.calls}: this needs {calls} calls")
    if budget.usd is not None and wanted.usd is not None and budget.usd < wanted.usd:
        raise UserError(f"--budget-usd {budget.usd:g}: this needs about {dollars(wanted.usd)}")
    now = run_coroutine(_asked(wanted, Spending(budget)))
    answers = [(call.reply, *pair) for call, pair in zip(wanted.calls, now, strict=True)]
    return Drift(str(wanted.run), wanted.recorded, [call.request for call in wanted.calls], answers)


async def _asked(wanted: Repetition, spending: Spending) -> list[tuple[Reply, Reply]]:
    async with ModelPool() as pool:
        first, *others = wanted.calls
        answers = [await _twice(pool, first, spending)]  # alone, so that a wrong key or address fails once
        for answer in await asyncio.gather(*(_twice(pool, call, spending) for call in others), return_exceptions=True):
            if isinstance(answer, BaseException):
                raise answer
            answers.append(answer)
        return answers


def _model(pool: ModelPool, config: ProviderConfig, spending: Spending) -> Model:
    """Return a model with its limits, retries and price, within the budget."""
    client = pool.client(config)
    price = config.price or client.model.price
    with as_user_errors(config):
        check_price(spending.budget, config.label, config.priced or price is not None)
    retry = RetryRules(config.tries, config.rate_limited_tries, config.max_wait, FIRST_WAIT, LONGEST_WAIT)
    limits = pool.limits(client)
    reached = with_access(
        pool.model(client), rng=random.Random(0), retry=retry, patient=pool.patient, limits=limits, price=price
    )
    return Budgeted(reached, spending, price)


async def _twice(pool: ModelPool, call: Recorded, spending: Spending) -> tuple[Reply, Reply]:
    model = _model(pool, call.config, spending)
    try:
        return await model.complete(call.request), await model.complete(call.request)
    except BudgetReached as error:
        raise UserError(f"the budget ran out before all prompts were sent: {error}") from error
    except (LanguageModelError, EpisodeStop) as error:
        raise UserError(f"{call.config.label}: {error}", model_hint(error.__cause__ or error, call.config)) from error

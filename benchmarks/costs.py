"""What a sweep costs at the prices of today's models: at full price, with cached prefixes, with flex, in batches.

quorum sweep experiment=topologies --name topologies            # minutes: the calls, answered by the simulated model
python benchmarks/costs.py runs/topologies                     # the table, from these calls; minutes
python benchmarks/costs.py runs/topologies --json              # its figures

Tokens are those of the recorded calls. A simulated model's tokens are characters / 4, of the messages without the
answer schema, and it writes fewer than a real model, which may also think. The script builds requests as for the
provider, with its breakpoints. They go to the prompt cache that the loopback server simulates, one after the other in
the order of the runs, as if each came before the provider drops the cached prefix (5 minutes with Anthropic, 30 with
OpenAI). Batches are computed without cached prefixes, which no provider promises there.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from quorum.agents.llm.prices import BATCH, FLEX, find_price
from quorum.agents.llm.protocol import AnswerFormat, ChatMessage, ChatRole, Request, Sampling, Usage
from quorum.agents.llm.providers.anthropic import AnthropicModel
from quorum.agents.llm.providers.base import Provider
from quorum.agents.llm.providers.openai import OpenAIModel
from quorum.agents.llm.recording import unfolded
from quorum.agents.prompting.marks import marks
from quorum.runs.results_folder import read_results
from quorum_base.user_errors import UserError
from tests.loopback.prompt_caches import PromptCaches, read_prompt, unsent

MODELS: Mapping[str, tuple[type[Provider], str, tuple[str, ...]]] = {
    "openai": (OpenAIModel, "https://api.openai.com/v1", ("gpt-6-sol", "gpt-6-luna")),
    "anthropic": (AnthropicModel, "https://api.anthropic.com", ("claude-sonnet-5", "claude-haiku-4-5")),
}
"""The models by provider: the client that builds their requests, the address, their names."""


@dataclass(frozen=True, slots=True)
class Cost:
    """The cost of all calls with one model, in US dollars.

    Attributes:
        model: its name.
        full: the usual price, nothing cached.
        cached: the usual price, with repeated prefixes read from the provider's cache.
        flex: with `llm.service_tier=flex`, nothing cached; None if the model has no such tier.
        flex_cached: the same with cached prefixes.
        batch: in batches, nothing cached; None if there are none.
        read: share of the prompt tokens that is read from the cache.
        written: share of them that is written to it.
        priced: date of the prices.
    """

    model: str
    full: float
    cached: float
    flex: float | None
    flex_cached: float | None
    batch: float | None
    read: float
    written: float
    priced: str


def recorded(folder: Path) -> Iterator[tuple[Request, Usage]]:
    """Return the calls of all runs of a folder, with the marks that their prompts had, and the tokens of their answers.

    Raises:
        UserError: there is no such folder.
    """
    for row in read_results(folder).rows:
        calls = folder / row.name / "calls.jsonl"
        if not calls.is_file():
            continue
        with calls.open("rb") as lines:
            for call in unfolded(lines):
                if (reply := call.get("reply")) is not None:
                    yield _request(call["request"]), Usage(reply["usage"]["prompt"], reply["usage"]["completion"])


def _request(recorded: Mapping[str, Any]) -> Request:
    messages = tuple(
        ChatMessage(ChatRole(m["role"]), m["content"], marks(m["content"]) if m["role"] == ChatRole.USER else ())
        for m in recorded["messages"]
    )
    answer = AnswerFormat(recorded["answer"]["name"], recorded["answer"]["schema"]) if recorded["answer"] else None
    return Request(messages, answer, Sampling(None, recorded["sampling"]["max_tokens"]))


async def costs(folder: Path) -> list[Cost]:
    """Compute the cost of the calls of a folder with each model.

    Raises:
        UserError: there is no such folder, or it has no calls.
    """
    whole, calls = Usage(0, 0), 0
    used: dict[tuple[str, str], Usage] = {}
    caches = {model: PromptCaches() for _, _, names in MODELS.values() for model in names}
    clients = {
        name: client(models[0], base_url=address, key_variable=None)
        for name, (client, address, models) in MODELS.items()
    }
    for request, usage in recorded(folder):
        whole, calls = _sum(whole, usage), calls + 1
        for name, client in clients.items():
            body = await unsent(client, request)
            for model in MODELS[name][2]:
                prompt = read_prompt(name, {**body, "model": model})
                assert prompt is not None
                looked = caches[model].look(prompt)
                caches[model].keep(looked)
                used[name, model] = _sum(used.get((name, model), Usage(0, 0)), looked.usage(usage))
    for client in clients.values():
        await client.close()
    if not used:
        raise UserError(f"{folder}: its runs have no calls", "Give a sweep whose minds ask a language model.")
    return [_cost(provider, model, whole, usage, calls) for (provider, model), usage in used.items()]


def _sum(one: Usage, other: Usage) -> Usage:
    return replace(
        one,
        prompt=one.prompt + other.prompt,
        completion=one.completion + other.completion,
        cached=one.cached + other.cached,
        cache_written=one.cache_written + other.cache_written,
    )


def _cost(provider: str, model: str, whole: Usage, used: Usage, calls: int) -> Cost:
    price = find_price(provider, model)
    assert price is not None, model
    flex, batch = price.of_tier(FLEX), price.of_tier(BATCH)
    return Cost(
        model=model,
        full=price.usd(whole, calls),
        cached=price.usd(used, calls),
        flex=None if flex is None else flex.usd(whole, calls),
        flex_cached=None if flex is None else flex.usd(used, calls),
        batch=None if batch is None else batch.usd(whole, calls),
        read=used.cached / used.prompt,
        written=used.cache_written / used.prompt,
        priced=price.date,
    )


def table(found: Sequence[Cost]) -> Iterator[str]:
    """Write the costs as Markdown."""
    yield "| model | full price | cached prefixes | read from the cache | flex | flex, cached | batch |"
    yield "|---|---|---|---|---|---|---|"
    for cost in found:
        money = (cost.flex, cost.flex_cached, cost.batch)
        recorded = " | ".join("-" if usd is None else _part(usd, cost.full) for usd in money)
        cached = _part(cost.cached, cost.full)
        yield f"| `{cost.model}` | {cost.full:.2f} | {cached} | {cost.read:.0%} | {recorded} |"


def _part(usd: float, full: float) -> str:
    return f"{usd:.2f} ({usd / full:.0%})"


def main(arguments: Sequence[str] | None = None) -> int:
    """Compute and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="folder of a sweep, or of any runs")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    chosen = parser.parse_args(arguments)
    try:
        found = asyncio.run(costs(chosen.folder))
    except UserError as error:
        print(f"{error}\n{error.hint}".rstrip(), file=sys.stderr)
        return 2
    if chosen.json:
        print(json.dumps([asdict(cost) for cost in found], indent=2))
    else:
        print("\n".join(table(found)))
        print(f"\nUS dollars, at the prices of {found[0].priced}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

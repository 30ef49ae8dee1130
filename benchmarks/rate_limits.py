"""What random rate limits cost a sweep: 1,000 calls over real HTTP, with and without 429s for 30 % of the requests.

Sixty-four agents ask one after the other, as those of a sweep do, or all calls wait for their places from the
beginning. The server runs in a separate process; an answer takes two seconds there, a 429 none, and no 429 says when
to come back. CallLimits and waits are those of `llm=openai`.

python benchmarks/rate_limits.py
"""

from __future__ import annotations

import asyncio
import multiprocessing
import random
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection

from rich.console import Console
from rich.table import Table

from quorum.agents.llm.limits import CallLimits, RetryRules
from quorum.agents.llm.protocol import ChatMessage, ChatRole, Finish, Reply, Request, Sampling, Usage
from quorum.agents.llm.providers.openai import OpenAIModel
from quorum.agents.llm.stack import build_stack, with_access
from quorum.experiments.episode.models import FIRST_WAIT, LONGEST_WAIT
from quorum.experiments.serving.app import FAILURES, App, run

CALLS, PLACES, LATENCY, SHARE = 1000, 64, 2.0, 0.3
RULES = RetryRules(6, 20, 300.0, FIRST_WAIT, LONGEST_WAIT)
ASKED = Request((ChatMessage(ChatRole.USER, "Hello"),), None, Sampling(None, 64))


class Slow:
    """Answers after a while; a rate limit does not take that long."""

    async def complete(self, request: Request) -> Reply:
        """Answer."""
        await asyncio.sleep(LATENCY)
        return Reply("Hello.", Finish.STOP, Usage(10, 2), None, 0.0, "simulated", simulated=True)


def serve(share: float, ready: Connection) -> None:
    """Serve in this process; the address goes through the pipe."""
    draws = random.Random(0)
    app = App(Slow(), failing=lambda _: FAILURES["rate_limit"] if draws.random() < share else None)
    run(app, ready=lambda addresses: ready.send(addresses.openai))


@contextmanager
def server(share: float) -> Iterator[str]:
    """Run the server in a separate process; gives its address."""
    spawn = multiprocessing.get_context("spawn")
    here, there = spawn.Pipe()
    process = spawn.Process(target=serve, args=(share, there), daemon=True)
    process.start()
    try:
        yield here.recv()
    finally:
        process.kill()
        process.join()


async def campaign(address: str, agents: int) -> tuple[float, CallLimits]:
    """Return the seconds that agents take for all calls, and the limits as they are left."""
    limits, left = CallLimits(PLACES), iter(range(CALLS))
    async with OpenAIModel("simulated", base_url=address, key_variable=None) as provider:

        async def agent(number: int) -> None:
            rng = random.Random(number)
            model = build_stack(
                with_access(provider, rng=rng, retry=RULES, limits=limits), name="simulated", max_repairs=0
            )
            for _ in left:
                await model.complete(ASKED)

        begin = time.perf_counter()
        await asyncio.gather(*(agent(number) for number in range(agents)))
        return time.perf_counter() - begin, limits


def main() -> int:
    """Measure and print."""
    table = Table("agents", "429s", "seconds", "places at the end", "throughput")
    for agents in (PLACES, CALLS):
        usual = 0.0
        for share in (0.0, SHARE):
            with server(share) as address:
                seconds, limits = asyncio.run(campaign(address, agents))
            usual = usual or seconds
            table.add_row(
                str(agents),
                str(limits.rate_limited),
                f"{seconds:.1f}",
                str(limits.concurrency.places),
                f"{usual / seconds:.0%}",
            )
    Console().print(f"{CALLS} calls, {PLACES} places, {LATENCY:g} s an answer, {SHARE:.0%} rate limits")
    Console().print(table)
    return 0


if __name__ == "__main__":
    sys.exit(main())

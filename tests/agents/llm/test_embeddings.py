"""Embeddings: asked for by the protocol of models, over real HTTP, with the errors and the books of any call."""

from __future__ import annotations

import asyncio
import json
import urllib.error
import urllib.request
from typing import Any

import orjson
import pytest

from quorum.agents.llm.embeddings import EMBEDDINGS, texts_to_embed
from quorum.agents.llm.errors import BadRequest, BudgetReached, InfrastructureFailed
from quorum.agents.llm.prices import Price
from quorum.agents.llm.protocol import Finish, Origin, Reply, Request, Sampling, Usage
from quorum.agents.llm.replay import Replay
from quorum.agents.llm.spending import Budget, Spending
from quorum.agents.simulated.model import SimulatedModel
from quorum.methods.dytopo.descriptors import EMBEDDING, Descriptor, Need, Offer
from quorum.methods.dytopo.matchers import match_embeddings
from quorum.more_providers.batches.waves import Batched
from tests.agents.llm.wire import Brain, provider, stack
from tests.agents.naive_team import settings
from tests.conftest import PATIENCE
from tests.loopback import Fault, FaultKind, serve

TEXTS = ("I can push block_3.", "block_3 takes 2 more.")
TOKENS = 10


def asked(*texts: str) -> Request:
    return Request(texts_to_embed(texts), EMBEDDINGS, Sampling(0.7, 100), origin=Origin("agent_0", 3, EMBEDDING))


async def embed(brain: Any = None, faults: Any = (), wire: str = "openai", **arguments: Any) -> Reply:
    async with provider(wire, brain or SimulatedModel(settings()), faults) as model:
        return await stack(model, **arguments).complete(asked(*TEXTS))


def vectors(*found: list[float]) -> Brain:
    return Brain([Reply(orjson.dumps({"embeddings": found}).decode(), Finish.STOP, Usage(5, 0), None, 0, "x")])


async def test_a_server_gives_one_embedding_for_each_text_and_no_token_is_written() -> None:
    reply = await embed()
    one, other = reply.value["embeddings"]
    assert len(one) == len(other) == 64
    assert one != other
    assert sum(number * number for number in one) == pytest.approx(1, abs=1e-4)
    assert reply.usage == Usage(TOKENS, 0)
    assert reply.simulated


async def test_the_simulated_model_gives_the_same_over_the_wire_and_without_it() -> None:
    inside = await stack(SimulatedModel(settings())).complete(asked(*TEXTS))
    assert (await embed()).value == inside.value
    assert inside.simulated


@pytest.mark.parametrize("found", [([0.1, 0.2],), ([0.1], [0.1, 0.2]), ([], [])], ids=("too few", "uneven", "empty"))
async def test_a_success_without_an_embedding_for_each_text_is_tried_again_and_then_the_end(found: Any) -> None:
    with pytest.raises(InfrastructureFailed, match="embeddings for 2 texts"):
        await embed(vectors(*found))


async def test_faults_of_a_server_are_tried_again_like_those_of_any_call() -> None:
    faults = [Fault(FaultKind.RATE_LIMIT), Fault(FaultKind.SERVER_ERROR), Fault(FaultKind.NO_CHOICES)]
    reply = await embed(faults=faults)
    assert reply.attempts == 4
    assert len(reply.value["embeddings"]) == 2


async def test_a_provider_without_embeddings_says_what_to_set() -> None:
    with pytest.raises(
        BadRequest, match=r"anthropic offers no embeddings here: .* set llm\.roles\.embedding\.name=openai"
    ):
        await embed(wire="anthropic")


async def test_embeddings_are_paid_for_out_of_the_budget() -> None:
    spending = Spending(Budget(calls=1, usd=1.0))
    price = Price(input=1e6, output=1e6, cached=1e6, cache_write=1e6, source="test", date="")
    with pytest.raises(BudgetReached):
        await embed(spending=spending, price=price)  # at a dollar a token
    assert spending.calls == 0
    spending = Spending(Budget(calls=1))
    async with provider("openai", SimulatedModel(settings())) as model:
        paid = stack(model, spending=spending)
        await paid.complete(asked(*TEXTS))
        with pytest.raises(BudgetReached):
            await paid.complete(asked(*TEXTS))
    assert spending.tokens == TOKENS


async def test_a_recorded_embedding_is_replayed_without_a_server() -> None:
    records: list[Any] = []
    reply = await embed(sink=records.append)
    assert records[0]["role"] == EMBEDDING
    again = await stack(Replay(records)).complete(asked(*TEXTS))
    assert again.value == reply.value


async def test_embeddings_never_go_out_in_a_batch() -> None:
    async with provider("openai", SimulatedModel(settings())) as model:
        batched = Batched(model, None, "cell", None)  # type: ignore[arg-type] # nothing is put into its line
        assert len((await stack(batched).complete(asked(*TEXTS))).value["embeddings"]) == 2


@pytest.mark.parametrize(
    "body",
    [
        {"input": "x"},
        {"model": "simulated"},
        {"model": "simulated", "input": []},
        {"model": "simulated", "input": [""]},
        {"model": "simulated", "input": [3]},
        {"model": "simulated", "input": "x", "encoding_format": "base64"},
    ],
    ids=range(6),
)
async def test_what_the_server_does_not_embed_is_a_400_that_says_why(body: Any) -> None:
    async with serve(SimulatedModel(settings())) as addresses:
        sent = urllib.request.Request(
            f"{addresses.openai}/embeddings", json.dumps(body).encode(), {"content-type": "application/json"}
        )
        with pytest.raises(urllib.error.HTTPError) as error:
            await asyncio.to_thread(urllib.request.urlopen, sent, timeout=PATIENCE)
        with error.value:
            assert error.value.code == 400
            assert json.load(error.value)["error"]["message"].split(":")[0] in ("model", "input", "encoding_format")


@pytest.mark.parametrize(
    ("needed", "offered", "score"),
    [((1, 0), (2, 0), 1), ((1, 0), (0, 1), 0), ((1, 0), (-1, 0), 0), ((3, 4), (4, 3), 0.96), ((), (1, 0), 0)],
)
def test_embeddings_are_matched_by_their_cosine(needed: Any, offered: Any, score: float) -> None:
    one, other = Descriptor(Offer(""), Need(""), needed=needed), Descriptor(Offer(""), Need(""), offered=offered)
    assert match_embeddings([one, other])[0][1] == pytest.approx(score)

"""Replies without end, bombs, redirects and silences: what a provider's server cannot do to us, by every client."""

from __future__ import annotations

import asyncio
import gzip
import socket
import ssl
import time
import tracemalloc
import zlib
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import anthropic
import openai
import pytest

from quorum.agents.llm.errors import BadRequest, BrokenResponse, TimedOut
from quorum.agents.llm.providers.bounded import Bounds, bounded_client
from tests.agents.llm.raw import Answer, RawServer, Respond, answer, completion, raw_server
from tests.agents.llm.wire import SDKS, THROUGH_LITELLM, WIRES, Brain, client, provider, request
from tests.conftest import PATIENCE
from tests.loopback import Addresses

KIB, MIB = 2**10, 2**20
SMALL = Bounds(max_bytes=256 * KIB)
SOON = PATIENCE
"""Seconds: far below what goes wrong without the rule, far above what a busy machine takes to import a client."""
LEAST = 40 * MIB
"""Bytes: more than what a bounded reply needs, far less than what is sent or packed here."""


@contextmanager
def little_memory() -> Iterator[None]:
    """Fail when much more memory is taken than a bounded reply needs."""
    tracemalloc.start()
    try:
        yield
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < LEAST


@asynccontextmanager
async def asked(wire: str, respond: Respond | Answer, **arguments: Any) -> AsyncIterator[tuple[Any, RawServer]]:
    arguments = {"bounds": SMALL, "deadline": 20.0, **arguments}
    async with raw_server(respond) as (addresses, server), client(wire, addresses, **arguments) as model:
        yield model, server


@pytest.mark.parametrize("status", [200, 400, 503])
@pytest.mark.parametrize("wire", WIRES)
async def test_a_reply_without_an_end_is_left_at_the_bound(wire: str, status: int) -> None:
    async def endless(_body: dict[str, Any], writer: asyncio.StreamWriter) -> None:
        writer.write(f"HTTP/1.1 {status} X\r\ncontent-type: application/json\r\n\r\n".encode())
        for _ in range(20_000):  # 1.3 GB
            writer.write(b" " * 64 * KIB)
            await writer.drain()

    async with asked(wire, endless) as (model, _):
        with little_memory(), pytest.raises(BrokenResponse, match=r"more than 262144 bytes \(llm.max_reply_bytes\)"):
            await model.complete(request())


@pytest.fixture(scope="module")
def bomb() -> bytes:
    packer = zlib.compressobj(9, zlib.DEFLATED, zlib.MAX_WBITS | 16)
    zeros = bytes(MIB)
    return b"".join(packer.compress(zeros) for _ in range(200)) + packer.flush()


@pytest.mark.parametrize("wire", WIRES)
async def test_a_bomb_is_left_while_it_is_unpacked(wire: str, bomb: bytes) -> None:
    assert len(bomb) < SMALL.max_bytes
    async with asked(wire, (200, {"content-encoding": "gzip"}, bomb)) as (model, _):
        with little_memory(), pytest.raises(BrokenResponse, match="more than 262144 bytes"):
            await model.complete(request())


@pytest.mark.parametrize("packing", ["gzip, gzip", "deflate", "br", "zstd"])
async def test_a_packing_that_was_not_asked_for_is_not_unpacked(packing: str, bomb: bytes) -> None:
    async with asked("openai", (200, {"content-encoding": packing}, gzip.compress(bomb))) as (model, _):
        with little_memory(), pytest.raises(BrokenResponse, match="a compression that Quorum did not request"):
            await model.complete(request())


@pytest.mark.parametrize("wire", ["openai", *THROUGH_LITELLM[:1]])
async def test_a_packed_reply_is_unpacked(wire: str) -> None:
    packed = gzip.compress(answer(completion())[2])
    said = (200, {"content-type": "application/json", "content-encoding": "gzip"}, packed)
    async with asked(wire, said) as (model, _):
        assert (await model.complete(request(free=True))).text == "Hello."
    for torn in (packed[:-12], b"x" + packed):
        async with asked(wire, (*said[:2], torn)) as (model, _):
            with pytest.raises(BrokenResponse):
                await model.complete(request(free=True))


@pytest.mark.parametrize("status", [301, 302, 307, 308])
@pytest.mark.parametrize("wire", WIRES)
async def test_a_redirect_to_another_server_gets_no_prompt(wire: str, status: int) -> None:
    async with (
        raw_server(answer({})) as (elsewhere, other),
        asked(wire, (status, {"location": f"{elsewhere.openai}/secret-token"}, b"")) as (model, _),
    ):
        with pytest.raises(
            BadRequest, match=r"redirects to http://127.0.0.1:\d+: Quorum sends prompts only to llm\.base_url"
        ) as caught:
            await model.complete(request())
    assert other.asked == []
    assert "secret-token" not in str(caught.value)


async def test_a_redirect_on_the_same_server_is_followed() -> None:
    async def moved(body: dict[str, Any], _writer: asyncio.StreamWriter) -> Answer:
        first = len(server.asked) == 1
        return (307, {"location": "/v2/chat/completions"}, b"") if first else answer(completion())

    async with raw_server(moved) as (addresses, server), client("openai", addresses) as model:
        assert (await model.complete(request(free=True))).text == "Hello."
    assert server.asked[0] == server.asked[1]
    assert server.paths[1].startswith("post /v2/chat/completions ")


@pytest.mark.parametrize("wire", WIRES)
async def test_a_server_that_says_nothing_is_left_long_before_the_deadline(wire: str) -> None:
    async def silent(_body: dict[str, Any], _writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(600)

    begin = time.perf_counter()
    async with asked(wire, silent, bounds=Bounds(first_byte=0.2), deadline=600.0) as (model, _):
        with pytest.raises(TimedOut, match=r"no first byte within 0.2 s \(llm.first_byte_timeout\)"):
            await model.complete(request())
    assert time.perf_counter() - begin < SOON


async def test_an_answer_that_has_started_may_take_its_time() -> None:
    async with provider("openai", Brain(), bounds=Bounds(first_byte=5.0), latency=0.3, deadline=20.0) as model:
        assert (await model.complete(request())).text


# litellm's way to Anthropic tries to connect again by itself
@pytest.mark.parametrize("wire", [*SDKS, *THROUGH_LITELLM[:1]])
async def test_a_server_that_takes_no_connection_is_left_at_the_connect_time_out(wire: str) -> None:
    with socket.socket() as full, socket.socket() as waits:
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        waits.connect(full.getsockname())  # the only place of the queue: who comes now gets no answer at all
        root = f"http://127.0.0.1:{full.getsockname()[1]}"
        async with client(wire, Addresses(f"{root}/v1", root), bounds=Bounds(connect=0.2), deadline=600.0) as model:
            begin = time.perf_counter()
            with pytest.raises(TimedOut) as caught:
                await model.complete(request())
            assert time.perf_counter() - begin < SOON
    if "litellm" not in wire:  # which names no time-out
        assert "no connection within 0.2 s (llm.connect_timeout)" in str(caught.value)


@pytest.mark.parametrize("sdk", [openai, anthropic], ids=lambda sdk: sdk.__name__)
def test_clients_share_the_certificates_that_the_environment_names(
    sdk: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def trusted() -> ssl.SSLContext:
        made = bounded_client(sdk.DefaultAioHttpClient, Bounds())
        context: ssl.SSLContext = made._transport._transport.ssl_context
        return context

    usual = trusted()
    assert trusted() is usual
    (tmp_path / "one.pem").write_text(ssl.DER_cert_to_PEM_cert(usual.get_ca_certs(binary_form=True)[0]))
    with monkeypatch.context() as changed:
        changed.setenv("SSL_CERT_FILE", str(tmp_path / "one.pem"))
        assert len(trusted().get_ca_certs()) == 1
    assert trusted() is usual

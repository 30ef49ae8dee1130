"""The way to a server: where there is none, one sentence names the address, the variable or the certificate."""

from __future__ import annotations

import asyncio
import random
import socket
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from quorum.agents.llm.errors import ConnectionLost, InfrastructureFailed, LanguageModelError, Unreachable
from quorum.agents.llm.limits import Retrying, RetryRules
from tests.agents.llm.raw import RawServer, answer, completion, raw_server
from tests.agents.llm.test_refusals_in_words import REFUSED_ANSWERS
from tests.agents.llm.wire import SDKS, Brain, Sleeper, client, provider, request
from tests.loopback import Addresses, serve

SELF_SIGNED = Path(__file__).with_name("self_signed.pem")
"""A certificate of 127.0.0.1 and its key, which nothing else uses."""
PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY")


@pytest.fixture(autouse=True)
def _no_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (*PROXIES, "SSL_CERT_FILE", "SSL_CERT_DIR"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)


@pytest.fixture
def closed() -> str:
    """Host and port where nothing listens."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return f"127.0.0.1:{taken.getsockname()[1]}"


def _at(root: str) -> Addresses:
    return Addresses(openai=f"{root}/v1", anthropic=root)


async def _fault(wire: str, root: str) -> Unreachable:
    """Ask, and return why there is no way to the server."""
    with pytest.raises(LanguageModelError) as caught:
        async with client(wire, _at(root)) as model:
            await model.complete(request())
    assert type(caught.value) is Unreachable
    return caught.value


@pytest.mark.parametrize("wire", SDKS)
async def test_a_server_that_is_not_there_is_named_with_its_address(wire: str, closed: str) -> None:
    fault = await _fault(wire, f"http://{closed}")
    assert str(fault) == f"no connection to {closed}: the connection was refused"


@pytest.mark.parametrize("wire", SDKS)
async def test_a_host_that_does_not_exist_is_named(wire: str) -> None:
    assert "no connection to model.invalid:80" in str(await _fault(wire, "http://model.invalid"))


@pytest.mark.filterwarnings("ignore:BasicAuth is deprecated")  # of aiohttp, about what OpenAI's SDK does
@pytest.mark.filterwarnings("ignore:The 'proxy_auth' parameter is deprecated")  # the same
@pytest.mark.parametrize("variable", ["HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"])
@pytest.mark.parametrize("wire", SDKS)
async def test_a_dead_proxy_is_named_by_its_variable(
    wire: str, variable: str, closed: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, f"http://ada:secret@{closed}")
    fault = await _fault(wire, "http://model.example")
    assert str(fault) == f"no connection to the proxy {closed} ({variable}): the connection was refused"
    assert "NO_PROXY=model.example" in fault.remedy
    assert "secret" not in f"{fault} {fault.remedy}"


@pytest.mark.parametrize("wire", SDKS)
async def test_a_dead_proxy_of_https_is_named(wire: str, closed: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTPS_PROXY", closed)
    assert f"the proxy {closed} (HTTPS_PROXY)" in str(await _fault(wire, "https://model.example"))


async def test_a_proxy_that_refuses_the_server_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    async with raw_server(answer({}, 403)) as (addresses, _):
        monkeypatch.setenv("HTTPS_PROXY", addresses.anthropic)
        fault = await _fault("openai", "https://model.example")
    assert "(HTTPS_PROXY) refuses model.example:443: 403" in str(fault)


@pytest.mark.parametrize("scheme", ["socks", "socks4", "socks5", "socks5h"])
@pytest.mark.parametrize("wire", SDKS)
async def test_a_socks_proxy_is_named_before_anything_is_sent(
    wire: str, scheme: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ALL_PROXY", f"{scheme}://127.0.0.1:1080")
    fault = await _fault(wire, "http://model.example")
    assert "ALL_PROXY names a SOCKS proxy" in str(fault)


GOOD = {**REFUSED_ANSWERS, "openai": completion()}


@pytest.mark.parametrize("wire", SDKS)
async def test_a_proxy_is_asked_unless_no_proxy_names_the_host(wire: str, monkeypatch: pytest.MonkeyPatch) -> None:
    async with raw_server(answer(GOOD[wire])) as (addresses, server):
        monkeypatch.setenv("HTTP_PROXY", addresses.anthropic)
        async with client(wire, _at("http://model.example")) as model:
            await model.complete(request(free=True))
            assert await model.reach() is None
        assert [path.split()[1].startswith("http://model.example/") for path in server.paths] == [True]
        monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
        monkeypatch.setenv("ALL_PROXY", "socks://127.0.0.1:9")
        monkeypatch.setenv("NO_PROXY", "localhost,127.0.0.1")
        async with client(wire, addresses) as model:
            await model.complete(request(free=True))


@pytest.mark.parametrize("holds", [None, "nothing"])
@pytest.mark.parametrize("wire", SDKS)
async def test_a_stale_file_of_certificates_is_named_by_its_variable(
    wire: str, holds: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "old.pem"
    if holds is not None:
        file.write_text(holds)
    monkeypatch.setenv("SSL_CERT_FILE", str(file))
    fault = await _fault(wire, "http://127.0.0.1:9")
    assert str(fault).startswith(f"SSL_CERT_FILE names {file}, which ")
    assert "SSL_CERT_FILE" in fault.remedy


@asynccontextmanager
async def _secured() -> AsyncIterator[str]:
    """Serve by TLS with a certificate that nobody has signed."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(SELF_SIGNED)

    async def respond(_body: object, _writer: object) -> object:
        return answer(completion())

    made = RawServer(respond)  # type: ignore[arg-type]
    server = await asyncio.start_server(made.serve, "127.0.0.1", 0, ssl=context)
    try:
        yield f"https://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    finally:
        server.close()
        await made.stop()


@pytest.mark.parametrize("wire", SDKS)
async def test_a_certificate_that_is_not_trusted_is_named_with_the_way_out(wire: str) -> None:
    async with _secured() as root:
        fault = await _fault(wire, root)
    assert f"the certificate of {root.removeprefix('https://')} is not trusted: self-signed certificate" in str(fault)
    assert "SSL_CERT_FILE=FILE" in fault.remedy


async def test_a_certificate_that_a_variable_names_is_trusted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(SELF_SIGNED))
    async with _secured() as root, client("openai", _at(root)) as model:
        assert (await model.complete(request(free=True))).text == "Hello."


@pytest.mark.parametrize("wire", SDKS)
async def test_a_server_without_tls_is_told_from_one_that_is_not_there(wire: str) -> None:
    async with serve(Brain()) as addresses:
        fault = await _fault(wire, addresses.anthropic.replace("http:", "https:"))
    assert "does not answer over TLS" in str(fault)


@pytest.mark.parametrize("wire", SDKS)
async def test_to_connect_sends_nothing(wire: str) -> None:
    brain = Brain()
    async with provider(wire, brain) as model:
        assert await model.reach() is None
    assert brain.asked == []


async def test_a_server_that_has_answered_and_is_gone_is_waited_for() -> None:
    async with raw_server(answer(completion())) as (addresses, _), client("openai", addresses) as model:
        await model.complete(request(free=True))
        addresses_gone = addresses
    async with client("openai", addresses_gone) as fresh:
        fresh._answered = True
        with pytest.raises(ConnectionLost) as caught:
            await fresh.complete(request(free=True))
    assert type(caught.value) is ConnectionLost


RULES = RetryRules(max_tries=3, max_rate_limited=5, max_wait=100.0, first_wait=1.0, longest_wait=8.0)


async def test_a_command_does_not_wait_for_a_server_that_was_never_there_and_a_worker_does() -> None:
    gone = Unreachable("no connection to 127.0.0.1:9: the connection was refused")
    sleeper, brain = Sleeper(), Brain([gone])
    with pytest.raises(Unreachable):
        await Retrying(brain, RULES, random.Random(0), sleep=sleeper.sleep, patient=False).complete(request())
    assert (len(brain.asked), sleeper.waits) == (1, [])
    with pytest.raises(InfrastructureFailed):
        await Retrying(brain, RULES, random.Random(0), sleep=sleeper.sleep).complete(request())
    assert len(brain.asked) == 1 + RULES.max_tries

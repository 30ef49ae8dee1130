"""What the loopback server makes of requests that no client of a model sends: slow, endless, foreign, absurd."""

from __future__ import annotations

import asyncio
import json
import tracemalloc
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from quorum.agents.prompting.instances import LARGEST, minimal_instance
from quorum.agents.simulated import SimulatedSettings
from quorum.agents.simulated.model import SimulatedModel
from tests.agents.llm.wire import Brain
from tests.conftest import PATIENCE
from tests.loopback import BodyBounds, serve

CHAT: dict[str, Any] = {"model": "simulated", "messages": [{"role": "user", "content": "Hello"}]}
SIMULATED = SimulatedModel(SimulatedSettings(**{**dict.fromkeys(SimulatedSettings.model_fields, 0), "seed": 0}))
SMALL = BodyBounds(bytes=10_000, seconds=0.3)


async def converse(address: str, *parts: bytes, pause: float = 0.0) -> tuple[int, bytes]:
    """Send bytes, and return the status and the rest of what comes back until the server closes; 0 for nothing."""
    host, _, port = address.removeprefix("http://").partition("/")[0].partition(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    try:
        for part in parts:
            writer.write(part)
            await asyncio.sleep(pause)
        said = await asyncio.wait_for(reader.read(), PATIENCE)
    except ConnectionError:
        return 0, b""
    finally:
        writer.close()
    return (int(said.split(b" ", 2)[1]), said.partition(b"\r\n\r\n")[2]) if said else (0, b"")


def head(length: int, path: str = "/v1/chat/completions", **changes: str) -> bytes:
    """Give the head of a request."""
    headers = {
        "host": "127.0.0.1",
        "content-type": "application/json",
        "content-length": str(length),
        "connection": "close",
        **{name.replace("_", "-"): value for name, value in changes.items()},
    }
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    return f"POST {path} HTTP/1.1\r\n{lines}\r\n".encode()


async def post(address: str, body: Any, **changes: str) -> tuple[int, bytes]:
    """Send a body as JSON."""
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    return await converse(address, head(len(content), **changes), content)


@pytest.mark.parametrize("sent", [b"", b"POST /v1/chat", b"POST /v1/chat/completions HTTP/1.1\r\nhost: 127.0.0.1\r\n"])
async def test_a_request_whose_head_does_not_come_is_left(sent: bytes) -> None:
    async with serve(Brain(), head_seconds=0.2) as addresses:
        assert await converse(addresses.openai, sent) == (0, b"")


async def test_a_second_request_whose_head_does_not_come_is_left_and_one_that_comes_is_answered() -> None:
    content = json.dumps(CHAT).encode()
    whole = head(len(content), connection="keep-alive") + content
    async with serve(Brain(), head_seconds=1.5) as addresses:
        status, rest = await converse(addresses.openai, whole, whole, b"POST /v1", pause=0.1)
    assert status == 200
    assert rest.count(b"200 OK") == 1


async def test_a_body_that_does_not_come_is_left() -> None:
    async with serve(Brain(), bodies=SMALL) as addresses:
        assert (await converse(addresses.openai, head(100), b"{"))[0] == 408


async def test_an_answer_may_take_longer_than_a_request() -> None:
    async with serve(Brain(), bodies=SMALL, head_seconds=0.1, latency=0.5) as addresses:
        assert (await post(addresses.openai, CHAT))[0] == 200


async def test_a_body_without_an_end_is_left_at_the_bound() -> None:
    part = b"10000\r\n" + b" " * 2**16 + b"\r\n"
    async with serve(Brain(), bodies=SMALL) as addresses:
        begin = head(0).replace(b"content-length: 0", b"transfer-encoding: chunked")
        tracemalloc.start()
        try:
            status, said = await converse(addresses.openai, begin, *[part] * 200)
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
    assert (status, b"10000 bytes" in said) in {(413, True), (0, False)}  # the reset may come before it is read
    assert peak < 30 * 2**20


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "", "localhost.evil.example:80"])
async def test_who_was_sent_here_under_another_name_is_refused(host: str) -> None:
    brain = Brain()
    async with serve(brain) as addresses:
        assert (await post(addresses.openai, CHAT, host=host))[0] == 400
        assert (await post(addresses.openai, CHAT, host="localhost:1"))[0] == 200
    assert len(brain.asked) == 1


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "", "application/jsonp"])
async def test_what_says_that_it_is_no_json_is_refused(kind: str) -> None:
    brain = Brain()
    async with serve(brain) as addresses:
        assert (await post(addresses.openai, CHAT, content_type=kind))[0] == 415
        assert (await post(addresses.openai, CHAT, content_type="application/json; charset=utf-8"))[0] == 200
    assert len(brain.asked) == 1


def wanting(schema: Any) -> dict[str, Any]:
    """Give a request for an answer of a form."""
    form = {"type": "json_schema", "json_schema": {"name": "x", "schema": schema}}
    return {**CHAT, "response_format": form}


def doubling(depth: int) -> dict[str, Any]:
    """Give a schema whose smallest value has two to the power of `depth` parts."""
    pair = lambda inner: {"type": "array", "minItems": 2, "items": inner}  # noqa: E731
    definitions = {f"d{i}": pair({"$ref": f"#/$defs/d{i + 1}"}) for i in range(depth)}
    return {"$ref": "#/$defs/d0", "$defs": {**definitions, f"d{depth}": {"type": "null"}}}


ABSURD: list[Any] = [
    {"type": "string", "minLength": 10**10},
    {"type": "array", "minItems": 10**9, "items": {"type": "null"}},
    doubling(60),
    {"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/a"}}},
    {"type": "object", "required": ["a"], "properties": {"a": {"$ref": "#/$defs/b"}}, "$defs": {"b": 5}},
    {"$ref": "#/$defs/none"},
    {"enum": []},
    {"enum": "x"},
    {"anyOf": []},
    {"type": "string", "minLength": "many"},
    {"type": "string", "maxLength": -1},
    {"type": "integer", "minimum": 1e300},
    {"type": "integer", "minimum": "low"},
    {"type": "object", "required": 5, "properties": []},
    {"type": "array", "minItems": 1},
    {"type": ["string"]},
    {"type": "wizard"},
    {"$defs": 5, "type": "string"},
    5,
    None,
    [],
    "x",
]


@pytest.mark.parametrize("schema", ABSURD, ids=range(len(ABSURD)))
async def test_a_schema_that_asks_too_much_or_nothing_sensible_is_a_400(schema: Any) -> None:
    async with serve(SIMULATED) as addresses:
        tracemalloc.start()
        try:
            status, said = await post(addresses.openai, wanting(schema))
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
    assert status in ((200, 400) if schema == {"type": ["string"]} else (400,))
    assert status == 200 or json.loads(said)["error"]["message"]
    assert peak < 50 * 2**20


async def test_a_schema_without_a_bottom_is_a_400() -> None:
    deep: dict[str, Any] = {"type": "null"}
    for _ in range(300):
        deep = {"type": "array", "minItems": 1, "items": deep}
    async with serve(SIMULATED) as addresses:
        status, said = await post(addresses.openai, wanting(deep))
    assert (status, b"nested more than" in said) == (400, True)


def test_an_instance_at_the_bound_is_made() -> None:
    assert len(minimal_instance({"type": "string", "minLength": LARGEST - 1})) == LARGEST - 1
    assert len(minimal_instance({"type": "array", "minItems": 40_000, "items": {"type": "null"}})) == 40_000
    with pytest.raises(ValueError, match="more than 100000"):
        minimal_instance({"type": "string", "minLength": LARGEST})


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(
        ["type", "json_schema", "schema", "name", "function", "parameters", "input_schema", "format", "text", "role"]
    ), inner, max_size=4),
    max_leaves=8,
)  # fmt: skip
FIELDS = (
    "model", "messages", "response_format", "tools", "temperature", "max_tokens", "max_completion_tokens", "seed",
    "stream", "n", "system", "output_config", "output_format",
)  # fmt: skip


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(st.dictionaries(st.sampled_from(FIELDS), JSON, max_size=4), st.sampled_from(["chat/completions", "messages"]))
def test_no_body_makes_the_server_fail(changes: dict[str, Any], path: str) -> None:
    async def ask() -> tuple[int, bytes]:
        async with serve(SIMULATED) as addresses:
            return await post(addresses.openai, {**CHAT, "max_tokens": 9, **changes}, path=f"/v1/{path}")

    status, said = asyncio.run(ask())
    assert status in (200, 400, 404)
    assert status == 200 or json.loads(said)["error"]["message"]

"""Rules of the loopback server itself, by plain HTTP."""

from __future__ import annotations

import asyncio
import json
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from typing import Any

import pytest

from tests.agents.llm.wire import TEXT, Brain
from tests.loopback import Fault, FaultKind, serve

SECONDS = 30.0
"""What a busy machine may take; nothing here waits that long."""
CHAT = {"model": "simulated", "messages": [{"role": "user", "content": "Hello"}]}


async def post(url: str, body: Any, **headers: str) -> tuple[int, dict[str, Any]]:
    def send() -> tuple[int, dict[str, Any]]:
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        sent = urllib.request.Request(url, data, {"content-type": "application/json", **headers})
        try:
            with urllib.request.urlopen(sent, timeout=2 * SECONDS) as response:
                return response.status, json.load(response)
        except urllib.error.HTTPError as error:
            with error:
                return error.code, json.load(error)

    return await asyncio.to_thread(send)


async def test_it_listens_on_loopback_alone() -> None:
    async with serve(Brain()) as addresses:
        assert addresses.openai.startswith("http://127.0.0.1:")
        assert addresses.openai == f"{addresses.anthropic}/v1"


@pytest.mark.parametrize(
    "body",
    [
        b"not json",
        [],
        {},
        {**CHAT, "stream": True},
        {**CHAT, "n": 2},
        {**CHAT, "messages": []},
        {**CHAT, "messages": [{"role": "wizard", "content": "x"}]},
        {**CHAT, "messages": [{"role": "user", "content": [{"type": "image"}]}]},
        {**CHAT, "model": 3},
        {**CHAT, "response_format": {"type": "json_schema"}},
    ],
    ids=range(10),
)
async def test_what_it_does_not_speak_is_a_400_that_says_why(body: Any) -> None:
    async with serve(Brain()) as addresses:
        for path in ("chat/completions", "messages"):
            if path == "messages" and isinstance(body, dict) and "response_format" in body:
                continue  # a field of the other format
            status, answer = await post(f"{addresses.openai}/{path}", body)
            assert status == 400
            assert answer["error"]["message"]


async def test_both_formats_answer_with_text_and_tokens() -> None:
    async with serve(Brain()) as addresses:
        status, chat = await post(f"{addresses.openai}/chat/completions", CHAT)
        assert (status, chat["choices"][0]["message"]["content"]) == (200, TEXT)
        assert chat["usage"]["total_tokens"] == 120
        status, message = await post(f"{addresses.openai}/messages", {**CHAT, "max_tokens": 10})
        assert (status, message["content"][0]["text"]) == (200, TEXT)
        assert message["usage"]["output_tokens"] == 20


async def test_it_knows_no_other_models() -> None:
    async with serve(Brain(), models=("a", "b")) as addresses:
        assert (await post(f"{addresses.openai}/chat/completions", CHAT))[0] == 404
        assert (await post(f"{addresses.openai}/chat/completions", {**CHAT, "model": "b"}))[0] == 200


async def test_faults_come_in_the_order_of_the_plan_and_then_end() -> None:
    async with serve(Brain(), faults=[Fault(FaultKind.SERVER_ERROR), None, Fault(FaultKind.OVERLOADED)]) as addresses:
        statuses = [(await post(f"{addresses.openai}/chat/completions", CHAT))[0] for _ in range(5)]
    assert statuses == [500, 200, 529, 200, 200]


async def test_it_ends_at_once_although_a_request_is_never_answered() -> None:
    async with serve(Brain(), faults=lambda _: Fault(FaultKind.SILENCE)) as addresses:
        task = asyncio.create_task(post(f"{addresses.openai}/chat/completions", CHAT))
        await asyncio.sleep(0.1)
    with pytest.raises(OSError, match=r"closed|reset|refused"):  # and not `timed out`, which is one, too
        await asyncio.wait_for(task, SECONDS)


async def test_a_port_that_is_taken_is_an_error() -> None:
    async with serve(Brain()) as addresses:
        port = int(addresses.anthropic.rpartition(":")[2])
        with pytest.raises(OSError, match="in use"):
            async with serve(Brain(), port=port):
                pass


def test_run_serves_until_it_is_interrupted() -> None:
    code = (
        "from tests.agents.llm.wire import Brain\n"
        "from tests.loopback import run\n"
        "run(Brain('hello'), ready=lambda addresses: print(addresses.openai, flush=True))"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as server:
        assert server.stdout is not None
        address = server.stdout.readline().strip()
        status, chat = asyncio.run(post(f"{address}/chat/completions", CHAT))
        server.send_signal(signal.SIGINT)
        _, problems = server.communicate(timeout=SECONDS)
    assert (status, chat["choices"][0]["message"]["content"]) == (200, "hello")
    assert "Traceback" not in problems

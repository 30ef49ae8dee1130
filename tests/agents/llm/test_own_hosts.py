"""Keys and identifiers of one service leave for its own hosts only, whatever the SDKs find in the environment."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from quorum.agents.llm.providers.anthropic import AnthropicModel
from quorum.agents.llm.providers.bounded import Bounds, exchange
from quorum.agents.llm.providers.openai import OpenAIModel
from tests.agents.llm.wire import (
    CANARY,
    KEY_VARIABLE,
    MODEL,
    NEEDS_LITELLM,
    THROUGH_LITELLM,
    WIRES,
    Brain,
    client,
    request,
)
from tests.loopback import serve
from tests.loopback.echoes import Echo, found_in

VARIABLES = (
    "OPENAI_ORG_ID", "OPENAI_ORGANIZATION", "OPENAI_PROJECT_ID", "OPENAI_API_KEY", "OPENAI_ADMIN_KEY",
    "OPENAI_WEBHOOK_SECRET", "AZURE_OPENAI_API_KEY", "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN",
    "ANTHROPIC_ORGANIZATION_ID", "ANTHROPIC_WORKSPACE_ID", "GEMINI_API_KEY", "GOOGLE_CLOUD_PROJECT",
)  # fmt: skip
"""What the SDKs look for."""
MARK = "of-a-service"
ELSEWHERE = "http://127.0.0.1:9/elsewhere"


@pytest.fixture(autouse=True)
def _identifiers(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in VARIABLES:
        monkeypatch.setenv(name, f"{MARK}-{name.lower()}")
    for name in ("OPENAI_CUSTOM_HEADERS", "ANTHROPIC_CUSTOM_HEADERS"):
        monkeypatch.setenv(name, f"X-Team: {MARK}\nX-Gateway: {MARK}: second")
    for name in ("OPENAI_BASE_URL", "ANTHROPIC_BASE_URL", "GOOGLE_GEMINI_BASE_URL"):
        monkeypatch.setenv(name, ELSEWHERE)


async def sent(wire: str, answers: int = 1, **arguments: Any) -> tuple[Echo, list[str]]:
    """Ask a server that repeats the key; give what it saw, and what came of each request."""
    made: list[Echo] = []
    found = []
    async with (
        serve(Brain(), spoiled=lambda app: made.append(Echo(app)) or made[0]) as addresses,
        client(wire, addresses, **arguments) as model,
    ):
        for number in range(answers):
            try:
                found.append(repr(await model.complete(request(sample=number))))
            except Exception as error:
                found.append(f"{error!r} {error.__cause__!r} {error.__context__!r}")
    return made[0], found


@pytest.mark.parametrize("wire", WIRES)
async def test_no_identifier_of_a_service_goes_to_another_host(wire: str) -> None:
    echo, _ = await sent(wire)
    assert [head for head in echo.seen for value in head.values() if MARK in value] == []
    assert any(CANARY in value for value in echo.seen[0].values()), "the key that is configured must arrive"


@pytest.mark.parametrize("wire", WIRES)
async def test_a_server_that_repeats_the_key_brings_it_into_no_reply_and_no_error(wire: str) -> None:
    echo, found = await sent(wire, 10)
    assert echo.repeated == 10
    assert sum("[key]" in text for text in found) >= 7
    assert [form for text in found for form in found_in(text.encode(), CANARY)] == []


@pytest.mark.parametrize("wire", ["openai", "anthropic", "openai_responses"])
async def test_a_header_of_the_environment_does_not_stand_in_the_place_of_the_key(wire: str, monkeypatch) -> None:
    for name in ("OPENAI_CUSTOM_HEADERS", "ANTHROPIC_CUSTOM_HEADERS"):
        monkeypatch.setenv(name, f"Authorization: Bearer {MARK}")
    echo, _ = await sent(wire)
    assert echo.seen[0]["authorization"] == f"Bearer {CANARY}"


async def test_headers_of_the_configuration_are_sent() -> None:
    echo, _ = await sent("openai", headers={"X-Team": "ours", "OpenAI-Organization": "ours"})
    assert (echo.seen[0]["x-team"], echo.seen[0]["openai-organization"]) == ("ours", "ours")


@pytest.mark.parametrize("wire", THROUGH_LITELLM)
async def test_litellm_finds_no_key_for_an_address_of_yours(wire: str) -> None:
    echo, _ = await sent(wire, key_variable=None)
    assert [head for head in echo.seen for value in head.values() if MARK in value] == []


@NEEDS_LITELLM
def test_litellm_takes_no_address_from_the_environment() -> None:
    from quorum.more_providers.litellm import LiteLLMModel

    with pytest.raises(ValueError, match=r"OPENAI_BASE_URL.*llm\.base_url=ADDRESS"):
        LiteLLMModel(f"openai/{MODEL}", key_variable=KEY_VARIABLE)


@pytest.mark.parametrize(
    ("host", "kept"), [("api.openai.com", True), ("eu.api.openai.com", True), ("api.openai.com.evil", False)]
)
async def test_identifiers_go_to_the_own_host_of_their_service(host: str, kept: bool) -> None:
    import httpx2

    arrived = []

    async def send(asked: Any) -> Any:
        arrived.append(asked.headers)
        return httpx2.Response(200, request=asked, stream=httpx2.ByteStream(b"{}"))

    head = {"OpenAI-Organization": f"{MARK}-openai_org_id", "X-Team": MARK, "Other": MARK}
    asked = httpx2.Request("POST", f"https://{host}/v1", headers=head)
    await asyncio.wait_for(exchange(send, asked, Bounds()), 10)
    names = {"openai-organization", "x-team"} & set(arrived[0])
    assert names == ({"openai-organization"} if kept else set()), "X-Team is Anthropic's, too"
    assert arrived[0]["other"] == MARK


@pytest.mark.parametrize(
    ("made", "address"),
    [(OpenAIModel, "https://api.openai.com/v1/"), (AnthropicModel, "https://api.anthropic.com")],
)
async def test_the_usual_address_is_that_of_the_service_whatever_the_environment_says(made: Any, address: str) -> None:
    async with made(MODEL, key_variable=KEY_VARIABLE) as model:
        assert model.base_url == address

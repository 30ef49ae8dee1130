"""Every preset of `llm`: its address, its key, and what is sent there, over real HTTP against the documented form.

Nothing leaves this machine: the host of an address is replaced by the loopback's, its path and the rest stay.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from quorum.agents.llm.errors import AuthenticationFailed, UnknownModel
from quorum.agents.llm.protocol import Reply
from quorum.configuration.catalogue import options
from quorum.configuration.cell import Cell
from quorum.configuration.providers.remote import RemoteConfig
from quorum.configuration.registry import providers
from quorum.episode.checks import check
from quorum.episode.model_pool import model_hint
from quorum.episode.models import sampling_of
from quorum.runs.run_folder import providers_of
from quorum_base.user_errors import UserError
from tests.agents.llm import test_gemini, test_responses
from tests.agents.llm.raw import RawServer, answer, completion, raw_server
from tests.agents.llm.wire import NEEDS_LITELLM, TEXT, request

KEY = "canary-0123456789abcdef"
RESOURCE = "https://resource.openai.azure.com/openai/v1"
DOCUMENTED = {
    "azure": (
        "resource.openai.azure.com", "/openai/v1/chat/completions", "AZURE_OPENAI_API_KEY", "max_completion_tokens",
    ),
    "openrouter": ("openrouter.ai", "/api/v1/chat/completions", "OPENROUTER_API_KEY", "max_tokens"),
    "deepseek": ("api.deepseek.com", "/v1/chat/completions", "DEEPSEEK_API_KEY", "max_tokens"),
    "xai": ("api.x.ai", "/v1/chat/completions", "XAI_API_KEY", "max_tokens"),
    "mistral": ("api.mistral.ai", "/v1/chat/completions", "MISTRAL_API_KEY", "max_tokens"),
    "groq": ("api.groq.com", "/openai/v1/chat/completions", "GROQ_API_KEY", "max_tokens"),
    "together": ("api.together.ai", "/v1/chat/completions", "TOGETHER_API_KEY", "max_tokens"),
    "lmstudio": ("localhost", "/v1/chat/completions", None, "max_tokens"),
    "sglang": ("localhost", "/v1/chat/completions", None, "max_tokens"),
}  # fmt: skip
"""Host, path, variable of the key and name of the longest answer, as `configs/llm` names their sources."""
PRESETS = sorted(DOCUMENTED)
IN_OTHER_FORMATS: dict[str, tuple[str, str, str, tuple[str, str], dict[str, Any]]] = {
    "openai_responses": (
        "api.openai.com", "/v1/responses", "OPENAI_API_KEY", ("authorization", f"Bearer {KEY}"),
        test_responses.response(test_responses.SAID),
    ),
    "gemini": (
        "generativelanguage.googleapis.com", "/v1beta/models/some-model:generatecontent", "GEMINI_API_KEY",
        ("x-goog-api-key", KEY), test_gemini.response(text=TEXT),
    ),
}  # fmt: skip
"""Host, path, variable of the key, the header that has it, and an answer."""
THROUGH_LITELLM = {"bedrock", "vertex"}


def _config(preset: str, *words: str, model: str = "some-model") -> RemoteConfig:
    given = [f"llm.base_url={RESOURCE}"] if preset == "azure" else []
    config = Cell.compose(["agents=naive", f"llm={preset}", f"llm.model='{model}'", *given, *words]).configuration.llm
    assert isinstance(config, RemoteConfig)
    return config


async def _asked(config: RemoteConfig, respond: Any) -> tuple[Reply, RawServer]:
    async with raw_server(respond) as (addresses, server):
        root = addresses.anthropic
        here = config.model_copy(update={"base_url": root + urlsplit(config.base_url or "").path})
        model = providers.get(config.name).build(here, None)
        try:
            return await model.complete(request()), server
        finally:
            await model.close()


@pytest.mark.parametrize("preset", PRESETS)
async def test_a_preset_sends_the_documented_request(preset: str, monkeypatch: pytest.MonkeyPatch) -> None:
    host, path, variable, longest = DOCUMENTED[preset]
    config = _config(preset)
    assert (urlsplit(config.base_url or "").hostname, config.api_key_env) == (host, variable)
    if variable is not None:
        monkeypatch.setenv(variable, KEY)
    _, server = await _asked(config, answer(completion(message={"role": "assistant", "content": TEXT})))
    (body,), (headers,), (first,) = server.asked, server.headers, server.paths
    assert first == f"post {path} http/1.1"
    assert headers["authorization"] == f"Bearer {KEY if variable is not None else 'not-needed'}"
    assert headers["content-type"] == "application/json"
    assert body.keys() == {"model", "messages", "temperature", "response_format", longest}
    assert body["model"] == "some-model"
    assert [message["role"] for message in body["messages"]] == ["system", "user"]
    assert body["response_format"]["type"] == "json_schema"


@pytest.mark.parametrize("preset", IN_OTHER_FORMATS)
async def test_a_preset_of_another_format_asks_at_its_documented_place(
    preset: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    host, path, variable, (header, value), said = IN_OTHER_FORMATS[preset]
    monkeypatch.setenv(variable, KEY)
    config = _config(preset)
    assert (urlsplit(config.base_url or "").hostname, config.api_key_env) == (host, variable)
    reply, server = await _asked(config, answer(said))
    assert server.paths == [f"post {path} http/1.1"]
    assert server.headers[0][header] == value
    assert reply.text == TEXT


async def test_mistral_forbids_what_it_does_not_know_and_is_asked_without_it(monkeypatch: pytest.MonkeyPatch) -> None:
    known = {"model", "messages", "temperature", "top_p", "max_tokens", "stop", "random_seed", "response_format"}

    async def respond(body: dict[str, Any], _writer: asyncio.StreamWriter) -> Any:
        extra = sorted(body.keys() - known)
        detail = [
            {"type": "extra_forbidden", "loc": ["body", k], "msg": "Extra inputs are not permitted"} for k in extra
        ]
        refused = {"object": "error", "message": {"detail": detail}, "type": "invalid_request_error"}
        return answer(refused, 422) if extra else answer(completion(message={"role": "assistant", "content": TEXT}))

    monkeypatch.setenv("MISTRAL_API_KEY", KEY)
    config = _config("mistral", "llm.sampling_seed=3", "llm.extra_body.random_seed=3")
    async with raw_server(respond) as (addresses, server):
        model = providers.get("openai").build(config.model_copy(update={"base_url": addresses.openai}), None)
        reply = await model.complete(replace(request(), sampling=sampling_of(config)))
        await model.close()
    assert reply.not_sent == ("seed",)
    assert server.asked[-1]["random_seed"] == 3


@pytest.mark.parametrize("preset", [*(p for p in PRESETS if DOCUMENTED[p][2]), "gemini"])
def test_a_missing_key_is_reported_with_its_variable_and_where_it_is_made(
    preset: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    variable = "GEMINI_API_KEY" if preset == "gemini" else DOCUMENTED[preset][2]
    assert variable is not None
    monkeypatch.delenv(variable, raising=False)
    given = [f"llm.base_url={RESOURCE}"] if preset == "azure" else []
    words = ["n=1", "agents=naive", f"llm={preset}", "llm.model=a", *given]
    finding = next(found for found in check(words, tmp_path, ()) if found.subject == "configuration")
    assert not finding.fine
    assert f"export {variable}=" in finding.detail
    assert "Keys are made at" in finding.detail


def test_azure_asks_for_the_address_of_the_resource() -> None:
    with pytest.raises(UserError, match=r"llm.base_url"):
        Cell.compose(["agents=naive", "llm=azure", "llm.model=a"])


@pytest.mark.parametrize("model", ["openrouter/auto", "anthropic/claude-haiku-4-5", "meta-llama/llama-3:free"])
def test_names_of_openrouter_are_sent_as_they_are(model: str) -> None:
    config = _config("openrouter", model=model)
    assert config.model == model
    assert config.priced


def test_a_prefix_that_only_litellm_knows_is_reported() -> None:
    wrong = UnknownModel("the provider has no model")
    assert "llm.model=llama-3" in model_hint(wrong, _config("groq", model="groq/llama-3"))
    assert "llm.model=m" in model_hint(wrong, _config("together", model="together_ai/m"))
    assert "lists" in model_hint(wrong, _config("groq", model="openai/gpt-oss"))
    assert "console.groq.com" in model_hint(AuthenticationFailed("no key"), _config("groq"))


def test_there_is_a_test_for_every_preset() -> None:
    own = {
        "simulated",
        "simulated_faults",
        "simulated_calibrated",
        "simulated_calibrated_mini",
        "random",
        "echo",
        "replay",
    }
    own |= {"openai", "anthropic", "litellm", "vllm", "ollama", "llamacpp"}
    # Plugins that other tests of this process have loaded bring options of their own, which have a source.
    shipped = {option.name for option in options() if option.group == "llm" and not option.source}
    assert shipped == own | {*PRESETS, *IN_OTHER_FORMATS} | THROUGH_LITELLM


def test_tables_tell_providers_of_one_format_apart() -> None:
    words = ["agents=naive", "llm=groq", "llm.model=a", "llm.agents.agent_0={preset: mistral, model: b}"]
    assert providers_of(Cell.compose(words).plain) == ("groq", "mistral")
    litellm = ["agents=naive", "llm=bedrock", "llm.model=bedrock/anthropic.claude"]
    assert providers_of(Cell.compose(litellm).plain) == ("bedrock",)
    assert providers_of(Cell.compose(["agents=naive", "llm=vllm", "llm.model=a"]).plain) == ("localhost:8000",)
    assert providers_of(Cell.compose(["agents=naive"]).plain) == ("simulated",)


@NEEDS_LITELLM
async def test_bedrock_gets_its_own_format_through_litellm(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_BEARER_TOKEN_BEDROCK", KEY)
    monkeypatch.setenv("AWS_REGION_NAME", "us-east-1")
    said = {
        "output": {"message": {"role": "assistant", "content": [{"text": TEXT}]}},
        "stopReason": "end_turn",
        "usage": {"inputTokens": 12, "outputTokens": 5, "totalTokens": 17},
        "metrics": {"latencyMs": 1},
    }
    config = _config("bedrock", "llm.structured=prompt", model="bedrock/converse/amazon.nova-lite-v1:0")
    reply, server = await _asked(config, answer(said))
    assert server.paths[-1].startswith("post /model/amazon.nova-lite-v1")
    assert server.paths[-1].split()[1].endswith("/converse")
    assert server.headers[-1]["authorization"] == f"Bearer {KEY}"
    assert server.asked[-1]["inferenceConfig"] == {"maxTokens": 256, "temperature": 0.0}
    assert (reply.usage.prompt, reply.usage.completion) == (12, 5)

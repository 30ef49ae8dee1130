"""What the tests of language models share: a scripted brain, real clients, and a stack with short waits."""

from __future__ import annotations

import importlib.util
import json
import random
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest

from quorum.agents.llm.limits import RetryRules
from quorum.agents.llm.protocol import (
    AnswerFormat,
    ChatMessage,
    ChatRole,
    Finish,
    Model,
    Origin,
    Reply,
    Request,
    Sampling,
    Usage,
)
from quorum.agents.llm.providers.anthropic import AnthropicModel
from quorum.agents.llm.providers.base import Provider
from quorum.agents.llm.providers.openai import OpenAIModel
from quorum.agents.llm.stack import build_stack, with_access
from quorum.more_providers.gemini import GeminiModel
from quorum.more_providers.litellm import INSTALL, LiteLLMModel
from quorum.more_providers.responses import ResponsesModel
from tests.loopback import Addresses, Faults, serve

KEY_VARIABLE = "QUORUM_TEST_API_KEY"
CANARY = "sk-canary-7f3a9c51e2d84b60"
MODEL = "simulated"
HAS_LITELLM = importlib.util.find_spec("litellm") is not None
LITELLM_TOOLS = HAS_LITELLM and importlib.util.find_spec("mcp") is not None
"""Whether litellm can send tools: it needs a package for them that it does not bring."""
NEEDS_LITELLM = pytest.mark.skipif(not HAS_LITELLM, reason=f"litellm is not installed: {INSTALL}")

SDKS = ["openai", "anthropic", "openai_responses", "gemini"]
"""The clients that are official SDKs."""
THROUGH_LITELLM = [
    pytest.param("litellm-openai", marks=NEEDS_LITELLM),
    pytest.param("litellm-anthropic", marks=NEEDS_LITELLM),
]
WIRES = [*SDKS, *THROUGH_LITELLM]
"""The clients under test, each against the format that it speaks."""

SCHEMA: dict[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "required": ["plan", "mood"],
    "properties": {
        "plan": {
            "type": "array",
            "minItems": 1,
            "items": {
                "type": "object",
                "additionalProperties": False,
                "required": ["action", "steps"],
                "properties": {
                    "action": {"type": "string", "enum": ["move", "wait"]},
                    "steps": {"type": "integer", "minimum": 1, "maximum": 9},
                },
            },
        },
        "mood": {"type": "string"},
    },
}
ANSWER = {"plan": [{"action": "move", "steps": 3}], "mood": "ready {to go}"}
TEXT = json.dumps(ANSWER)


def request(
    prompt: str = "What will you do?",
    *,
    temperature: float | None = 0.0,
    free: bool = False,
    sample: int = 0,
    agent: str = "agent_0",
    t: int = 0,
) -> Request:
    """Give a request for a plan, or for free text."""
    return Request(
        messages=(ChatMessage(ChatRole.SYSTEM, "You are an agent."), ChatMessage(ChatRole.USER, prompt)),
        answer=None if free else AnswerFormat("decision", SCHEMA),
        sampling=Sampling(temperature=temperature, max_tokens=256),
        sample=sample,
        origin=Origin(agent, t),
    )


def reply(text: str = TEXT, *, usd: float | None = None, prompt: int = 100, completion: int = 20) -> Reply:
    """Give a reply as a provider would."""
    return Reply(text, Finish.STOP, Usage(prompt, completion), usd, 0.0, MODEL)


@dataclass
class Brain:
    """A model that answers by a script: the same text always, texts in turn, errors, or by a function."""

    script: str | Sequence[str | Exception | Reply] | Callable[[Request], str] = TEXT
    usd: float | None = None
    asked: list[Request] = field(default_factory=list)

    async def complete(self, request: Request) -> Reply:
        """Answer by the script."""
        self.asked.append(request)
        if callable(self.script):
            return reply(self.script(request), usd=self.usd)
        if isinstance(self.script, str):
            return reply(self.script, usd=self.usd)
        step = self.script[min(len(self.asked), len(self.script)) - 1]
        if isinstance(step, Exception):
            raise step
        return step if isinstance(step, Reply) else reply(step, usd=self.usd)


def client(
    wire: str, addresses: Addresses, *, deadline: float = 60.0, model: str = MODEL, **arguments: Any
) -> Provider:
    """Give a real client of a wire."""
    arguments = {"key_variable": KEY_VARIABLE, "deadline": deadline, **arguments}
    match wire:
        case "openai":
            return OpenAIModel(model, base_url=addresses.openai, **arguments)
        case "anthropic":
            return AnthropicModel(model, base_url=addresses.anthropic, **arguments)
        case "openai_responses":
            return ResponsesModel(model, base_url=addresses.openai, **arguments)
        case "gemini":
            return GeminiModel(model, base_url=addresses.anthropic, **arguments)
        case "litellm-openai":
            return LiteLLMModel(f"openai/{model}", base_url=addresses.openai, **arguments)
        case "litellm-anthropic":
            return LiteLLMModel(f"anthropic/{model}", base_url=addresses.anthropic, **arguments)
    raise ValueError(wire)


@asynccontextmanager
async def provider(
    wire: str, brain: Model | None = None, faults: Faults = (), latency: float = 0.0, **arguments: Any
) -> AsyncIterator[Provider]:
    """Give a real client that talks to the server over HTTP."""
    async with (
        serve(brain or Brain(), faults=faults, latency=latency) as addresses,
        client(wire, addresses, **arguments) as model,
    ):
        yield model


@dataclass
class Sleeper:
    """A way to wait that does not take any time, and remembers."""

    waits: list[float] = field(default_factory=list)
    now: float = 0.0

    async def sleep(self, seconds: float) -> None:
        """Wait."""
        self.waits.append(seconds)
        self.now += seconds

    def clock(self) -> float:
        """Tell the time."""
        return self.now


RULES = RetryRules(max_tries=4, max_rate_limited=6, max_wait=2.0, first_wait=0.01, longest_wait=0.05)


def stack(model: Model, **arguments: Any) -> Model:
    """Put the wrappers around a model, with short waits."""
    access = {name: arguments.pop(name) for name in ("limits", "caching") if name in arguments}
    access["retry"] = arguments.pop("retry", RULES)
    reached = with_access(model, rng=random.Random(0), price=arguments.get("price"), **access)
    return build_stack(reached, name=MODEL, **{"max_repairs": 2, **arguments})

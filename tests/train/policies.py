"""Policies of the tests, which worker processes can import."""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import sys
import time
from typing import Any

from quorum.agents.llm.protocol import AnswerFormat, ChatMessage, ChatRole, Request, Sampling
from quorum.agents.prompting.instances import minimal_instance
from quorum.agents.simulated import SimulatedSettings
from quorum.agents.simulated.model import SimulatedModel
from quorum.train.policy import Completion, PolicyRequest

SETTINGS = SimulatedSettings(**dict.fromkeys(SimulatedSettings.model_fields, 0))
RULES = SimulatedModel(SETTINGS)


async def rules(request: PolicyRequest) -> Completion:
    """Answer as the simulated model at temperature 0 does."""
    messages = tuple(ChatMessage(ChatRole(one["role"]), one["content"]) for one in request.messages)
    schema = AnswerFormat("answer", request.schema) if request.schema is not None else None
    reply = await RULES.complete(Request(messages, schema, Sampling(0.0, request.max_tokens)))
    return Completion(
        reply.text, {"characters": len(reply.text)}, reply.usage.prompt, reply.usage.completion, reply.finish
    )


async def slow_rules(request: PolicyRequest) -> Completion:
    """Answer as `rules`, after a time that differs between prompts, so that episodes overtake each other."""
    digest = hashlib.sha256(str(request.messages).encode()).digest()
    await asyncio.sleep(digest[0] / 20_000)
    return await rules(request)


def smallest(request: PolicyRequest) -> str:
    """Give the smallest answer that matches the schema."""
    return json.dumps(minimal_instance(request.schema or {}))


def failing(request: PolicyRequest) -> str:
    """Fail in the second step of board 1."""
    if request.board == 1 and request.step:
        raise LookupError(f"no weights for {request.seat}")
    return smallest(request)


async def waiting(_: PolicyRequest) -> str:
    """Wait for ever."""
    await asyncio.sleep(3600)
    return ""


def dying(_: PolicyRequest) -> Any:
    """End the process."""
    time.sleep(0.1)
    os._exit(7)


async def telling(request: PolicyRequest) -> str:
    """Report the request on standard error, and wait for ever."""
    if request.seat == "agent_0":
        sys.stderr.write("asked\n")
        sys.stderr.flush()
    return await waiting(request)

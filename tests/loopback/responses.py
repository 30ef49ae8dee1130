"""OpenAI's Responses API on the server's side. What it answers is built from the SDK's own types."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from quorum.agents.llm.protocol import AnswerFormat, ChatMessage, ChatRole, Finish, Reply, Sampling
from quorum.more_providers.serving.formats import DEFAULT_MAX_TOKENS, BadBody, WireRequest, integer, part, read_content
from tests.loopback.formats import OpenAIFormat, read_effort

_PARTS = {"input_text": "text", "output_text": "text", "input_image": "image_url"}
_INCOMPLETE = {Finish.LENGTH: "max_output_tokens"}


class ResponsesFormat(OpenAIFormat):
    """OpenAI's responses, of models that think, with tiers of service and encrypted reasoning."""

    provider = "openai_responses"

    def _messages(self, body: Mapping[str, Any]) -> tuple[ChatMessage, ...]:
        items = body.get("input")
        if not isinstance(items, list) or not items or body.get("store") is not False:
            raise BadBody("input, store: items are needed, and nothing is stored here")
        return tuple(_read_items(items))

    def _wanted(self, body: Mapping[str, Any], tool: Mapping[str, Any] | None) -> AnswerFormat | None:
        form = (body.get("text") or {}).get("format") or {}
        if form.get("type") == "json_schema":
            return AnswerFormat(form["name"], part(form, "schema"))
        return None if tool is None else AnswerFormat(tool["name"], part(tool, "parameters"))

    def _sampling(self, body: Mapping[str, Any]) -> Sampling:
        return replace(super()._sampling(body), effort=read_effort((body.get("reasoning") or {}).get("effort")))

    def _max_tokens(self, body: Mapping[str, Any]) -> int:
        return integer(body, "max_output_tokens") or DEFAULT_MAX_TOKENS

    def write(self, reply: Reply, asked: WireRequest, number: int) -> dict[str, Any]:
        """Write a reply to the request of a number."""
        from openai.types import responses as types

        reason = _INCOMPLETE.get(reply.finish)
        return types.Response.model_validate(
            {
                "id": f"resp_{number}",
                "object": "response",
                "created_at": 0,
                "model": asked.model,
                "status": "incomplete" if reason else "completed",
                "incomplete_details": {"reason": reason} if reason else None,
                "output": [item for item in (_reasoning(reply, number), _answer(reply, asked, number)) if item],
                "parallel_tool_calls": False,
                "tool_choice": "auto",
                "tools": [],
                "usage": _usage(reply),
            }
        ).to_dict()

    def without_answer(self, body: dict[str, Any]) -> dict[str, Any]:
        """Take the answer out of a response."""
        return {**body, "output": []}


def _read_items(items: list[Mapping[str, Any]]) -> Iterator[ChatMessage]:
    carried: list[Mapping[str, Any]] = []
    for item in items:
        if item.get("type") == "reasoning":
            carried.append(item)
            continue
        content = item.get("content")
        if isinstance(content, list):
            content = [_read_part(piece) for piece in content]
        text, pictures = read_content(content)
        yield ChatMessage(ChatRole(str(item.get("role"))), text, pictures=pictures, carried=tuple(carried))
        carried = []
    if carried:
        raise BadBody("input: an item of type 'reasoning' was provided without its required following item")


def _read_part(piece: Mapping[str, Any]) -> Mapping[str, Any]:
    kind = _PARTS.get(str(piece.get("type")))
    return {"type": kind, "text": piece.get("text"), "image_url": {"url": piece.get("image_url")}}


def _reasoning(reply: Reply, number: int) -> dict[str, Any] | None:
    if not reply.usage.reasoning:
        return None
    summary = [{"type": "summary_text", "text": reply.thinking}]
    return {"type": "reasoning", "id": f"rs_{number}", "summary": summary, "encrypted_content": f"simulated {number}"}


def _answer(reply: Reply, asked: WireRequest, number: int) -> dict[str, Any] | None:
    if reply.finish is Finish.REFUSAL:
        content = {"type": "refusal", "refusal": reply.text}
    elif asked.tool and asked.request.answer is not None and reply.text:
        call = {"type": "function_call", "call_id": f"call_{number}", "arguments": reply.text}
        return {**call, "name": asked.request.answer.name}
    else:
        content = {"type": "output_text", "text": reply.text, "annotations": []}
    return {"type": "message", "id": f"msg_{number}", "role": "assistant", "status": "completed", "content": [content]}


def _usage(reply: Reply) -> dict[str, Any]:
    usage = reply.usage
    return {
        "input_tokens": usage.prompt,
        "output_tokens": usage.completion,
        "total_tokens": usage.prompt + usage.completion,
        "input_tokens_details": {"cached_tokens": usage.cached, "cache_write_tokens": usage.cache_written},
        "output_tokens_details": {"reasoning_tokens": usage.reasoning},
    }

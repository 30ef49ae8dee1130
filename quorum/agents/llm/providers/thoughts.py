"""Thoughts that a server leaves in the text of an answer, or sends in a separate field of OpenAI's format.

A server separates them only if it knows the model's marks. The text after the last end mark is the answer, whatever
precedes it: prose, a draft in JSON, or thoughts whose start mark the chat template has written. Marks inside a JSON
object of the answer are ordinary text.

Sources, read on 2026-11-28: docs.vllm.ai, api/vllm/reasoning (DeepSeek, Qwen, Mistral, Seed-OSS, Cohere, gpt-oss);
docs.rs/mistralrs-core, reasoning_parsers (Gemma 4); huggingface.co/moonshotai (Kimi) and open-thoughts (OpenThinker);
oobabooga/textgen#7374 (gpt-oss without its special tokens).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from quorum.agents.llm.limits import estimate_tokens
from quorum.agents.llm.protocol import Reply
from quorum.agents.llm.structured import objects_in

_FIELDS = ("reasoning_content", "reasoning")
"""Fields of a message in OpenAI's format: DeepSeek and llama.cpp use one, vLLM and OpenRouter the other."""

_TAGS = "think|thinking|thought|thoughts|reasoning|seed:think"
_MESSAGE = r"[^<]*(?:<\|constrain\|>\w*)?\s*<\|message\|>"
_CHANNEL = r"(?:<\|end\|>\s*)?(?:<\|start\|>\w+)?<\|channel\|>"
_BEGIN = (
    rf"<(?:{_TAGS})>|\[(?:THINK|REASONING)\]|◁think▷|<\|begin_of_thought\|>|<\|START_THINKING\|>|<\|channel>thought\b"
    rf"|{_CHANNEL}(?:analysis|commentary)\b{_MESSAGE}"
)
_END = (
    rf"</(?:{_TAGS})>|\[/(?:THINK|REASONING)\]|◁/think▷|<\|end_of_thought\|>|<\|END_THINKING\|>|<channel\|>"
    rf"|{_CHANNEL}(?:final\b|commentary to=functions\.){_MESSAGE}"
)
_MARK = re.compile(rf"(?P<end>{_END})|{_BEGIN}")
_BARE_CHANNELS = re.compile(r"\s*analysis(?P<thoughts>.*)assistantfinal(?P<answer>.*)", re.DOTALL)
_CONTROL = ("<|end|>", "<|return|>", "<|call|>")
_OPENERS = ("<answer>", "<response>", "<|begin_of_solution|>", "<|START_RESPONSE|>")
_CLOSERS = ("</answer>", "</response>", "<|end_of_solution|>", "<|END_RESPONSE|>", *_CONTROL)
"""Marks of some templates around the answer after thoughts (Hunyuan, Granite; OpenThinker; Cohere; gpt-oss)."""


def separate_thoughts(message: Any) -> str:
    """Return the thoughts in a separate field of a chat completion; empty if it has none."""
    for name in _FIELDS:
        thoughts = getattr(message, name, None)
        if isinstance(thoughts, str) and thoughts:
            return thoughts
    content = getattr(message, "content", None)
    return _of_parts(content) if isinstance(content, list) else ""


def _of_parts(parts: Iterable[Any]) -> str:
    """Return the text of the message parts that are thoughts, in Mistral's format."""
    found = [part if isinstance(part, Mapping) else part.model_dump() for part in parts]
    texts = [part.get("thinking") for part in found if part.get("type") == "thinking"]
    inner = [part for text in texts if isinstance(text, list) for part in text if isinstance(part, Mapping)]
    return "".join([text for text in texts if isinstance(text, str)] + [str(part.get("text", "")) for part in inner])


def part_thoughts(reply: Reply) -> Reply:
    """Separate thoughts that a server left in the text of a reply from the answer, and count them as thoughts.

    The server has not counted such thoughts, so their tokens are estimated.
    """
    thoughts, answer = split(reply.text)
    if thoughts is None:
        return reply
    usage = reply.usage
    if not usage.reasoning:
        tokens = min(estimate_tokens(thoughts), usage.completion)
        usage = replace(usage, reasoning=tokens, reasoning_estimated=tokens > 0)
    thinking = "\n\n".join(part for part in (reply.thinking, thoughts) if part)
    return replace(reply, text=answer, thinking=thinking, usage=usage)


def split(text: str) -> tuple[str | None, str]:
    """Split a text into thoughts and answer; None and the text itself if there are no marks.

    Thoughts without an end mark leave no answer, unless a complete JSON object precedes them.
    """
    if bare := _BARE_CHANNELS.fullmatch(text):
        return bare["thoughts"].strip(), bare["answer"].strip()
    marks = list(_marks(text))
    if not marks:
        return None, text
    last = max((number for number, mark in enumerate(marks) if mark["end"]), default=-1)
    begin = marks[last].end() if last >= 0 else 0
    unended = marks[last + 1].start() if last + 1 < len(marks) else len(text)
    answer = text[begin:unended]
    if last < 0 and next(objects_in(answer), None) is None:
        unended, answer = 0, ""
    thoughts = _MARK.sub("", text[:begin] + text[unended:]).strip()
    return thoughts, _unwrapped(answer.strip())


def _unwrapped(answer: str) -> str:
    while (closer := next((mark for mark in _CLOSERS if answer.endswith(mark)), None)) is not None:
        answer = answer.removesuffix(closer).rstrip()
    opener = next((mark for mark in _OPENERS if answer.startswith(mark)), "")
    return answer.removeprefix(opener).lstrip()


def _unquoted(text: str) -> list[re.Match[str]]:
    """Return the marks that a text uses, not those that it quotes: `"<think>no</think>"`."""
    found: list[re.Match[str]] = []
    quoting = False
    for mark in _MARK.finditer(text):
        before, behind = (text[place : place + 1] in _QUOTES for place in (max(mark.start() - 1, 0), mark.end()))
        before = before and mark.start() > 0
        behind = behind and mark.end() < len(text)
        quoted = (before and (behind or not mark["end"])) or (quoting and behind)
        quoting = quoted and not mark["end"]
        if not quoted:
            found.append(mark)
    return found


_QUOTES = frozenset("\"'`")
_MOST_BEGINNINGS = 8
"""Number of marks after which to search for objects again, because braces in thoughts may hide later objects. The limit
keeps the time proportional to the length of the text."""


def _marks(text: str) -> Iterator[re.Match[str]]:
    """Return the marks in a text that are outside its JSON objects."""
    marks = _unquoted(text)
    if not marks:
        return
    begin = 0
    objects: list[tuple[int, int]] = []
    for _ in range(_MOST_BEGINNINGS):
        found = [(first, end) for first, end, _ in objects_in(text, begin)]
        objects += found
        reached = found[-1][1] if found else begin
        following = (mark.end() for mark in marks if mark.start() >= reached)
        if (begin := next(following, -1)) < 0:
            break
    spans = iter(sorted(objects))
    span = next(spans, None)
    for mark in marks:
        while span is not None and span[1] <= mark.start():
            span = next(spans, None)
        if span is None or mark.start() < span[0]:
            yield mark

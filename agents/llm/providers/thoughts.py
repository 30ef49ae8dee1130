"""The text of a model's thoughts, as servers return it: beside the answer, or at its beginning."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

_FIELDS = ("reasoning_content", "reasoning")
"""Fields of a message in OpenAI's format: DeepSeek and llama.cpp have the one, vLLM and OpenRouter the other."""
_MARKED = re.compile(r"\s*<think>(?P<thoughts>.*?)(?:</think>(?P<answer>.*))?", re.DOTALL)


def beside(message: Any) -> str:
    """Return the thoughts that stand beside the answer of a chat completion; empty where there are none."""
    for name in _FIELDS:
        told = getattr(message, name, None)
        if isinstance(told, str) and told:
            return told
    content = getattr(message, "content", None)
    return _of_parts(content) if isinstance(content, list) else ""


def _of_parts(parts: Iterable[Any]) -> str:
    """Return the text of the parts of a message that are thoughts, as Mistral sends them."""
    found = [part if isinstance(part, Mapping) else part.model_dump() for part in parts]
    texts = [part.get("thinking") for part in found if part.get("type") == "thinking"]
    inner = [part for text in texts if isinstance(text, list) for part in text if isinstance(part, Mapping)]
    return "".join([text for text in texts if isinstance(text, str)] + [str(part.get("text", "")) for part in inner])


def split(text: str) -> tuple[str, str]:
    """Part the thoughts at the beginning of a text, between `<think>` and `</think>`, from the answer that follows.

    Without the mark of their end there is no answer.

    Returns:
        The thoughts and the answer; the whole text is the answer where it does not begin with thoughts.
    """
    found = _MARKED.fullmatch(text)
    return ("", text) if found is None else (found["thoughts"].strip(), (found["answer"] or "").strip())

"""Prompts that do not fit into the context of a model: how servers say so, and what they say there is room for."""

from __future__ import annotations

import re

_WORDS = re.compile(
    "|".join(
        (
            r"context_length_exceeded|ContextWindowExceededError|exceed_context_size",  # OpenAI, LiteLLM, llama.cpp
            r"maximum (context|prompt|model) length",  # OpenAI, vLLM, OpenRouter, DeepSeek, SGLang; xAI; vLLM
            r"exceeds? (the|this|your) (model's )?context (window|length)",  # OpenAI
            r"input tokens exceed the configured limit",  # OpenAI
            r"prompt is too long|exceed context limit",  # Anthropic
            r"input is too long for (the )?requested model",  # Anthropic's models on Bedrock
            r"exceeds? (the )?available context size|context size has been exceeded",  # llama.cpp
            r"exceeds? context window|exceeds? (the )?(maximum )?context length",  # llama-cpp-python; Ollama
            r"(greater|longer) than the (model's )?context length",  # LM Studio, SGLang
            r"input token count.{0,40}exceeds the maximum",  # Gemini
            r"too large for model with \d+ maximum context",  # Mistral
            r"reduce the length of the messages",  # Groq, Azure
            r"`inputs` tokens \+ `max_new_tokens` must be",  # Text Generation Inference
        )
    ),
    re.IGNORECASE | re.DOTALL,
)
_ROOM = (
    # OpenAI, vLLM, OpenRouter: the sum of the prompt and of the longest answer is what is refused
    re.compile(
        r"maximum context length is (?P<context>\d+).*?requested (about )?(?P<all>\d+) tokens.*?(?P<answer>\d+) in the "
        r"(completion|output)",
        re.IGNORECASE | re.DOTALL,
    ),
    # vLLM since 0.9
    re.compile(
        r"maximum context length is (?P<context>\d+) tokens and your request has (?P<prompt>\d+) input", re.IGNORECASE
    ),
    # Anthropic
    re.compile(r"exceed context limit: (?P<prompt>\d+) \+ \d+ > (?P<context>\d+)", re.IGNORECASE),
)


def is_overflow(text: str, code: str) -> bool:
    """Return whether a refusal says that the prompt, or it and the longest answer, exceed the model's context.

    Servers say it with 400, 413, 422 or 500, in words and codes of their own; limits on tokens a minute are 429.

    Args:
        text: what the server says.
        code: its own code of the error.
    """
    return _WORDS.search(code) is not None or _WORDS.search(text) is not None


def room_for_answer(text: str) -> int | None:
    """Return how many tokens the context leaves for the answer, where a refusal tells; 0 or less is none.

    Args:
        text: what the server says.
    """
    for pattern in _ROOM:
        if found := pattern.search(text):
            told = {name: int(number) for name, number in found.groupdict().items()}
            prompt = told["prompt"] if "prompt" in told else told["all"] - told["answer"]
            return told["context"] - prompt
    return None


_LONGEST = re.compile(
    r"supports at most (?P<openai>\d+) completion tokens"
    r"|max_tokens: \d+ > (?P<anthropic>\d+), which is the maximum"
    r"|range of max_tokens is \[\d+, ?(?P<deepseek>\d+)\]"
    r"|max(_completion)?_tokens`? must be less than or equal to `?(?P<groq>\d+)",
    re.IGNORECASE,
)


def longest_answer(text: str) -> int | None:
    """Return how many tokens the longest answer of a model has, where a refusal of a longer one tells.

    Args:
        text: what the server says.
    """
    found = _LONGEST.search(text)
    return None if found is None else int(next(number for number in found.groupdict().values() if number))

"""What a request may hold beside the fields that have keys of their own: `llm.extra_body` and `llm.extra_headers`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from maeil.user_errors import Withheld
from quorum.experiments.configuration.secrets import looks_like_a_key

_THINKING = "llm.effort, llm.thinking_tokens"
_ADDRESS = "llm.base_url, llm.api_key_env"
_WHOLE = "one whole answer is read of every response"
FIELDS_WITH_KEYS = {
    **dict.fromkeys(("model", "models"), "llm.model, llm.fallback"),
    **dict.fromkeys(("messages", "system", "prompt", "input", "instructions"), "the templates (prompts)"),
    **dict.fromkeys(("max_tokens", "max_completion_tokens", "max_output_tokens", "num_predict"), "llm.max_tokens"),
    "temperature": "llm.temperature",
    "top_p": "llm.top_p",
    **dict.fromkeys(("stop", "stop_sequences"), "llm.stop"),
    "seed": "llm.sampling_seed",
    **dict.fromkeys(
        (
            "response_format", "tools", "tool_choice", "parallel_tool_calls", "functions", "function_call", "format",
            "json_schema", "grammar", "guided_json", "guided_grammar", "guided_regex", "guided_choice",
            "structured_outputs", "output_format", "output_config",
        ),
        "llm.structured",
    ),
    **dict.fromkeys(
        (
            "reasoning", "reasoning_effort", "effort", "thinking", "think", "enable_thinking", "thinking_budget",
            "thinking_config", "reasoning_budget", "reasoning_budget_tokens", "include_reasoning",
        ),
        _THINKING,
    ),
    "service_tier": "llm.service_tier",
    **dict.fromkeys(("prompt_cache_key", "cache_control"), "llm.prompt_cache"),
    **dict.fromkeys(("n", "best_of", "stream", "stream_options"), _WHOLE),
    **dict.fromkeys(("api_key", "api_base", "base_url"), _ADDRESS),
    "extra_headers": "llm.extra_headers",
    "timeout": "llm.deadline",
}  # fmt: skip
"""Fields of the body of any format, and the key of the configuration that is for each."""
_INNER = {"chat_template_kwargs": frozenset({"enable_thinking", "thinking", "reasoning_effort", "thinking_budget"})}
"""Fields of maps in the body that are for thinking."""

_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
"""A token of RFC 9110, section 5.6.2."""
_OF_A_KEY = re.compile(r"auth|key|token|secret|passw|cookie|credential|signature|session", re.IGNORECASE)
_OF_THE_CLIENT = frozenset(
    {"host", "content-length", "content-type", "content-encoding", "transfer-encoding", "connection", "accept-encoding"}
)
_SCHEME = re.compile(r"(bearer|basic|digest|token|negotiate|apikey|aws4-\S+)\s", re.IGNORECASE)


def free_fields(fields: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return fields of a body that have no key of their own.

    Raises:
        ValueError: one of them has, which the message names; or a value looks like a key.
    """
    for name, value in fields.items():
        if name in FIELDS_WITH_KEYS:
            raise ValueError(f"{name} has its own place: {FIELDS_WITH_KEYS[name]}")
        if inner := sorted(_INNER.get(name, frozenset()) & (value.keys() if isinstance(value, Mapping) else set())):
            raise ValueError(f"{name}.{inner[0]} has its own place: {_THINKING}")
    if any(_is_secret(text) for text in _texts(fields)):
        raise Withheld("a value looks like a key: keys come from the environment alone (llm.api_key_env)")
    return fields


def harmless_headers(headers: Mapping[str, str]) -> Mapping[str, str]:
    """Return headers that hold no key and leave the client's own as they are.

    Raises:
        Withheld: one of them does not; its value is not shown.
    """
    for name, value in headers.items():
        if not _NAME.fullmatch(name) or _is_secret(name):
            raise Withheld("a name is none that a header can have")
        if _OF_A_KEY.search(name):
            raise Withheld(f"{name} may hold a key: keys come from the environment alone (llm.api_key_env)")
        if name.lower() in _OF_THE_CLIENT:
            raise Withheld(f"{name} is the client's own")
        if not (value.isascii() and value.isprintable()):
            raise Withheld(f"{name} has characters that no header has")
        if _is_secret(value):
            raise Withheld(f"{name} looks like a key: keys come from the environment alone (llm.api_key_env)")
    return headers


def _is_secret(text: str) -> bool:
    return looks_like_a_key(text) or _SCHEME.match(text) is not None


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for part in value.values():
            yield from _texts(part)
    elif isinstance(value, list | tuple):
        for part in value:
            yield from _texts(part)

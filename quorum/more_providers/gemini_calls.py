"""Converts Gemini API bodies to SDK calls: records and batches hold API bodies, single calls use SDK types."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson

from quorum.agents.llm.errors import BadRequest

_OF_THE_CALL = frozenset({"model", "contents", "generationConfig"})


def call_arguments(types: Any, body: Mapping[str, Any]) -> dict[str, Any]:
    """Return the contents and the configuration with which the SDK sends an API body.

    Fields unknown to its types go to `http_options.extra_body`, which batches cannot send.

    Args:
        types: the SDK's types.
        body: the request body.

    Raises:
        BadRequest: a field has a form that the types do not know.
    """
    wanted = dict(body["generationConfig"])
    others = {name: value for name, value in body.items() if name not in _OF_THE_CALL}
    names = {name for key, field in types.GenerateContentConfig.model_fields.items() for name in (key, field.alias)}
    extra = {name: value for name, value in others.items() if name not in names}
    if unknown := {name: value for name, value in wanted.items() if name not in names}:
        extra["generationConfig"] = unknown
    said = {name: value for name, value in (wanted | others).items() if name in names}
    try:
        config = types.GenerateContentConfig.model_validate_json(orjson.dumps(said))
        contents = [types.Content.model_validate_json(orjson.dumps(content)) for content in body["contents"]]
    except ValueError as error:
        raise BadRequest(f"google-genai rejects the request: {error}") from None
    config.automatic_function_calling = types.AutomaticFunctionCallingConfig(disable=True)
    config.automatic_continuation = False
    config.http_options = types.HttpOptions(extra_body=extra or None)
    return {"contents": contents, "config": config}

"""Caps on texts and lists in an answer schema, for small models that never end an unbounded text or list.

Lists that the turn needs in full keep their length: a joint plan has an entry for each agent in the request, and other
lists about agents, by an `agent` in their entries (predictions) or by names, keep their limit. The requests that a
message makes are up to its author, so they are capped. Texts limited by a pattern or an enumeration are unchanged.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any

import orjson

from quorum.agents.llm.embeddings import wants_embeddings
from quorum.agents.llm.protocol import Request

_CHOICES = frozenset({"enum", "const", "pattern"})
_AS_WANTED = "asks"


def capped(request: Request) -> Request:
    """Return a request with its sampling's caps applied to the answer schema; requests for embeddings are unchanged."""
    text, entries = request.sampling.longest_text, request.sampling.longest_list
    if request.answer is None or (text is None and entries is None) or wants_embeddings(request):
        return request
    schema = _capped(orjson.dumps(request.answer.schema), text, entries, request.agents)
    return replace(request, answer=replace(request.answer, schema=schema))


@lru_cache(maxsize=256)
def _capped(schema: bytes, text: int | None, entries: int | None, agents: int) -> Mapping[str, Any]:
    whole = orjson.loads(schema)
    definitions = whole.get("$defs", {})

    def cap(part: Any, wanted: bool = False) -> Any:
        if isinstance(part, list):
            return [cap(inner, wanted) for inner in part]
        if not isinstance(part, dict):
            return part
        found = {key: cap(inner, wanted or key == _AS_WANTED) for key, inner in part.items()}
        kind = part.get("type")
        if kind == "string" and text is not None and not _CHOICES & part.keys():
            found["maxLength"] = _least(part, "Length", text)
        if kind == "array" and entries is not None and "prefixItems" not in part:
            items = part.get("items", {})
            items = definitions[items["$ref"].rpartition("/")[2]] if "$ref" in items else items
            keys = [form.get("properties", {}).keys() for form in items.get("anyOf", [items])]
            if all({"agent", "plan"} <= own for own in keys):
                found.setdefault("maxItems", max(entries, agents))
            elif wanted or (not all("agent" in own for own in keys) and not _CHOICES & items.keys()):
                found["maxItems"] = _least(part, "Items", entries)
        return found

    capped: Mapping[str, Any] = cap(whole)
    return capped


def _least(part: Mapping[str, Any], size: str, cap: int) -> int:
    """Return the upper bound of a size: the smaller of the cap and the existing bound, but at least the lower bound."""
    return max(min(int(part.get(f"max{size}", cap)), cap), int(part.get(f"min{size}", 0)))

"""What a request holds beside the fields that all providers share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def with_extra(body: Mapping[str, Any], extra: Mapping[str, Any] | None) -> dict[str, Any]:
    """Put the fields of `llm.extra_body` into the body of a request; maps within one another are joined.

    What the body has already stays as it is.
    """
    joined = dict(body)
    for key, value in (extra or {}).items():
        own = joined.get(key)
        if isinstance(own, Mapping) and isinstance(value, Mapping):
            joined[key] = with_extra(own, value)
        else:
            joined.setdefault(key, value)
    return joined

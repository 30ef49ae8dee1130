"""Where the language models of a recorded configuration are: the providers as tables call them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from quorum.agents.llm.prices import provider_name


def providers_of(configuration: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the providers of all models of a configuration, each once; it may be a stranger's, or of any version."""
    llm = configuration.get("llm")
    if not isinstance(llm, Mapping):
        return ()
    return tuple(dict.fromkeys(_name({**llm, **own}) for own in ({}, *_own(llm))))


def _own(llm: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield what differs of the models of agents and roles; a fallback is named where it has answered."""
    for group in ("agents", "roles"):
        found = llm.get(group)
        for own in found.values() if isinstance(found, Mapping) else ():
            if isinstance(own, Mapping):
                yield own


def _name(values: Mapping[str, Any]) -> str:
    name, model, address = (str(values.get(key) or "") for key in ("name", "model", "base_url"))
    try:
        return provider_name(name, model, address or None)
    except ValueError:  # no address
        return name

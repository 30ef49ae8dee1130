"""The values of a configuration with their dotted keys."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any


def leaves(value: Any, key: str = "") -> Iterator[tuple[str, Any]]:
    """Yield every value that is neither a map nor a list, with its dotted key.

    Args:
        value: the configuration, or a part of it.
        key: dotted key of the part.
    """
    if isinstance(value, Mapping):
        for name, part in value.items():
            yield from leaves(part, f"{key}.{name}".lstrip("."))
    elif isinstance(value, list):
        for index, part in enumerate(value):
            yield from leaves(part, f"{key}.{index}")
    else:
        yield key, value


def texts(value: Any) -> Iterator[tuple[str, str]]:
    """Yield every string in a configuration, with its dotted key."""
    return ((key, leaf) for key, leaf in leaves(value) if isinstance(leaf, str))


def dotted(configuration: Any, prefix: str = "") -> Iterator[str]:
    """Yield the dotted key of every value, including maps."""
    for key, value in configuration.items() if isinstance(configuration, Mapping) else ():
        yield f"{prefix}{key}"
        yield from dotted(value, f"{prefix}{key}.")

"""The extensions that ship with the loop, one folder each. Nothing else in `maeil` imports one of them by name."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

SHIPPED = tuple(sorted(file.parent.name for file in Path(__file__).parent.glob("*/__init__.py")))
"""Names of the extensions."""


@cache
def load_parts(part: str) -> None:
    """Import a module of each extension that has it: `events` registers its events, `metrics` its metrics."""
    for name in SHIPPED:
        if find_spec(f"{__name__}.{name}.{part}") is not None:
            import_module(f"{__name__}.{name}.{part}")

"""Asks a server for every page that it may have."""

from __future__ import annotations

import random
from pathlib import Path
from urllib.error import HTTPError
from urllib.parse import quote
from urllib.request import urlopen

from quorum.view.viewer.library import Library
from quorum.view.viewer.server import Served
from tests.hostile.commands import CPU_SECONDS

_ROUTES = Served(Library(Path())).app().routes
_ASKED = 6
"""How often a server is asked for each sort of page."""


def visit(address: str, home: Path) -> list[str]:
    """Ask a server for every page that it may have; return status, path and content of its answers."""
    names = {path.name for path in home.rglob("*") if path.is_dir()} or {""}
    digests = {path.stem for path in home.rglob("*.png")} or {"0" * 64}
    fields = {"t": ["0", "1"], "number": ["0"], "digest": digests, "name": names, "one": names, "other": names}
    answers = []
    for route in _ROUTES:
        path: str = route.path.replace(":int", "")  # type: ignore[attr-defined] # all of them have one
        for number in range(_ASKED if "{" in path else 1):
            chance = random.Random(number)
            values = {field: quote(chance.choice(sorted(some)), safe="") for field, some in fields.items()}
            try:
                with urlopen(address + path.format(**values).lstrip("/"), timeout=CPU_SECONDS) as answer:
                    answers.append(f"{answer.status} {path} {answer.read().decode('utf-8', 'replace')}")
            except HTTPError as error:
                answers.append(f"{error.code} {path} {error.read().decode('utf-8', 'replace')}")
            except OSError as error:
                answers.append(f"599 {path} no answer: {error}")
    return answers

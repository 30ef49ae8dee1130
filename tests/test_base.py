"""What worlds, agents and experiments use apart from the loop imports nothing of the loop."""

from __future__ import annotations

import pytest

from tests.conftest import ROOT
from tests.test_imports import modules

FOUNDATION = {
    "compilation", "digests", "drawing", "environments", "exits", "forks", "inside", "names", "ngrams", "painting",
    "registry", "seeds", "stopwatches", "together", "user_cache", "user_errors",
}  # fmt: skip
"""Modules and packages of `maeil`."""


def beyond(source: str) -> list[str]:
    """Return the imports of `maeil` that leave the foundation."""
    names = [name.split(".") for _, name in modules(source)]
    return [".".join(name) for name in names if name[0] == "maeil" and not FOUNDATION.intersection(name[1:2])]


@pytest.mark.parametrize("name", sorted(FOUNDATION))
def test_a_part_of_the_foundation_imports_nothing_of_the_loop(name: str) -> None:
    package = ROOT / "maeil" / name
    files = sorted(package.rglob("*.py")) if package.is_dir() else [package.with_suffix(".py")]
    assert files
    assert [(file.name, found) for file in files for found in beyond(file.read_text(encoding="utf-8"))] == []


def test_an_import_of_the_loop_is_found() -> None:
    assert beyond("from maeil.errors import EpisodeStop\nfrom quorum_base.exits import Stop") == [
        "maeil.errors.EpisodeStop"
    ]
    assert beyond("import maeil\nimport numpy") == ["maeil.*"]

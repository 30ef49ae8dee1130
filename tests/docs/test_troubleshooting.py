"""The messages that the page on troubleshooting explains are those that Quorum gives."""

from __future__ import annotations

import re

import pytest

from tests.conftest import ROOT

PAGE = (ROOT / "docs" / "troubleshooting.md").read_text(encoding="utf-8")
MESSAGES = re.findall(r"^\| `([^`]+)` \|", PAGE, re.MULTILINE)
NOT_OURS = {"quorum: command not found"}
PACKAGES = ("quorum", "quorum_base", "maeil", "pettingzoo_env")


@pytest.fixture(scope="module")
def sources() -> str:
    files = [
        ROOT / "Makefile",
        ROOT / "quorum_harness.py",
        *(file for package in PACKAGES for file in (ROOT / package).rglob("*.py")),
    ]
    return "\n".join(file.read_text(encoding="utf-8") for file in files)


@pytest.mark.parametrize("message", sorted(set(MESSAGES) - NOT_OURS))
def test_an_explained_message_is_one_that_is_given(message: str, sources: str) -> None:
    parts = [part.strip() for part in message.split("...") if part.strip()]
    assert parts
    assert [part for part in parts if part not in sources] == []

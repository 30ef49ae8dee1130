"""The glossary of metrics says of each what it is, and the page of the guide is the glossary."""

from __future__ import annotations

import subprocess
import sys

import pytest

from quorum.configuration.glossary import as_text, glossary
from quorum_base.user_errors import UserError
from tests.conftest import ROOT, Quorum


def test_every_metric_has_words() -> None:
    entries = glossary()
    assert len(entries) > 100
    for entry in entries:
        assert entry["description"], entry["name"]


def test_the_page_of_the_guide_is_the_glossary() -> None:
    """`python -m quorum.configuration.glossary > docs/metrics.md` writes it."""
    command = [sys.executable, "-m", "quorum.configuration.glossary"]
    printed = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=True).stdout
    assert (ROOT / "docs" / "metrics.md").read_text(encoding="utf-8") == printed
    assert "| `outcome.steps` | environment steps; lower is better |" in printed


def test_a_group_is_listed_by_itself_and_a_wrong_one_is_named(quorum: Quorum) -> None:
    assert {entry["name"].partition(".")[0] for entry in glossary("outcome")} == {"outcome"}
    with pytest.raises(UserError, match="Did you mean 'outcome'"):
        glossary("outcom")
    done = quorum("list", "metrics.outcome")
    assert done.returncode == 0
    assert "outcome.steps  (environment steps, lower is better)" in done.stdout
    assert max(map(len, as_text(glossary(), 80).splitlines())) <= 120

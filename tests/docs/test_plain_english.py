"""No tracked text file contains a phrase that the style guide replaces.

The phrases are joined from parts, so that this file does not contain them. A few words are correct English in some
places: `ALLOWED` names the pattern of those lines.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from tests.conftest import ROOT

PARTS: tuple[tuple[str, ...], ...] = (
    ("men", "ded"),
    ("an", "ew"),
    ("be", "side"),
    ("te", "lls"),
    ("to", "ld"),
    ("the", "irs"),
    ("be", "gun"),
    ("pro", "mised"),
    ("the be", "gin of"),
    ("of its", " own"),
    ("who knows", " better"),
    ("what can be", " another"),
    ("is an", "other"),
    ("stands?", " behind"),
    ("counts for", " nothing"),
    ("that there", " (?:are|is)"),
    ("stran", "gers?(?:'s)?"),
    ("runs of which", " that is known"),
    ("can be to", "ld from chance"),
)
PHRASES = re.compile("|".join(rf"\b{''.join(part)}\b" for part in PARTS), re.IGNORECASE)
ALLOWED = re.compile(
    "|".join(
        (
            r"\b(?:has|have|had)(?: not)? be" + r"gun\b",  # the participle after an auxiliary
            r"V-STRAN" + r"GER",  # the code of a rule, in recorded traces
            r"I plan an" + r"ew by",  # what simulated agents say, in recorded traces; so are the next two
            r"you last began an" + r"ew",  # what healers say, in recorded traces
            r"(?:the leader|I was) to" + r"ld",
            r"has to" + r"ld of its",
            r"[Bb]e" + r"side a (?:table|furnace)",  # words of prompts, whose lengths traces record; so are the next
            r"(?:not|were) to" + r"ld",
            r"[Bb]e" + r"side (?:you|its station|an agent|other packages)",
            r"/?be" + r"side-others|/be" + r"side\b|\[be" + r"side\]",  # a script and its folder
            r"\"?\bto" + r"ld(?:\"|=|`|\[|\)|: | \(list| not in| or \()",  # a field of branches, in files
            r"(?:def |\.)to" + r"ld\b",
            r"leader has to" + r"ld",
            r"and te" + r"lls those after|each of them te" + r"lls|is an" + r"other draw",
        )
    )
)
SUFFIXES = {".md", ".py", ".yaml", ".yml", ".jinja", ".html", ".js", ".css", ".toml", ".txt", ".ipynb", ".cff", ""}
CLEAN = (
    "docs", "README.md", "CHANGELOG.md", "CONTRIBUTING.md", "CITATION.cff", "mkdocs.yml", "pyproject.toml", ".github",
    "Makefile", ".ci", "agents", "benchmarks", "cli.py", "configs", "crafter_env", "cube_env", "examples",
    "experiments", "lbf_env", "llamac_env", "maeil", "overcooked_env", "quorum", "quorum_harness.py", "topologies",
    "prompts/baselines", "prompts/crafter", "prompts/cube", "prompts/drwell", "prompts/foraging", "prompts/llamac",
    "prompts/overcooked", "prompts/roles", "prompts/squeeze", "prompts/transport", "tests",
)  # fmt: skip
"""What is checked. Other prompts are not, because recorded traces hold their lengths."""
OPEN = ("docs/metrics.md", "configs/extension", "tests/traces")
"""What is left out: these files follow from code or from recorded runs."""


def _files() -> list[str]:
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split(
        "\n"
    )
    return [
        name
        for name in listed
        if name
        and Path(name).suffix in SUFFIXES
        and (ROOT / name).is_file()
        and name.startswith(CLEAN)
        and not name.startswith(OPEN)
    ]


@pytest.mark.parametrize("area", CLEAN)
def test_no_file_has_a_phrase_that_the_style_guide_replaces(area: str) -> None:
    found = []
    for name in _files():
        if not name.startswith(area):
            continue
        for number, line in enumerate((ROOT / name).read_text(encoding="utf-8").splitlines(), 1):
            found += [f"{name}:{number}: {hit[0]}" for hit in PHRASES.finditer(ALLOWED.sub("", line))]
    assert found == []


@pytest.mark.parametrize("line", ["Fixed.", "The kitten sat.", "It has " + "be" + "gun."])
def test_plain_lines_pass(line: str) -> None:
    assert not PHRASES.search(ALLOWED.sub("", line))


@pytest.mark.parametrize("line", ["It " + "te" + "lls.", "Be" + "side it.", "The file of a stran" + "ger's run"])
def test_phrases_are_found(line: str) -> None:
    assert PHRASES.search(line)

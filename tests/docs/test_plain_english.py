"""No tracked text file contains a phrase that the style guide replaces.

The phrases are joined from parts, so that this file does not contain them. A few words are correct English in some
places: `ALLOWED` names the pattern of those lines. `GRAMMAR` adds constructions that no native author would use; it
applies to the files in `EDITED`.
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
    "Makefile", ".ci", "benchmarks", "crafter_env", "cube_env", "examples", "integrations", "lbf_env", "llamac_env",
    "maeil", "overcooked_env", "quorum", "tests",
)  # fmt: skip
"""Files and folders to check."""
OPEN = (
    "docs/metrics.md",
    "quorum/what_if/prompts/blame",
    "quorum/prompts/common",
    "quorum/methods/prompts/tom",
    "tests/traces",
)
"""Files to skip: code or recorded runs determine their text."""
CONSTRUCTIONS = (
    r"(?:is|are|was|were|be|been|being) (?:not )?ask" + r"ed",  # say who does what: the model answers
    r"in the pla" + r"ce of",  # instead of
    r"what (?:came|comes|became|becomes) o" + r"f",  # the result, the outcome, the fate
    r"(?:what|where|as) there (?:is|are)",  # name the thing; if there is
    r"by what (?:it|they) (?!predict)",  # from its observation
    r"(?:with|for|by|those|one|somebody|anybody) who" + r"m",  # name the participants
    r"(?:those|one)(?: \w+)? wh" + r"o\b",  # agents that
    r"(?<!the )other" + r"s'(?= \w)",  # of the others
    r"(?:is|are) shown (?:the|all|its|itself|what|why)",  # sees
    r"in va" + r"in",  # without success
    r"be i" + r"t\b",  # of any kind
    r"go(?:es)? o" + r"n (?:with|as|from|to)",  # continues
)
GRAMMAR = re.compile("|".join(rf"\b(?:{construction})" for construction in CONSTRUCTIONS), re.IGNORECASE)
QUOTED = re.compile(r"`go on with: quorum|agents that wait in va" + r"in")
"""Words of the product and of personas in prompts."""
EDITED = (
    "docs", "README.md", "CONTRIBUTING.md", "mkdocs.yml", ".github", "benchmarks", "examples/README.md",
    "examples/configs", "examples/first_look.ipynb", "quorum/configs", "quorum/view/viewer/static",
)  # fmt: skip
GENERATED = "<!-- From here on, docs/api/events.py writes this page. -->"
"""The rest of such a page comes from docstrings."""


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


@pytest.mark.parametrize("area", EDITED)
def test_no_edited_file_has_a_construction_that_hides_who_does_what(area: str) -> None:
    found = []
    for name in _files():
        if not name.startswith(area):
            continue
        text = (ROOT / name).read_text(encoding="utf-8").partition(GENERATED)[0]
        for number, line in enumerate(text.splitlines(), 1):
            found += [f"{name}:{number}: {hit[0]}" for hit in GRAMMAR.finditer(QUOTED.sub("", line))]
    assert found == []


@pytest.mark.parametrize(
    "line",
    [
        "Before the branch point, no model is ask" + "ed: recorded answers are replayed.",
        "what is read in the pla" + "ce of a message",
        "All share a world model of what was tried and what came o" + "f it.",
        "It takes over wher" + "e there are no fields.",
        "Minds of rules alone plan again by wh" + "at they see.",
        "| mind | with who" + "m | why |",
        "what those lose wh" + "o load a food",
        "it sees the last proposals, other" + "s' and its own",
        "An agent is show" + "n itself and the nearest others.",
        "Waiting at a rendezvous in va" + "in is a failed attempt.",
        "whether something exists, be i" + "t no file",
        "The agent goes o" + "n with its plan.",
    ],
)
def test_constructions_are_found(line: str) -> None:
    assert GRAMMAR.search(QUOTED.sub("", line))


@pytest.mark.parametrize(
    "line", ["who writes to whom", "Quorum asks whether a team cooperates.", "the others' actions"]
)
def test_plain_constructions_pass(line: str) -> None:
    assert not GRAMMAR.search(QUOTED.sub("", line))


@pytest.mark.parametrize("line", ["Fixed.", "The kitten sat.", "It has " + "be" + "gun."])
def test_plain_lines_pass(line: str) -> None:
    assert not PHRASES.search(ALLOWED.sub("", line))


@pytest.mark.parametrize("line", ["It " + "te" + "lls.", "Be" + "side it.", "The file of a stran" + "ger's run"])
def test_phrases_are_found(line: str) -> None:
    assert PHRASES.search(line)

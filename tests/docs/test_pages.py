"""The guide stays small enough to read, and its search finds pages by the words that a newcomer types."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
import yaml

from tests.conftest import ROOT

_DOCS = ROOT / "docs"
NAV = yaml.safe_load((ROOT / "mkdocs.yml").read_text("utf-8"))["nav"]


def pages(entry: object) -> Iterator[str]:
    """Return the pages of a part of the navigation."""
    match entry:
        case str():
            yield entry
        case list():
            for one in entry:
                yield from pages(one)
        case dict():
            for one in entry.values():
                yield from pages(one)


def test_the_guide_has_at_most_30_pages_and_reference_and_internals_are_apart() -> None:
    sections = {name: list(pages(part)) for section in NAV for name, part in section.items()}
    assert list(sections) == ["Guide", "Reference", "Internals"]
    assert len(sections["Guide"]) <= 30
    listed = [page for section in sections.values() for page in section]
    assert sorted(listed) == sorted(str(page.relative_to(_DOCS)) for page in _DOCS.rglob("*.md"))


@pytest.mark.parametrize(
    ("words", "page"),
    [("custom environment", "writing-a-world.md"), ("own model", "real-models.md"), ("cost", "sweeps.md")],
)
def test_the_title_of_the_right_page_has_the_words_of_a_search(words: str, page: str) -> None:
    """Search ranks titles far above text."""
    found = [
        path.name
        for path in _DOCS.glob("*.md")
        if {*words.split()} <= {*re.findall(r"\w+", path.read_text("utf-8").partition("\n")[0].lower())}
    ]
    assert found == [page]


def test_the_front_page_shows_a_picture() -> None:
    [picture] = re.findall(r"!\[[^\]]+\]\(([^)]+)\)", (_DOCS / "index.md").read_text("utf-8"))
    assert (_DOCS / picture).is_file()

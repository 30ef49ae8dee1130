"""The code on the pages about components of your own is what `quorum new` writes."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from maeil import Draft, Message, TaskState, Thought, Transition, View, World
from quorum.new.package import write_package
from tests.conftest import ROOT

PAGES = {
    "writing-a-world.md": ("world", "doors"),
    "writing-a-mind.md": ("mind", "chooser"),
    "writing-a-topology.md": ("topology", "pairs"),
    "comparing.md": ("metric", "questions"),
}


@pytest.mark.parametrize("page", PAGES)
def test_every_snippet_is_in_the_package(page: str, tmp_path: Path) -> None:
    kind, name = PAGES[page]
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    assert f"\nquorum new {kind} {name}\n" in text
    write_package(kind, name, tmp_path)
    written = "\n".join(file.read_text(encoding="utf-8") for file in tmp_path.rglob("*.py"))
    blocks = re.findall(r"^```python\n(?!# \w+\.py\n)(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    assert blocks
    assert [block for block in blocks if block not in written] == []


def test_the_page_names_every_member_of_a_world_and_of_a_view() -> None:
    """So nobody has to look them up in the code; those that are left out are for records and extensions."""
    worlds, minds = ((ROOT / "docs" / f"writing-a-{kind}.md").read_text(encoding="utf-8") for kind in ("world", "mind"))
    contract = {*World.__annotations__, *(name for name in vars(World) if not name.startswith("_"))}
    expected = {
        worlds: contract | Transition.__annotations__.keys() | TaskState.__annotations__.keys(),
        minds: View.__annotations__.keys() | Message.__annotations__.keys() | Draft.__annotations__.keys()
        | Thought.__annotations__.keys(),
    }  # fmt: skip
    for page, names in expected.items():
        assert {name for name in names if not re.search(rf"`[^`\n]*\b{name}\b[^`\n]*`", page)} <= {
            "id",
            "calls",
            "answers",
            "literal",
        }

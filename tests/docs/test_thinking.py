"""The page on providers says about thinking what the tables of the code say."""

from __future__ import annotations

import re

from quorum.agents.llm.protocol import ThinkingEffort as Effort
from quorum.agents.llm.protocol import ThinkingFormat
from quorum.agents.llm.providers.thinking import ROOM
from tests.conftest import ROOT

PAGE = (ROOT / "docs" / "providers.md").read_text(encoding="utf-8")
TABLES = (ROOT / "quorum" / "agents" / "llm" / "models.yaml").read_text(encoding="utf-8")
SECTION = PAGE.partition("## Models that think\n")[2].partition("\n## ")[0]


def test_the_page_has_every_level_with_its_room() -> None:
    words = " ".join(SECTION.split())
    assert [level for level in Effort if ROOM[level] and f"{ROOM[level]:,} (`{level}`)" not in words] == []


def test_the_page_has_every_dialect_and_the_date_of_the_table() -> None:
    chosen = set(ThinkingFormat) - {ThinkingFormat.AUTO, ThinkingFormat.OPENAI, ThinkingFormat.LITELLM}
    assert [dialect for dialect in chosen if f"`thinking_format={dialect}`" not in SECTION] == []
    read = re.search(r"^# Families(?s:.*?)read on\W+([\d-]+):", TABLES, re.MULTILINE)
    assert read is not None
    assert read[1] in SECTION

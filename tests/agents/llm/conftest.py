"""Every test of language models has a canary for a key, and finds no address of a real provider."""

from __future__ import annotations

import pytest

from tests.agents.llm.wire import CANARY, KEY_VARIABLE


@pytest.fixture(autouse=True)
def _canary(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "OPENAI_BASE_URL", "ANTHROPIC_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv(KEY_VARIABLE, CANARY)

"""One study that many tests read."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.studies import play_study


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give the folder of a study of three arms, which must stay as it is."""
    return play_study(tmp_path_factory.mktemp("study") / "s", boards=2)

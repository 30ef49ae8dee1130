"""The world of the guide keeps the contract, by the check that the guide shows."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.conftest import ROOT, environment
from tests.docs.test_commands import files


def test_the_check_of_the_guide_passes(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "writing-a-world.md").read_text(encoding="utf-8")
    for name, content in files(page).items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(content)
    variables = environment()
    done = subprocess.run(
        [sys.executable, "-c", "from test_doors import *; test_doors_keep_the_contract()"],
        cwd=tmp_path,
        env=variables,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr

"""The snippets of the page for learners are one script, run from top to bottom."""

from __future__ import annotations

import re
import subprocess
import sys

from tests.conftest import ROOT, environment

PAGE = (ROOT / "docs" / "reinforcement-learning.md").read_text(encoding="utf-8")


def test_every_snippet_of_the_page_runs() -> None:
    snippets = re.findall(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    checks = [
        "assert observations.shape == (64, 2, 20) and windows.shape == (64, 2, 7, 7, 6) and state.shape == (64, 17)",
    ]
    script = "\n".join([*snippets[:2], *checks, *snippets[2:]])
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", script], env=environment(), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr

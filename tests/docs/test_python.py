"""The snippets of the page about Python are one script, run from top to bottom in an empty folder."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from tests.conftest import ROOT, environment

PAGE = (ROOT / "docs" / "python.md").read_text(encoding="utf-8")


def test_every_snippet_of_the_page_runs(tmp_path: Path) -> None:
    """As a plain script: its sweep starts workers, and nothing guards it against being run in them again."""
    script = tmp_path / "script.py"
    script.write_text("\n".join(re.findall(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)))
    done = subprocess.run(
        [sys.executable, str(script)], cwd=tmp_path, env=environment(), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "debate, n = 4: " in done.stdout
    assert "34 steps with another message" in done.stdout
    assert "66 steps" in done.stdout
    assert "verdict: " in done.stdout
    assert "Did you mean 'debate'?" in done.stdout
    assert "INFO:quorum.episode.parts:built cube-n2" in done.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["runs", "script.py"]

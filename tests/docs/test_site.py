"""The documentation site builds without a warning, and its pages load nothing from elsewhere."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT, environment

_LOADED = re.compile(r"""<(?:script|link|img|iframe|source)\b[^>]*?\b(?:src|href)=["']?((?:https?:)?//[^"'\s>]+)""")


@pytest.mark.claims
def test_the_site_builds_without_a_warning_and_loads_nothing_from_elsewhere(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(tmp_path)],
        cwd=ROOT,
        env=environment(NO_MKDOCS_2_WARNING="1"),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    pages = {str(page.relative_to(tmp_path)): page.read_text(encoding="utf-8") for page in tmp_path.rglob("*.html")}
    for name in ("maeil.World.reset", "cube_env.CubeEnv", "crafter_env.CrafterVecEnv", "llamac_env.Board.after"):
        assert f'id="{name}"' in pages[f"api/{name.partition('.')[0]}.html"], (
            "the reference shows public names and members"
        )
    assert {name: _LOADED.findall(text) for name, text in pages.items() if _LOADED.search(text)} == {}
    runs = sorted(name for name in pages if name.startswith("students/run/"))
    assert len(runs) == 400
    assert all('href="students/index.html"' in pages[page] for page in ("index.html", "viewer.html"))
    drawn = [name for name, text in pages.items() if 'class="mermaid"' in text]
    assert drawn == [], "the theme fetches Mermaid from the network"

"""Every command that the README and the guide show is run as it stands."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
QUICK = {"quorum bench cube": "quorum bench cube --quick"}
"""Commands that take minutes, and the trial of them that is run instead."""


def commands() -> list[str]:
    found = []
    for page in PAGES:
        for block in re.findall(r"```sh\n(.*?)```", page.read_text(encoding="utf-8"), flags=re.DOTALL):
            found += [line.split(" #")[0].strip() for line in block.splitlines() if line.startswith("quorum ")]
    return list(dict.fromkeys(found))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder like a checkout's, in which earlier commands have left their results for later ones."""
    folder = tmp_path_factory.mktemp("docs")
    shutil.copytree(ROOT / "docs" / "boards", folder / "docs" / "boards")
    return folder


@pytest.mark.parametrize("command", commands())
def test_a_command_of_the_documentation_works(command, folder):
    line = QUICK.get(command, command).replace("quorum", f"'{sys.executable}' -m cli", 1)
    done = subprocess.run(
        line,
        shell=True,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_there_are_commands_to_run():
    assert len(commands()) > 8

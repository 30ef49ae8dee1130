"""The walk through an episode in the guide is the real trace, line by line."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

from maeil.trace import read_trace
from tests.maeil.scripted import lines

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "maeil.md").read_text(encoding="utf-8")


def blocks(kind: str) -> list[str]:
    return re.findall(rf"```{kind}\n(.*?)```", PAGE, flags=re.DOTALL)


def test_the_page_shows_every_event_of_the_trace(tmp_path):
    [command] = [line for block in blocks("sh") for line in block.splitlines() if line.startswith("quorum run n=3")]
    arguments = shlex.split(command)[1:]
    run = [sys.executable, "-m", "quorum", *arguments, "--out", str(tmp_path), "--quiet"]
    subprocess.run(run, cwd=ROOT, check=True)
    [folder] = tmp_path.iterdir()
    kinds = ("stage", "message_sent", "messages_read", "action", "step")
    shown = [line for block in blocks("trace") for line in block.splitlines()]
    assert shown == lines(read_trace(folder).events, *kinds)

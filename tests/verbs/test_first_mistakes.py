"""Mistakes of the first hours: each message names the thing, its place and the way out.

`first_mistakes.yaml` has a row for each, with a fragment of the message for each mark, empty where it deserves none.
"""

from __future__ import annotations

import shlex
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
import yaml

from quorum import api
from tests.conftest import environment, forked

MISTAKES: list[dict[str, Any]] = yaml.safe_load(Path(__file__).with_name("first_mistakes.yaml").read_text("utf-8"))
MARKS = ("thing", "place", "way_out")
TEAM = ("agents=naive", "llm=simulated", "max_steps=3")


class Refusing(BaseHTTPRequestHandler):
    """A server that answers every request with the status at the start of its path."""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        answer = b'{"error": {"message": "no"}}'
        self.send_response(int(self.path.split("/")[1]))
        self.send_header("content-length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_: object) -> None:
        """Keep quiet."""


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Refusing) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_port
        server.shutdown()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder as it may look after three hours: a sweep, runs, archives, some of them damaged, and other things."""
    folder = tmp_path_factory.mktemp("first")
    runs, pilot = folder / "runs", folder / "runs" / "pilot"
    api.sweep("n=2", "topology=individual,debate", *TEAM, out=runs, name="pilot")
    one = next(pilot.glob("*debate*"))
    for name in ("one", "damaged"):
        shutil.copytree(one, runs / name)
    shutil.make_archive(str(folder / "pilot"), "zip", pilot)
    shutil.copytree(pilot, folder / "spoiled")
    for run in (runs / "damaged", folder / "spoiled" / one.name):
        trace = run / "trace.jsonl"
        trace.write_bytes(trace.read_bytes().replace(b'"event"', b"#event#", 9))
    shutil.make_archive(str(folder / "damaged"), "zip", folder / "spoiled")
    shutil.rmtree(folder / "spoiled")
    whole = (folder / "pilot.zip").read_bytes()
    (folder / "half.zip").write_bytes(whole[: len(whole) // 2])
    (folder / "empty").mkdir()
    (folder / "photos").mkdir()
    (folder / "photos" / "cat.jpg").write_bytes(b"")
    (folder / "notes").write_text("a file")
    return folder


def typed(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a command in a folder, without any key."""
    variables = {name: text for name, text in environment().items() if not name.endswith("_API_KEY")}
    program, *words = shlex.split(command)
    if program == "quorum":
        return forked(words, folder, variables)
    python = [sys.executable, *words]
    return subprocess.run(python, cwd=folder, env=variables, capture_output=True, text=True, check=False)


def message(mistake: dict[str, Any], folder: Path, port: int) -> subprocess.CompletedProcess[str]:
    """Prepare the folder of a mistake, and make it."""
    if before := mistake.get("before"):
        assert typed(before, folder).returncode == 0
    for name, text in mistake.get("files", {}).items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    for name, (right, wrong) in mistake.get("change", {}).items():
        text = (folder / name).read_text()
        assert right in text
        (folder / name).write_text(text.replace(right, wrong))
    return typed(mistake["command"].replace("PORT", str(port)), folder)


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake["command"])
def test_a_first_mistake_is_answered_with_the_thing_its_place_and_the_way_out(
    mistake: dict[str, Any], folder: Path, port: int, tmp_path: Path
) -> None:
    shutil.copytree(folder, tmp_path, dirs_exist_ok=True)
    answer = message(mistake, tmp_path, port)
    said = answer.stderr.replace(str(port), "PORT")
    assert answer.returncode == mistake.get("exit_code", 2), said
    for mark in MARKS:
        assert str(mistake[mark] or "") in said


def test_messages_have_nearly_all_marks() -> None:
    assert len({mistake["command"] + str(mistake.get("change", mistake.get("files"))) for mistake in MISTAKES}) >= 45
    marks = [sum(bool(mistake[mark]) for mark in MARKS) for mistake in MISTAKES]
    assert sum(marks) / len(marks) >= 2.8

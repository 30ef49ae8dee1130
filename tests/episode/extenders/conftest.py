"""Types commands in this process, in a folder of somebody who extends Quorum, and forgets their plug-ins again."""

from __future__ import annotations

import shlex
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from maeil.metrics import METRICS
from quorum.agents.skills import skills
from quorum.cli import main
from quorum.comparison.figures import FIGURES
from quorum.configuration import plugins
from quorum.configuration.registry import REGISTRIES, engines, extensions
from tests.episode.extenders.sound import FILES

HERE = "HERE"
"""Ends the line that a message names."""


@dataclass(frozen=True)
class Done:
    """What a command came to."""

    code: int
    out: str
    err: str


Typed = Callable[[str], Done]


def write(folder: Path, files: Mapping[str, str]) -> None:
    """Write files into a folder."""
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")


def wrong(file: str, changes: Mapping[str, str], at: str = "") -> dict[str, str]:
    """Return a sound file with changes.

    Args:
        file: its name.
        changes: texts that are there once, and what stands in their place.
        at: the line that a message names, if none of the changes marks one.
    """
    text = FILES[file]
    for old, new in {**({at: f"{at}  # {HERE}"} if at else {}), **changes}.items():
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    return {file: text}


def place(files: Mapping[str, str]) -> str:
    """Return the place that a message must name, `file:line`; empty where no line is marked."""
    marked = (
        f"{name}:{number}"
        for name, text in files.items()
        for number, line in enumerate(text.splitlines(), 1)
        if HERE in line
    )
    return next(marked, "")


def assert_reported(done: Done, files: Mapping[str, str], reported: tuple[str, ...], code: int) -> None:
    """Check that a command has reported a mistake once, with its place, and without a frame of ours."""
    assert done.code == code, done
    text = done.err + done.out
    assert text.count("error: ") <= 1
    assert "Traceback" not in text
    assert 'File "' not in text
    assert place(files) in text, text
    for words in reported:
        assert words in text, text


@pytest.fixture
def typed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Iterator[Typed]:
    """Type a command in a folder with a sound plug-in of each kind; what it registers is forgotten afterwards."""
    write(tmp_path, FILES)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [path for path in sys.path if path])
    monkeypatch.setattr(warnings, "showwarning", warnings.showwarning)
    for registry in (*REGISTRIES, engines, extensions, skills):
        monkeypatch.setattr(registry, "_registered", dict(registry._registered))
    monkeypatch.setattr(plugins, "_of_unknown_effect", [])
    for registered in (METRICS, FIGURES):
        monkeypatch.setattr(registered, "_things", dict(registered._things))
    before = set(sys.modules)

    def run(command: str) -> Done:
        monkeypatch.setattr(sys, "argv", ["quorum", *shlex.split(command)])
        with pytest.raises(SystemExit) as ended:
            main()
        shown = capsys.readouterr()
        return Done(int(ended.value.code or 0), shown.out, shown.err)

    yield run
    for name in set(sys.modules) - before:
        if str(tmp_path) in str(getattr(sys.modules[name], "__file__", "")):
            del sys.modules[name]

"""Folders of runs and sweeps may be untrusted: they are read and written through one door, and nothing goes past it.

`RunFiles` reads, `quorum_base.inside` and `write_all` write. A bare `open`, `read_text`, `mkdir` and so on would follow
links and wait for pipes; so none stands in `quorum/` outside of the minds, but for what is never such a folder.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]

OTHER_FOLDERS = {
    "quorum/storage/files.py": "makes the folder that the user names, and syncs it",
    "quorum/installation/packages.py": "metadata of installed distributions",
    "quorum/storage/run_files.py": "reads from what the door has opened",
    "quorum/display/terminal.py": "the null device",
    "quorum/configuration/catalogue.py": "the user's own configuration",
    "quorum/configuration/option_files.py": "the user's own configuration",
    "quorum/configuration/package_files.py": "the source of a plug-in, which is run anyway",
    "quorum/configuration/providers/config.py": "a table of ours",
    "quorum/episode/episode_folder.py": "makes the folder of an episode, under a random name",
    "quorum/episode/rehearsal.py": "the cache of kernels",
    "quorum/view/export/command.py": "what the user names, from a temporary folder",
    "quorum/view/replay/figures.py": "a style sheet of ours",
    "quorum/view/export/hf.py": "a temporary folder",
    "quorum/what_if/preferences/command.py": "a temporary folder",
    "quorum/view/export/inspect_log.py": "a temporary folder",
    "quorum/view/export/otlp.py": "a temporary folder",
    "quorum/view/export/parquet.py": "a temporary folder",
    "quorum/view/export/who_when.py": "a temporary folder",
    "quorum/train/sft.py": "a temporary folder",
    "quorum/new/package.py": "templates of ours, and the folder that the user names",
    "quorum/study/reproduce/figure_file.py": "files of ours",
    "quorum/study/bundle.py": "reads from what the door has opened",
    "quorum/study/donors.py": "a temporary folder, and what the user names",
    "quorum/study/control/arms.py": "what the user names",
    "quorum/study/question.py": "files of ours",
    "quorum/runs/archives.py": "a temporary folder",
    "quorum/runs/sql.py": "a temporary folder",
    "quorum/sweeps/experiment_file.py": "the user's own configuration",
    "quorum/view/viewer/command.py": "a temporary folder",
    "quorum/view/viewer/page.py": "files of ours",
    "quorum/view/viewer/site.py": "what the user names, from a temporary folder",
}  # fmt: skip
"""The modules that open files elsewhere, and what those are."""

MINDS = {"agents", "llamac_worlds", "methods", "open_world", "other_worlds", "topologies"}
"""The folders that have nothing to do with folders of runs."""
OF_PATHS = {
    "read_text", "read_bytes", "write_text", "write_bytes", "touch", "mkdir", "unlink", "rmdir", "rename", "symlink_to",
    "hardlink_to", "rmtree", "copy", "copy2", "copyfile", "copytree", "move",
}  # fmt: skip
OF_OS = {"open", "mkdir", "makedirs", "rename", "renames", "replace", "remove", "unlink", "rmdir", "link", "symlink"}
OF_SHUTIL = {"rmtree", "copy", "copy2", "copyfile", "copytree", "move"}


def opens(call: ast.Call) -> bool:
    """Whether a call opens, makes, names or removes a file past the door."""
    match call.func:
        case ast.Name(id="open"):
            return True
        case ast.Attribute(value=ast.Name(id="os"), attr=name):
            return name in OF_OS
        case ast.Attribute(value=ast.Name(id="shutil"), attr=name):
            return name in OF_SHUTIL
        case ast.Attribute(attr="open"):  # of a path: `Parent.open(run)` and the like take something else
            return all(isinstance(given, ast.Constant) for given in call.args)
        case ast.Attribute(attr="replace"):  # that of a text takes two
            return len(call.args) == 1 and not call.keywords
        case ast.Attribute(attr=name):
            return name in OF_PATHS - OF_SHUTIL
    return False


def places(source: str) -> Iterator[int]:
    """Yield the lines in which a module opens files past the door."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and opens(node):
            yield node.lineno


def modules() -> Iterator[tuple[str, Path]]:
    """Yield the modules that this is about."""
    for folder in sorted((ROOT / "quorum").iterdir()):
        for file in sorted(folder.rglob("*.py") if folder.name not in MINDS else ()):
            yield file.relative_to(ROOT).as_posix(), file


def test_no_module_goes_past_the_door() -> None:
    found = {name: list(places(file.read_text())) for name, file in modules()}
    past = {name: lines for name, lines in found.items() if lines and name not in OTHER_FOLDERS}
    assert not past, f"read with RunFiles, write with write_all or quorum_base.inside: {past}"
    assert not {name for name in OTHER_FOLDERS if not found[name]}, "these need no exception any more"


@pytest.mark.parametrize(
    "line",
    [
        "open(file)",
        "os.open(file, 0)",
        "file.open()",
        "file.open('rb')",
        "file.open(mode='w')",
        "file.read_text(encoding='utf-8')",
        "(folder / name).write_bytes(data)",
        "file.touch()",
        "passing.replace(target)",
        "os.replace(passing, target)",
        "shutil.rmtree(folder)",
        "folder.mkdir(parents=True)",
    ],
)
def test_the_ways_past_it_are_seen(line: str) -> None:
    assert list(places(line)) == [1]


@pytest.mark.parametrize("line", ["Parent.open(run)", "text.replace('a', 'b')", "files.read(name, most)", "os.stat(f)"])
def test_what_opens_no_file_is_none_of_them(line: str) -> None:
    assert list(places(line)) == []

"""A checkout of the core alone: without the folders of satellites and their worlds, with the tests that need neither.

python -m tests.core_alone FOLDER    # makes one; then run `python -m pytest` in it
"""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

from tests.test_imports import ROOT, SATELLITES, WORLDS, modules

GONE = (*(f"quorum/{name}" for name in SATELLITES), *(world for world, part in WORLDS.items() if part != "core"))
KEPT = ("quorum_harness.py", "pyproject.toml", "README.md", "CONTRIBUTING.md", "CHANGELOG.md", "mkdocs.yml", "docs")
KEPT += ("quorum", "quorum_base", "maeil", "cube_env", "benchmarks", "examples", "tests", "constraints.txt")
LINKS = ("agents", "topologies", "configs", "prompts", "cli.py")
WHOLE = (
    "benchmarks", "configuration/test_glossary.py", "docs", "episode/extenders", "examples", "hostile",
    "maeil/test_metrics.py", "pages", "real_model", "storage/test_outputs.py", "test_cli.py", "test_cli_help.py",
    "test_full_disk.py", "tools", "traces",
)  # fmt: skip
"""Tests of the whole: of all verbs, all metrics, all pages."""


def make(target: Path) -> None:
    """Copy the checkout without satellites, and without the tests that need one."""
    target.mkdir(parents=True)
    ignored = shutil.ignore_patterns("__pycache__", *(Path(path).name for path in GONE))
    for name in KEPT:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, target / name, ignore=ignored, symlinks=True)
        else:
            shutil.copy(ROOT / name, target / name)
    for name in LINKS:
        (target / name).symlink_to(f"quorum/{name}")
    for test in needy_tests():
        (target / test).unlink(missing_ok=True)


def needy_tests() -> list[Path]:
    """Return the tests that name a satellite, its options or its verbs, and those that import such a test."""
    files = {file.relative_to(ROOT): file.read_text(encoding="utf-8") for file in (ROOT / "tests").rglob("*.py")}
    words = re.compile(r"|".join(_words()))
    whole = tuple(f"tests/{name}" for name in WHOLE)
    needy = {path for path, text in files.items() if words.search(text) or path.as_posix().startswith(whole)}
    while more := {path for path in files.keys() - needy if _imports(files[path], needy)}:
        needy |= more
    return sorted(needy - {Path("tests/conftest.py"), Path("tests/__init__.py")})


def _words() -> Iterator[str]:
    for part in GONE:
        yield rf"\b{re.escape(part).replace('/', '[./]')}\b"
    for name in SATELLITES:
        yield rf"\btests\.{name}\b"
        for file in (ROOT / "quorum" / name / "configs").glob("*/*.yaml"):
            yield rf"\b{file.parent.name}=[\w,]*\b{file.stem}\b"
            if file.parent.name in ("env", "agents", "llm"):
                yield rf"[\"']{file.stem}[\"']"
        for file in (ROOT / "quorum" / name).rglob("metrics.py"):
            yield rf"\b{file.parent.name}(\.|__)[a-z]+\b|\(\"\w+\", \"{file.parent.name}\""
        for file in (ROOT / "quorum" / name / "verbs").glob("*.py"):
            yield rf"\(\"{file.stem}\"|quorum {file.stem}\b"


def _imports(text: str, paths: set[Path]) -> bool:
    names = {".".join(path.with_suffix("").parts).removesuffix(".__init__") for path in paths}
    return any(f"{name}.".startswith(tuple(f"{one}." for one in names)) for _, name in modules(text))


if __name__ == "__main__":
    make(Path(sys.argv[1]))

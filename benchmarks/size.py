"""Counts the lines of the product, by part: Python, JavaScript, CSS, YAML and Jinja.

    python -m benchmarks.size            # each part, with its ceiling of tests/budget.toml
    python -m benchmarks.size methods    # each file of a part, the largest first

Blank lines, comments and docstrings do not count.
"""

from __future__ import annotations

import ast
import os
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BUDGET = ROOT / "tests" / "budget.toml"
WAY_OUT = (
    "take away as much, or raise the ceiling in tests/budget.toml with a line in docs/decisions.md "
    "that says what it bought"
)
COMMENTS = {
    ".py": ("#",),
    ".js": ("//", "/*", "*"),
    ".css": ("/*",),
    ".yaml": ("#",),
    ".yml": ("#",),
    ".jinja": ("{#",),
}
"""The start of a comment, by kind of counted file."""
_NOT_PRODUCT = {"tests", "benchmarks", "examples", "integrations", "docs", "runs", "site", "build", "dist"}


@dataclass(frozen=True, slots=True)
class Part:
    """A part of the product.

    Attributes:
        name: its name.
        ceiling: maximum number of lines.
        paths: its folders and files, as glob patterns below the root.
    """

    name: str
    ceiling: int
    paths: Sequence[str]


@dataclass(frozen=True, slots=True)
class Budget:
    """The ceilings of `budget.toml`."""

    whole: int
    parts: Sequence[Part]


def read_budget(file: Path = BUDGET) -> Budget:
    """Read the ceilings."""
    data = tomllib.loads(file.read_text(encoding="utf-8"))
    return Budget(data["whole"], [Part(name, **values) for name, values in data["parts"].items()])


def lines_of_code(file: Path) -> int:
    """Count the lines of a file except blank lines, comments and docstrings."""
    source = file.read_text(encoding="utf-8")
    marks = COMMENTS[file.suffix]
    counted = {
        n for n, line in enumerate(source.splitlines(), 1) if line.strip() and not line.lstrip().startswith(marks)
    }
    if file.suffix == ".py":
        for node in ast.walk(ast.parse(source)):
            if (
                isinstance(node, ast.Expr)
                and isinstance(node.value, ast.Constant)
                and isinstance(node.value.value, str)
            ):
                counted -= set(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return len(counted)


def product_files(root: Path = ROOT) -> Iterator[Path]:
    """Yield the files of the product that count. Links are skipped, because they repeat the folders below `quorum/`."""
    for top in sorted(path for path in root.iterdir() if path.is_dir() and not path.is_symlink()):
        if top.name in _NOT_PRODUCT or top.name.startswith("."):
            continue
        for folder, _, names in os.walk(top):
            files = (Path(folder, name) for name in sorted(names))
            yield from (file for file in files if file.suffix in COMMENTS and not file.is_symlink())


def parts_of(files: Iterator[Path], parts: Sequence[Part], root: Path = ROOT) -> dict[Path, list[str]]:
    """Return the parts that each file belongs to: those that name its longest matching path.

    So a part may name a folder, and another part a file in it. In a well-formed table, each file has one part.
    """
    named: dict[Path, set[str]] = {}
    for part in parts:
        for pattern in part.paths:
            for path in root.glob(pattern):
                named.setdefault(path, set()).add(part.name)
    found = {}
    for file in files:
        nearest = next((path for path in (file, *file.parents) if path in named), None)
        found[file] = sorted(named[nearest]) if nearest is not None else []
    return found


def count(parts: Sequence[Part], root: Path = ROOT) -> Counter[str]:
    """Count the lines of each part."""
    lines: Counter[str] = Counter({part.name: 0 for part in parts})
    for file, names in parts_of(product_files(root), parts, root).items():
        lines.update(dict.fromkeys(names, lines_of_code(file)))
    return lines


def excesses(budget: Budget, lines: Mapping[str, int]) -> list[str]:
    """Return a message for each ceiling that is exceeded."""
    ceilings = {part.name: part.ceiling for part in budget.parts} | {"the whole": budget.whole}
    counted = {**lines, "the whole": sum(lines.values())}
    return [
        f"{name} has {counted[name]:,} lines, {counted[name] - ceiling:,} above its ceiling of {ceiling:,}: {WAY_OUT}"
        for name, ceiling in ceilings.items()
        if counted[name] > ceiling
    ]


def main(arguments: Sequence[str]) -> None:
    """Print the lines of each part, or of each file of one part."""
    budget = read_budget()
    if not arguments:
        lines = count(budget.parts)
        for part in budget.parts:
            print(f"{lines[part.name]:7,} of {part.ceiling:6,}  {part.name}")
        print(f"{lines.total():7,} of {budget.whole:6,}  the whole")
        return
    owners = parts_of(product_files(), budget.parts)
    files = [(lines_of_code(file), file.relative_to(ROOT)) for file, names in owners.items() if arguments[0] in names]
    for number, path in sorted(files, reverse=True):
        print(f"{number:7,}  {path}")


if __name__ == "__main__":
    main(sys.argv[1:])

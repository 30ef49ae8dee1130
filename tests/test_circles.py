"""No product file imports itself by way of others, and no package does: imports go one way."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = (
    "crafter_env", "cube_env", "lbf_env", "llamac_env", "maeil", "overcooked_env", "pettingzoo_env", "quorum",
    "quorum_base",
)  # fmt: skip
NESTED = ("quorum.agents", "quorum.methods", "quorum.view", "quorum.what_if")
"""Packages whose subpackages must not import each other in a circle either."""

Graph = dict[str, set[str]]


def module_name(path: str) -> str:
    """Return the name by which a file, given from the root of the repository, is imported."""
    parts = Path(path).with_suffix("").parts
    parts = parts[:-1] if parts[-1] == "__init__" else parts
    return ".".join(parts)


def imported(source: str, module: str, modules: Iterable[str]) -> Iterator[str]:
    """Return the modules that a file imports, also those inside functions and for type checkers alone.

    Args:
        source: its text.
        module: its name; relative imports stand in the stub of a package only, and start from it.
        modules: all modules of the product.
    """
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Import(names=names):
                found = [alias.name for alias in names]
            case ast.ImportFrom(module=base, names=names, level=level):
                origin = ".".join(part for part in (module if level else "", base) if part)
                inside = {alias.name: f"{origin}.{alias.name}" for alias in names}
                found = [inside[name] if inside[name] in modules else origin for name in inside]
            case _:
                continue
        yield from (name for name in found if name in modules and name != module)


def graph(sources: Iterable[tuple[str, str]]) -> Graph:
    """Return which module imports which, from pairs of path and text."""
    named = [(module_name(path), text) for path, text in sources]
    modules: Graph = {module: set() for module, _ in named}
    for module, text in named:
        modules[module].update(imported(text, module, modules))
    return modules


def by_package(modules: Graph) -> Graph:
    """Return which package imports which: the top ones, and the subpackages of `NESTED`."""

    def package(module: str) -> str:
        parts = module.split(".")
        depth = 1 + (parts[0] == "quorum") + (".".join(parts[:2]) in NESTED)
        return ".".join(parts[:depth])

    packages: Graph = {}
    for module, targets in modules.items():
        packages.setdefault(package(module), set()).update(package(target) for target in targets)
    return {name: targets - {name} for name, targets in packages.items()}


def circle(found: Graph) -> list[str]:
    """Return one circle of a graph, its first node once more at the end; empty when there is none."""
    try:
        TopologicalSorter(found).prepare()
    except CycleError as error:
        return list(reversed(error.args[1]))
    return []


@cache
def product() -> Graph:
    """Return which module of the product imports which."""
    files: list[Path] = []
    for name in PACKAGES:
        files += [file for file in (ROOT / name).rglob("*.py*") if file.suffix in (".py", ".pyi")]
    return graph((str(file.relative_to(ROOT)), file.read_text(encoding="utf-8")) for file in sorted(files))


def test_no_file_imports_itself_by_way_of_others() -> None:
    assert circle(product()) == []


def test_no_package_imports_itself_by_way_of_others() -> None:
    assert circle(by_package(product())) == []


def test_the_whole_product_is_read() -> None:
    assert {"quorum.cli", "quorum.agents.llm.protocol", "cube_env", "maeil.world"} <= set(product())
    assert "maeil.plans" in product()["maeil.world"]


@pytest.mark.parametrize(
    "back",
    [
        "import maeil.a",
        "from maeil import a",
        "from maeil.a import A",
        "def f():\n    from maeil.a import A",
        "if TYPE_CHECKING:\n    from maeil.a import A",
        "from maeil import A",
    ],
)
def test_a_circle_of_files_is_found(back: str) -> None:
    stub = ("maeil/__init__.pyi", "from .a import A as A")
    files = [stub, ("maeil/a.py", "from maeil.b import B"), ("maeil/b.py", back)]
    found = circle(graph(files))
    assert found[0] == found[-1]
    assert {"maeil.a", "maeil.b"} <= set(found)


def test_a_circle_of_packages_is_found_where_no_file_has_one() -> None:
    modules = graph(
        [
            ("quorum/runs/a.py", "from quorum.view.viewer.b import B"),
            ("quorum/runs/c.py", ""),
            ("quorum/view/viewer/b.py", "from quorum.runs.c import C"),
        ]
    )
    assert circle(modules) == []
    assert len(circle(by_package(modules))) == 3

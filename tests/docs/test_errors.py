"""The page of errors shows the trees of exceptions as the code has them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

import pytest

from tests.conftest import ROOT
from tests.test_imports import _files

PAGE = (ROOT / "docs" / "errors.md").read_text(encoding="utf-8")
ROOTS = ("UserError", "LanguageModelError", "MaeilError", "WorldError")


def classes() -> Iterator[tuple[str, str, str]]:
    """Yield the name, the first base and the module of each public class of the product."""
    for file in _files():
        module = ".".join(file.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
        for node in ast.parse(file.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef) and node.bases and node.name[0] != "_":
                yield node.name, ast.unparse(node.bases[0]).rpartition(".")[2], module


def drawn(root: str) -> list[tuple[str, str, str]]:
    """Read a tree of the page: each class with its base and its module; the root's own base is empty."""
    (tree,) = re.findall(rf"^```text\n({root} .*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    above: list[str] = []
    found = []
    for line in tree.splitlines():
        branch, name, module = re.fullmatch(r"([│├└─ ]*)(\w+) +([\w.]+)", line).groups()  # type: ignore[union-attr]
        depth = len(branch) // 4
        above[depth:] = [name]
        found.append((name, above[depth - 1] if depth else "", module))
    return found


@pytest.mark.parametrize("root", ROOTS)
def test_a_tree_of_errors_is_that_of_the_code(root: str) -> None:
    shown = drawn(root)
    names = {name for name, _, _ in shown}
    below = {(name, base, module) for name, base, module in classes() if base in names}
    assert {row for row in shown if row[1]} == below
    assert [base for _, base, _ in shown[:1]] == [""]
    assert [row[0] for row in shown if row[1] == root] == sorted(row[0] for row in shown if row[1] == root)

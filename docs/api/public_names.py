"""An extension of mkdocstrings: the reference of a package shows the names that its stub exports.

A stub exports a name by `from .module import Name as Name` (PEP 484, section "Stub Files").
"""

from __future__ import annotations

import ast
from typing import Any

import griffe


class PublicNames(griffe.Extension):
    """Marks what a stub imports under its own name as public."""

    def on_alias_instance(self, *, node: Any, alias: griffe.Alias, **_: Any) -> None:
        """Look at one imported name."""
        if isinstance(node, ast.ImportFrom) and any(name.asname == alias.name == name.name for name in node.names):
            alias.public = True

"""The packages of `experiments` import one another in one direction only."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tests.conftest import ROOT

BELOW = {
    "common": set(),
    "configuration": {"common"},
    "episode": {"common", "configuration"},
    "results": {"common", "configuration", "episode"},
    "branch": {"common", "configuration", "episode", "results"},
    "compare": {"common", "configuration", "episode", "results"},
    "viewer": {"common", "configuration", "episode", "results"},
    "replay": {"common", "configuration", "episode", "results"},
    "sweep": {"common", "configuration", "episode", "results", "branch", "tracking"},
    "reproduce": {"common", "configuration", "episode", "results", "compare", "sweep"},
    "study": {"common", "configuration", "episode", "results", "branch", "compare", "sweep"},
}
"""The packages that a package may import; `verbs` may import all there are, and any other `SHARED`."""
SHARED = {"common", "configuration", "episode", "results", "branch"}
_IMPORT = re.compile(r"^ *(?:from|import) quorum\.experiments\.([\w.]+)", re.MULTILINE)


def imports() -> Iterator[tuple[str, str]]:
    """Find every file of `experiments`, and the modules of it that it imports."""
    for file in sorted((ROOT / "quorum" / "experiments").rglob("*.py")):
        for found in _IMPORT.findall(file.read_text(encoding="utf-8")):
            yield str(file.relative_to(ROOT / "quorum" / "experiments")), found


def test_a_package_imports_only_those_below_it() -> None:
    for file, module in imports():
        own, target = file.split("/", 1)[0], module.split(".", 1)[0]
        if own not in (target, "verbs"):
            assert target in BELOW.get(own, SHARED), f"{file} imports {module}"


def test_engines_do_not_import_the_sweep_that_uses_them() -> None:
    for file, module in imports():
        if file.startswith("sweep/engines/") and module.startswith("sweep."):
            # The accounts are a contract, too: workers share them with the command.
            assert module.startswith(("sweep.engines.", "sweep.ledger")), f"{file} imports {module}"

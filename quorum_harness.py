"""The entry point of the command. It makes sure that the package `quorum` is the one of this distribution.

Other distributions on PyPI also install a package or a command named `quorum`. Whichever was installed last owns the
files that both contain. This module has a unique name, and looks before anything of `quorum` is imported.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from importlib import import_module
from pathlib import Path

_MARKED = ("__init__.py", "__main__.py", "cli.py")
"""Files that the others contain, too. Ours name this distribution."""
_OURS = {
    *_MARKED,
    "__init__.pyi",
    "_current_folder.py",
    "answers.py",
    "api.py",
    "components.json",
    "conversions.py",
    "spi.py",
    "py.typed",
}
_OURS |= {"agents", "comparison", "configs", "configuration", "display", "episode", "installation", "new", "process"}
_OURS |= {"prompts", "runs", "storage", "sweeps", "topologies", "verbs", "__pycache__"}
_OURS |= {
    "cluster",
    "llamac_worlds",
    "methods",
    "more_providers",
    "open_world",
    "other_worlds",
    "study",
    "train",
    "view",
    "what_if",
}
_DISTRIBUTION = "quorum-harness"


def main() -> None:
    """Run the command, unless another distribution has replaced parts of it."""
    package = Path(__file__).with_name("quorum")
    if replaced := replaced_files(package):
        sys.exit(f"error: {message(package, replaced)}")
    if added := added_files(package):
        print(f"warning: {message(package, added)}", file=sys.stderr)  # noqa: T201 (nothing is imported yet)
    import_module("quorum.cli").main()


def replaced_files(package: Path) -> list[str]:
    """Return the files of the package `quorum` that another distribution has overwritten or removed."""
    return [name for name in _MARKED if not _is_ours(package / name)]


def added_files(package: Path) -> list[str]:
    """Return the files and folders in the package `quorum` that this distribution does not contain."""
    return sorted(item.name for item in package.iterdir() if item.name not in _OURS)


def message(package: Path, names: Iterable[str]) -> str:
    """Say what is wrong, and how to run both distributions."""
    listed = list(names)
    shown = ", ".join(listed[:3]) + (f" and {len(listed) - 3} more" if len(listed) > 3 else "")
    return (
        f"another distribution has installed {shown} into {package}, the package of {_DISTRIBUTION}. One folder "
        "cannot hold both. Create a virtual environment for each (python -m venv quorum-env), and install "
        f"{_DISTRIBUTION} again in its own."
    )


def _is_ours(file: Path) -> bool:
    try:
        return _DISTRIBUTION.encode() in file.read_bytes()
    except OSError:
        return False

"""What verbs do before their own work."""

from __future__ import annotations

from pathlib import Path


def quieten() -> None:
    """Log errors only, unless the user asks for a log."""
    import logging

    log = logging.getLogger("quorum")
    if log.level == logging.NOTSET:
        log.setLevel(logging.ERROR)


def prepare_plugins(modules: list[str] | None) -> None:
    """Import the modules of `--plugin`, if any.

    Raises:
        UserError: one cannot be imported.
    """
    if modules:
        from quorum.experiments.configuration.plugins import load_plugins

        load_plugins(modules)


def split_folders(words: list[str]) -> tuple[list[Path], list[str]]:
    """Separate folders from parts of a configuration: a word without `=` is a folder, unless it deletes a key (`~KEY`).

    A folder whose own name has a `=` needs a slash before it.
    """
    folders = [word for word in words if "/" in word.partition("=")[0] or not ("=" in word or word.startswith("~"))]
    return [Path(folder) for folder in folders], [word for word in words if word not in folders]

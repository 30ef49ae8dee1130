"""What verbs do before their own work."""

from __future__ import annotations


def quieten() -> None:
    """Log errors only, where nothing else was asked for."""
    import logging

    log = logging.getLogger("quorum")
    if log.level == logging.NOTSET:
        log.setLevel(logging.ERROR)


def prepare_plugins(modules: list[str] | None) -> None:
    """Import the modules of `--plugin`, where there are any.

    Raises:
        UserError: one cannot be imported.
    """
    if modules:
        from quorum.experiments.configuration.plugins import load_plugins

        load_plugins(modules)

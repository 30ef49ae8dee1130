"""The `quorum` command of quorum-harness. Its verbs are in `quorum/verbs/`; this module handles how they end."""

from __future__ import annotations

import atexit
import gc
import sys
from io import StringIO

import typer
from typer.exceptions import TyperException

from quorum.display.terminal import echo, show_bugs, show_in_any_encoding, show_warnings
from quorum.process.signals import one_signal_is_enough
from quorum.verbs.app import app


def main() -> None:
    """Run the command. A user's mistake prints one message and exits with code 2; a bug keeps its traceback."""
    _collect_rarely()
    show_warnings()
    show_in_any_encoding()
    with one_signal_is_enough():
        _run()


def _run() -> None:
    try:
        sys.exit(app(prog_name="quorum", standalone_mode=False) or 0)
    except typer.Abort:
        echo("Aborted!", err=True)
        sys.exit(1)
    except Exception as error:
        if isinstance(error, TyperException):  # a mistake in the command line
            usage = StringIO()
            error.show(usage)  # type: ignore[attr-defined] # every Typer exception has it
            echo(usage.getvalue(), err=True, nl=False)
            sys.exit(error.exit_code)
        from quorum.installation.extension_errors import print_mistake  # noqa: PLC0415 (pydantic)

        exit_code = print_mistake(error)
        if exit_code is None:
            show_bugs()
            raise
        sys.exit(exit_code)


def _collect_rarely() -> None:
    """Run the cyclic garbage collector less often: imports create no cycles, and it takes a third of a short run."""
    gc.set_threshold(300_000, 20, 100)
    atexit.register(_skip_last_collection)


def _skip_last_collection() -> None:
    """Skip Python's final garbage collection: it frees nothing that exiting does not."""
    if "duckdb" not in sys.modules:  # DuckDB reports objects that are not freed by then as leaks
        gc.freeze()


if __name__ == "__main__":
    main()

"""The command line: its verbs by heading, in the order of the help, and the options that all of them take."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable
from functools import wraps
from itertools import pairwise
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from maeil.exits import without_exit
from maeil.user_errors import UserError
from quorum.experiments.common.terminal import echo
from quorum.experiments.verbs.blame import blame
from quorum.experiments.verbs.branch import branch
from quorum.experiments.verbs.cache import cache
from quorum.experiments.verbs.check import check
from quorum.experiments.verbs.compare import compare
from quorum.experiments.verbs.completion import complete, completion
from quorum.experiments.verbs.export import export
from quorum.experiments.verbs.listing import list_
from quorum.experiments.verbs.new import new
from quorum.experiments.verbs.replay import replay
from quorum.experiments.verbs.report import report
from quorum.experiments.verbs.reproduce import reproduce
from quorum.experiments.verbs.results import results
from quorum.experiments.verbs.run import run
from quorum.experiments.verbs.serve_simulated import serve_simulated
from quorum.experiments.verbs.show import show, show_failures, show_prompt
from quorum.experiments.verbs.study import study
from quorum.experiments.verbs.sweep import sweep
from quorum.experiments.verbs.view import view

HEADINGS: dict[str, dict[str, Callable[..., None]]] = {
    "Run": {"run": run, "sweep": sweep},
    "Look": {"view": view, "replay": replay, "results": results, "export": export, "show": show},
    "Compare": {"study": study, "compare": compare, "report": report, "reproduce": reproduce},
    "What if": {"branch": branch, "blame": blame},
    "Set up": {
        "list": list_,
        "new": new,
        "check": check,
        "cache": cache,
        "completion": completion,
        "serve-simulated": serve_simulated,
    },
}
"""What each verb does, by heading and name."""

SUBCOMMANDS: dict[str, Callable[..., None]] = {"show prompt": show_prompt, "show failures": show_failures}
"""What some verbs do if a certain word follows them."""


class _Verbs(TyperGroup):
    """Lists the verbs under headings, and knows those of two words."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002
        """Write the part of the help that lists the verbs."""
        for heading, verbs in HEADINGS.items():
            with formatter.section(heading):
                width = max(map(len, self.commands))
                rows = [(name, self.commands[name].get_short_help_str(formatter.width)) for name in verbs]
                formatter.write_dl([(name.ljust(width), help_) for name, help_ in rows])

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the command that the first words name, and the rest."""
        _refuse_empty(args)
        two = " ".join(args[:2])
        return (two, self.commands[two], args[2:]) if two in SUBCOMMANDS else super().resolve_command(ctx, args)


def _refuse_empty(args: list[str]) -> None:
    """Refuse an option or an argument that is the empty text: of a path, that would be the current folder.

    Raises:
        UserError: there is one.
    """
    for before, word in pairwise(args):
        option, given, value = word.partition("=")
        if args[0] != "complete" and (not word or (option.startswith("--") and given and not value)):
            named = option or (before if before.startswith("-") else args[0])
            raise UserError(f"{named} '': this is empty", "Was a variable of the shell not set?")


app = typer.Typer(
    cls=_Verbs,
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
)

_VERBOSE = "Log to standard error what is built, asked, retried and written. Every verb takes it."
_DEBUG = "Log everything, and show where the code found a mistake. Every verb takes it."


def _show_logs(*, verbose: bool, debug: bool) -> None:
    if verbose or debug or "QUORUM_LOG" in os.environ:
        from quorum.experiments.common.logs import show_logs

        show_logs("debug" if debug else "info" if verbose else None)


def _log_errors_only() -> None:
    """Log errors only, unless the user asks for a log."""
    import logging

    log = logging.getLogger("quorum")
    if log.level == logging.NOTSET:
        log.setLevel(logging.ERROR)


def _log_options(
    *,
    verbose: Annotated[bool, typer.Option("--verbose", help=_VERBOSE, hidden=True)] = False,
    debug: Annotated[bool, typer.Option("--debug", help=_DEBUG, hidden=True)] = False,
) -> None:
    """Take the options of logs; `quorum --help` explains them once for all verbs."""


def _with_logs(function: Callable[..., None]) -> Callable[..., None]:
    """Give a verb the options of `_log_options`, and do before it what `--quiet` and `--plugin` ask for."""
    own, shared = (inspect.signature(part, eval_str=True) for part in (function, _log_options))

    @wraps(function)
    def verb(*, verbose: bool, debug: bool, **arguments: Any) -> None:
        _show_logs(verbose=verbose, debug=debug)
        if arguments.get("quiet"):
            _log_errors_only()
        with without_exit():
            if modules := arguments.get("plugin"):
                from quorum.experiments.configuration.plugins import load_plugins

                load_plugins(modules)
            function(**arguments)

    parameters = [*own.parameters.values(), *shared.parameters.values()]
    verb.__signature__ = own.replace(parameters=parameters)  # type: ignore[attr-defined] # which Typer reads
    verb.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return verb


def _add(name: str, function: Callable[..., None], *, hidden: bool = False) -> None:
    short = (function.__doc__ or "").partition("\n")[0]
    app.command(name, short_help=short, hidden=hidden)(_with_logs(function))


for _verbs in HEADINGS.values():
    for _name, _function in _verbs.items():
        _add(_name, _function)
for _name, _function in {**SUBCOMMANDS, "complete": complete}.items():
    _add(_name, _function, hidden=True)


def _print_version(wanted: bool) -> None:
    if wanted:
        from quorum.experiments.common.version import __version__

        echo(f"quorum {__version__}")
        raise typer.Exit


@app.callback()
def _quorum(
    *,
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version and exit.")
    ] = False,
    verbose: Annotated[bool, typer.Option("--verbose", help=_VERBOSE)] = False,
    debug: Annotated[bool, typer.Option("--debug", help=_DEBUG)] = False,
) -> None:
    """Experiments on cooperation among language-model agents.

    \b
    Examples:
      quorum run n=8 seed=3 --live
      quorum sweep experiment=quickstart
      quorum view runs
      quorum replay runs/NAME --out film.gif
      quorum results runs
      quorum export runs --to parquet
      quorum show prompt n=4 topology=debate agent=1
      quorum study talk agents=naive topology=debate
      quorum compare runs --by topology
      quorum report runs
      quorum reproduce llamac-table2
      quorum branch runs/NAME --at 12 --mind agent_2=heuristic
      quorum blame runs/NAME
      quorum list env
      quorum new world doors
      quorum check
      quorum cache stats
      quorum completion bash
      quorum serve-simulated --port 9000
    """
    _show_logs(verbose=verbose, debug=debug)

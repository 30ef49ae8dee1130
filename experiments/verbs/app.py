"""The command line: its verbs in the order of the help, and the options that all of them have."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable
from functools import wraps
from typing import Annotated, Any

import typer

from quorum.experiments.common.terminal import echo
from quorum.experiments.verbs.attribution import attribution
from quorum.experiments.verbs.blame import blame
from quorum.experiments.verbs.branch import branch
from quorum.experiments.verbs.cache import cache
from quorum.experiments.verbs.check import check
from quorum.experiments.verbs.compare import compare
from quorum.experiments.verbs.completion import complete, completion
from quorum.experiments.verbs.fit import fit
from quorum.experiments.verbs.listing import list_
from quorum.experiments.verbs.metrics import metrics
from quorum.experiments.verbs.replay import replay
from quorum.experiments.verbs.report import report
from quorum.experiments.verbs.results import results
from quorum.experiments.verbs.run import run
from quorum.experiments.verbs.serve_simulated import serve_simulated
from quorum.experiments.verbs.show import show
from quorum.experiments.verbs.sweep import sweep
from quorum.experiments.verbs.view import view

VERBS: dict[str, Callable[..., None]] = {
    "run": run,
    "branch": branch,
    "blame": blame,
    "attribution": attribution,
    "sweep": sweep,
    "fit": fit,
    "metrics": metrics,
    "results": results,
    "compare": compare,
    "report": report,
    "replay": replay,
    "view": view,
    "list": list_,
    "show": show,
    "check": check,
    "cache": cache,
    "serve-simulated": serve_simulated,
    "completion": completion,
}
"""What each verb does, by its name."""

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
)


def _show_logs(
    *,
    verbose: Annotated[
        bool, typer.Option("--verbose", help="Log to standard error what is built, asked, retried and written.")
    ] = False,
    debug: Annotated[
        bool, typer.Option("--debug", help="Log everything, and show where in the code a mistake was found.")
    ] = False,
) -> None:
    if verbose or debug or "QUORUM_LOG" in os.environ:
        from quorum.experiments.common.logs import show_logs

        show_logs("debug" if debug else "info" if verbose else None)


def _with_logs(function: Callable[..., None]) -> Callable[..., None]:
    """Give a verb the options of `_show_logs` behind its own."""
    own, shared = (inspect.signature(part, eval_str=True) for part in (function, _show_logs))

    @wraps(function)
    def verb(*, verbose: bool, debug: bool, **arguments: Any) -> None:
        _show_logs(verbose=verbose, debug=debug)
        function(**arguments)

    parameters = [*own.parameters.values(), *shared.parameters.values()]
    verb.__signature__ = own.replace(parameters=parameters)  # type: ignore[attr-defined] # which Typer reads
    verb.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return verb


for _name, _function in VERBS.items():
    app.command(_name, short_help=(_function.__doc__ or "").partition("\n")[0])(_with_logs(_function))
app.command("complete", hidden=True)(_with_logs(complete))


def _print_version(wanted: bool) -> None:
    if wanted:
        from quorum.experiments.common.version import __version__

        echo(f"quorum {__version__}")
        raise typer.Exit


@app.callback()
def _quorum(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Experiments on cooperation among language-model agents.

    \b
    Examples:
      quorum run n=8 seed=3 --live
      quorum branch runs/NAME --at 12 --mind agent_2=heuristic
      quorum blame runs/NAME
      quorum attribution runs/attribution
      quorum sweep experiment=quickstart
      quorum fit topology n=4 agents=naive
      quorum metrics runs/*
      quorum results runs
      quorum compare runs --by topology
      quorum report runs
      quorum replay runs/NAME --out film.gif
      quorum view runs
      quorum list env
      quorum show prompt n=4 topology=debate agent=1
      quorum check
      quorum cache stats
      quorum serve-simulated --port 9000
      quorum completion bash
    """

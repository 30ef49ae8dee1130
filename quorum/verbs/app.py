"""The command line: its verbs by heading, in the order of the help, and their common options."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Mapping
from functools import cache, wraps
from itertools import groupby, pairwise
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup
from typer.exceptions import TyperException

from quorum.display.terminal import echo
from quorum.verbs.verb import VERBS, Verb
from quorum_base.exits import without_exit
from quorum_base.registry import own
from quorum_base.user_errors import UserError

_HEADINGS = ("Run", "Look", "Compare", "What if", "Set up")
"""The order of headings in the help. Other headings follow."""


class VerbCommand(TyperCommand):
    """The command of a verb. It answers an option that is a key of the configuration with the `KEY=VALUE` to type."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the words after the verb.

        Raises:
            UserError: an option is a key of the configuration, or lacks its value.
        """
        words = [*args]
        try:
            return super().parse_args(ctx, args)
        except TyperException as error:
            # Typer's NoSuchOption, which has possibilities, and BadOptionUsage are private.
            option = getattr(error, "option_name", "")
            if hasattr(error, "possibilities") and any("KEY=VALUE" in (part.metavar or "") for part in self.params):
                _refuse_key(option, words)
            part: Any = next((part for part in self.params if option in part.opts), None)
            if part is not None and "requires" in error.message:
                hint = f"Write {option} {part.metavar or 'VALUE'}: {part.help}"
                raise UserError(f"{option}: its value is missing", hint) from None
            raise


def _refuse_key(option: str, words: list[str]) -> None:
    from quorum.configuration.hints import usual_words
    from quorum.configuration.secrets import refuse_secret_argument

    place, word = next((place, word) for place, word in enumerate(words) if word.startswith(option))
    after = words[place + 1] if len(words) > place + 1 and not words[place + 1].startswith("-") else "VALUE"
    value = word.partition("=")[2] or after
    if usual := usual_words(option, value):
        refuse_secret_argument(f"{option}.model={value}")  # before the message shows it, whatever the option names
        raise UserError(f"{option}: there is no such option, but there is such a key", f"Write {usual}.")


class VerbGroup(TyperGroup):
    """Builds the command of a verb when it is used, lists verbs under headings, and resolves verbs of two words."""

    def get_command(self, ctx: Any, name: str) -> TyperCommand | None:  # noqa: ARG002
        """Return the command of a verb; None if there is no such verb, or if it is broken."""
        return command_of(name)

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002
        """Return the names of all verbs, in the order of the help."""
        return list(all_verbs())

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002
        """Write the list of verbs in the help."""
        listed = [(name, verb) for name, verb in all_verbs().items() if verb.heading]
        width = max(len(name) for name, _ in listed)
        for heading, verbs in groupby(listed, key=lambda item: item[1].heading):
            with formatter.section(heading):
                formatter.write_dl([(name.ljust(width), verb.short_help) for name, verb in verbs])

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the command named by the first words, and the remaining words."""
        _refuse_empty(args)
        two = " ".join(args[:2])
        if len(args) > 1 and (command := command_of(two)) is not None:
            return two, command, args[2:]
        if command_of(args[0]) is None:
            self.commands = dict.fromkeys(all_verbs())  # type: ignore[assignment] # Typer suggests names from its keys
        return super().resolve_command(ctx, args)


@cache
def find_verb(name: str) -> Verb | None:
    """Return a verb; None if there is no such verb, or, after a warning, if its package is broken."""
    if name not in VERBS.names():
        return None
    try:
        return VERBS.get(name)
    except Exception as error:
        _leave_out(name, error)
        return None


@cache
def all_verbs() -> Mapping[str, Verb]:
    """Return all verbs by name, in the order of the help; unlisted ones come last."""
    found = {name: verb for name in VERBS.names() if (verb := find_verb(name)) is not None}
    return dict(sorted(found.items(), key=_place))


def _place(item: tuple[str, Verb]) -> tuple[bool, int, str, int, str]:
    name, verb = item
    known = _HEADINGS.index(verb.heading) if verb.heading in _HEADINGS else len(_HEADINGS)
    return not verb.heading, known, verb.heading, verb.place, name


@cache
def command_of(name: str) -> TyperCommand | None:
    """Return the command of a verb; None if there is no such verb, or, after a warning, if it is broken."""
    if (verb := find_verb(name)) is None:
        return None
    alone = typer.Typer(add_completion=False, rich_markup_mode=None)
    try:
        alone.command(name, hidden=not verb.heading, cls=VerbCommand)(_with_logs(verb.function))
        command = typer.main.get_command(alone)
    except Exception as error:
        _leave_out(name, error)
        return None
    assert isinstance(command, TyperCommand)
    return command


def _leave_out(name: str, error: Exception) -> None:
    """Warn that a verb cannot be used. If it ships with Quorum, that is a bug, which keeps its traceback."""
    if name in own("quorum.verbs"):
        raise error
    reason = str(error) if isinstance(error, UserError) else f"{type(error).__name__}: {error}"
    echo(f"warning: `quorum {name}` is left out: {' '.join(reason.split())}", err=True)


def _refuse_empty(args: list[str]) -> None:
    """Reject empty options and arguments: an empty path would mean the current folder.

    Raises:
        UserError: one is empty.
    """
    for before, word in pairwise(args):
        option, given, value = word.partition("=")
        if args[0] != "complete" and (not word or (option.startswith("--") and given and not value)):
            named = option or (before if before.startswith("-") else args[0])
            raise UserError(f"{named} '': this is empty", "Was a variable of the shell not set?")


app = typer.Typer(
    cls=VerbGroup,
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
)

_VERBOSE = "Log to standard error what a verb builds, calls and writes."
_DEBUG = "Log everything, and show where the code found a mistake."


def _show_logs(*, verbose: bool, debug: bool) -> None:
    if verbose or debug or "QUORUM_LOG" in os.environ:
        from quorum.display.logs import show_logs

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
    """Declare the logging options; `quorum --help` explains them once for all verbs."""


def _with_logs(function: Callable[..., None]) -> Callable[..., None]:
    """Add the options of `_log_options` to a verb, and apply `--quiet` and `--plugin` before it runs."""
    own, shared = (inspect.signature(part, eval_str=True) for part in (function, _log_options))

    @wraps(function)
    def verb(*, verbose: bool, debug: bool, **arguments: Any) -> None:
        _show_logs(verbose=verbose, debug=debug)
        if arguments.get("quiet"):
            _log_errors_only()
        with without_exit():
            if modules := arguments.get("plugin"):
                from quorum.configuration.plugins import load_plugins

                load_plugins(modules)
            function(**arguments)

    parameters = [*own.parameters.values(), *shared.parameters.values()]
    verb.__signature__ = own.replace(parameters=parameters)  # type: ignore[attr-defined] # Typer reads it
    verb.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return verb


def _print_version(wanted: bool) -> None:
    if wanted:
        from quorum.installation.version import __version__

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
    """
    _show_logs(verbose=verbose, debug=debug)

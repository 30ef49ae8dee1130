"""`quorum completion`, and the hidden verb that its scripts call."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer
from typer.core import TyperGroup, TyperOption

from quorum.experiments.common.terminal import echo

if TYPE_CHECKING:
    from quorum.experiments.completion import Verb


def completion(
    shell: Annotated[str, typer.Argument(metavar="bash|zsh|fish", help="Print the script for this shell.")],
) -> None:
    """Print the script that completes verbs, options, groups, keys and folders of runs in a shell.

    \b
    Examples:
      eval "$(quorum completion bash)"
      eval "$(quorum completion zsh)"
      quorum completion fish > ~/.config/fish/completions/quorum.fish
    """
    from quorum.experiments.completion import script

    echo(script(shell), nl=False)


def complete(context: typer.Context, words: Annotated[list[str] | None, typer.Argument()] = None) -> None:
    """Print the candidates for the last word, one on each line."""
    from quorum.experiments.completion import candidates

    command = context.find_root().command
    assert isinstance(command, TyperGroup)
    for found in candidates(words or [""], described(command)):
        about = " ".join(found.about.split())
        echo(f"{found.word}\t{about}" if about else found.word)


def described(command: TyperGroup) -> dict[str, Verb]:
    """Describe the registered verbs for completion."""
    from quorum.experiments.completion import SHELLS, Verb
    from quorum.experiments.configuration.catalogue import BUILTIN_GROUPS, SWEEP_GROUPS

    choices = {
        "list": (*BUILTIN_GROUPS, *SWEEP_GROUPS, "metrics"),
        "cache": ("stats", "clear"),
        "completion": tuple(SHELLS),
        "show": ("prompt", "failures"),
    }
    found = {}
    for name, verb in command.commands.items():
        if verb.hidden:
            continue
        flags = [part for part in verb.params if isinstance(part, TyperOption) and not part.hidden]
        arguments = {(part.metavar or "") for part in verb.params if not isinstance(part, TyperOption)}
        found[name] = Verb(
            about=(verb.help or "").partition("\n")[0],
            flags={option: flag.help or "" for flag in flags for option in flag.opts if option.startswith("--")},
            takes=frozenset(option for flag in flags if not flag.is_flag for option in flag.opts),
            settings=any("KEY=VALUE" in metavar for metavar in arguments),
            grid=name in ("sweep", "branch"),
            folders=any("RUN" in metavar or "SWEEP" in metavar for metavar in arguments),
            choices=choices.get(name, ()),
        )
    return found

"""`quorum completion`: completes verbs, options, keys and groups. Its scripts call the hidden verb `complete`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Annotated

import typer
from typer.core import TyperArgument, TyperOption

from quorum.display.terminal import echo
from quorum.verbs.app import all_verbs, command_of
from quorum.verbs.verb import VERBS, Verb
from quorum_base.user_errors import UserError, choices_hint

_BASH = r"""# Completion of quorum in bash. In ~/.bashrc:  eval "$(quorum completion bash)"
_quorum() {
    local words current typed word
    read -ra words <<< "${COMP_LINE:0:COMP_POINT}"
    [[ ${COMP_LINE:0:COMP_POINT} == *[[:space:]] ]] && words+=("")
    current=${words[${#words[@]}-1]}
    # bash replaces only the part after the last of these signs
    typed=${current%"${current##*[=:]}"}
    COMPREPLY=()
    while IFS=$'\t' read -r word _; do
        COMPREPLY+=("${word#"$typed"}")
        [[ $word == *= ]] && compopt -o nospace 2> /dev/null
    done < <(quorum complete -- "${words[@]:1}" 2> /dev/null)
}
complete -o default -F _quorum quorum
"""
_ZSH = r"""#compdef quorum
# Completion of quorum in zsh. In ~/.zshrc, behind compinit:  eval "$(quorum completion zsh)"
_quorum() {
    local -a found keys
    found=(${(f)"$(quorum complete -- "${(@)words[2,CURRENT]}" 2> /dev/null)"})
    found=("${(@)found%%$'\t'*}")
    (( $#found )) || { _files; return }
    keys=(${(M)found:#*=}) found=(${found:#*=})
    (( $#keys )) && compadd -Q -S '' -a keys
    (( $#found )) && compadd -Q -a found
    return 0
}
compdef _quorum quorum
"""
_FISH = r"""# Completion of quorum in fish:  quorum completion fish > ~/.config/fish/completions/quorum.fish
complete -c quorum -a '(quorum complete -- (commandline -opc)[2..] (commandline -ct) 2> /dev/null)'
"""
SHELLS = {"bash": _BASH, "zsh": _ZSH, "fish": _FISH}
"""The script of each shell. It calls `quorum complete -- WORDS...`; each line is a word, a tab and a description."""


def completion(
    shell: Annotated[str, typer.Argument(metavar="bash|zsh|fish", help="Print the script for this shell.")],
) -> None:
    """Print the script that completes verbs, options, keys and groups in a shell.

    \b
    Examples:
      eval "$(quorum completion bash)"
      eval "$(quorum completion zsh)"
      quorum completion fish > ~/.config/fish/completions/quorum.fish
    """
    if shell not in SHELLS:
        raise UserError(f"completion {shell}: there is no script for this shell", choices_hint(shell, "Shells", SHELLS))
    echo(SHELLS[shell], nl=False)


def complete(words: Annotated[list[str] | None, typer.Argument()] = None) -> None:
    """Print the candidates for the last word, one on each line."""
    for word, about in candidates(words or [""]):
        echo(f"{word}\t{' '.join(about.split())}")


def candidates(words: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield completions of the last word, with descriptions. Shells complete file names by themselves.

    Args:
        words: words after `quorum`, up to the word at the cursor; the last is empty if it has no letter yet.
    """
    *before, word = words
    found: Iterable[tuple[str, str]] = ()
    if not before:
        found = ((name, verb.short_help) for name, verb in all_verbs().items() if verb.heading)
    elif (command := command_of(before[0])) is not None and not command.hidden:
        taken = "|".join(part.metavar or "" for part in command.params).split("|")
        if word.startswith("-"):
            flags = [part for part in command.params if isinstance(part, TyperOption) and not part.hidden]
            found = ((name, flag.help or "") for flag in flags for name in flag.opts if name.startswith("--"))
        elif choices := _choices(command.params, before[1:]):
            found = ((name, "") for name in choices)
        elif len(before) == 1 and (choices_of := VERBS.get(before[0]).completions) is not None:
            found = choices_of()
        elif {"KEY=VALUE", "KEY=VALUES"} & {*taken}:
            found = _settings(word, grid="KEY=VALUES" in taken)
    yield from ((name, about) for name, about in found if name.startswith(word))


def _choices(params: Sequence[object], before: Sequence[str]) -> Sequence[str]:
    """Return the choices in the help, such as `agent|message`, for the first argument or the preceding option."""
    own = [part for part in params if isinstance(part, TyperArgument | TyperOption)]
    asked = [part for part in own if (before[-1] in part.opts if before else isinstance(part, TyperArgument))]
    metavar = asked[0].metavar or "" if asked else ""
    return metavar.split("|") if metavar.islower() else ()


def _settings(word: str, *, grid: bool) -> Iterator[tuple[str, str]]:
    """Yield the keys of all experiments and the groups, or the options of the group that the word names."""
    from quorum.configuration.catalogue import BUILTIN_GROUPS, SWEEP_GROUPS, knobs, options

    groups = (*BUILTIN_GROUPS, *(SWEEP_GROUPS if grid else ()))
    group, equals, typed = word.partition("=")
    if not equals:
        yield from ((f"{name}=", "a group of options") for name in groups)
        yield from ((f"{knob.key}=", knob.description) for knob in knobs())
    elif group in groups:
        start = f"{group}={typed[: typed.rfind(',') + 1]}" if grid else f"{group}="
        yield from ((start + option.name, option.description) for option in options() if option.group == group)


verb = Verb(completion)
complete_verb = Verb(complete)

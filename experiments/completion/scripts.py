"""The scripts of the shells. Each asks `quorum complete -- WORDS...`: a word a line, a tab, and what it is."""

from __future__ import annotations

from collections.abc import Mapping

from maeil.user_errors import UserError, choices_hint

_BASH = r"""# Completion of quorum in bash. In ~/.bashrc:  eval "$(quorum completion bash)"
_quorum() {
    local line words current typed candidate
    read -ra words <<< "${COMP_LINE:0:COMP_POINT}"
    [[ ${COMP_LINE:0:COMP_POINT} == *[[:space:]] ]] && words+=("")
    current=${words[${#words[@]}-1]}
    # bash replaces only the part after the last of these signs
    typed=${current%"${current##*[=:]}"}
    COMPREPLY=()
    while IFS= read -r line; do
        candidate=${line%%$'\t'*}
        COMPREPLY+=("${candidate#"$typed"}")
        [[ $candidate == *[=./] ]] && compopt -o nospace 2> /dev/null
    done < <(quorum complete -- "${words[@]:1}" 2> /dev/null)
}
complete -F _quorum quorum
"""

_ZSH = r"""#compdef quorum
# Completion of quorum in zsh. In ~/.zshrc, behind compinit:  eval "$(quorum completion zsh)"
_quorum() {
    local line word about
    local -a open_words open_shown whole_words whole_shown
    while IFS= read -r line; do
        word=${line%%$'\t'*}
        about=${line#*$'\t'}
        [[ -n $about && $about != $line ]] && about="$word  -- $about" || about=$word
        if [[ $word == *[=./] ]]; then
            open_words+=("$word"); open_shown+=("$about")
        else
            whole_words+=("$word"); whole_shown+=("$about")
        fi
    done < <(quorum complete -- "${(@)words[2,CURRENT]}" 2> /dev/null)
    (( $#open_words )) && compadd -Q -l -S '' -d open_shown -a open_words
    (( $#whole_words )) && compadd -Q -l -d whole_shown -a whole_words
    (( $#open_words + $#whole_words ))
}
compdef _quorum quorum
"""

_FISH = r"""# Completion of quorum in fish:  quorum completion fish > ~/.config/fish/completions/quorum.fish
complete -c quorum -f -a '(quorum complete -- (commandline -opc)[2..] (commandline -ct) 2> /dev/null)'
"""

SHELLS: Mapping[str, str] = {"bash": _BASH, "zsh": _ZSH, "fish": _FISH}
"""The script of each shell, by its name."""


def script(shell: str) -> str:
    """Return the script of a shell.

    Raises:
        UserError: there is none.
    """
    if shell not in SHELLS:
        raise UserError(f"completion {shell}: there is no script for this shell", choices_hint(shell, "Shells", SHELLS))
    return SHELLS[shell]

"""Keys without effect: what is set for minds that have no use for it.

Minds that do not talk have no use for a topology, and minds that ask no language model have none for a model, its
prompts and its budget. A run with such a key looks like another experiment and is none, so a notice names it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from quorum.configuration.cell import Cell
from quorum.configuration.compose import compose
from quorum.configuration.option_folders import ConfigDir
from quorum.configuration.overrides import parse
from quorum_base.user_errors import UserError

Words = Iterable[tuple[str, str]]
"""Keys that a command sets, each with the word that sets it."""

_GROUPS = ("topology", "llm", "prompts", "budget")


class EffectCheck:
    """Finds the words of a command that change nothing in some of its cells.

    Args:
        words: of the command and of its experiment.
        defaults: composes the configuration that stands without any words; asked only when that matters.
    """

    def __init__(self, words: Words, defaults: Callable[[], Mapping[str, Any]]) -> None:
        self._words: dict[str, dict[str, None]] = {}
        for key, word in words:
            if (group := key.partition(".")[0]) in _GROUPS:
                self._words.setdefault(group, {})[word] = None
        self._defaults = defaults
        self._usual: Mapping[str, Any] | None = None
        self._found: dict[tuple[str, str], dict[str, None]] = {}

    def look_at(self, cell: Cell) -> None:
        """Look whether the words set something for this cell that its minds do not use."""
        for group, why in cell.configuration.unused.items() if self._words else ():
            if group not in self._words:
                continue
            if self._usual is None:
                self._usual = self._defaults()
            if cell.plain[group] != self._usual[group]:
                self._found.setdefault((cell.configuration.team_label, why), {}).update(self._words[group])

    @property
    def notice(self) -> str:
        """What is without effect, in one line; empty for nothing."""
        found = []
        for (agents, why), words in self._found.items():
            verb = "changes" if len(words) == 1 else "change"
            found.append(f"{' '.join(words)} {verb} no decision of agents={agents}, which {why}")
        return "; ".join(found)


def without_effect(arguments: Sequence[str], cell: Cell, config_dir: ConfigDir = ()) -> str:
    """Say which arguments of a run change nothing; empty for none.

    Args:
        arguments: `KEY=VALUE`, as the cell was composed of them.
        cell: the run.
        config_dir: folders with more options of the groups.
    """
    words = [(override.key_or_group, override.input_line or "") for override in parse(arguments)]
    check = EffectCheck(words, lambda: compose((), config_dir))
    check.look_at(cell)
    return check.notice


def refuse(notice: str) -> None:
    """Refuse keys without effect, for those who want no doubt.

    Args:
        notice: what is without effect; empty for nothing.

    Raises:
        UserError: something is.
    """
    if notice:
        raise UserError(
            notice, "Leave them out, or choose minds that use them, such as agents=naive. --strict asks for it."
        )

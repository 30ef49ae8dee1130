"""Finds keys without effect: those that the chosen minds do not use.

Minds that do not talk use no topology, and minds without a language model use no model, prompts or budget. Such a key
suggests a different experiment but changes nothing, so a notice lists it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from quorum.configuration.cell import Cell
from quorum.configuration.compose import Composer
from quorum.configuration.option_folders import ConfigDir
from quorum_base.user_errors import UserError

_GROUPS = ("topology", "llm", "prompts", "budget")


class EffectCheck:
    """Finds arguments of a command that change nothing in some of its cells.

    Args:
        words: `KEY=VALUE` arguments of the command and of its experiment.
        config_dir: folders with more group options.
    """

    def __init__(self, words: Iterable[str], config_dir: ConfigDir = ()) -> None:
        self._words: dict[str, dict[str, None]] = {}
        for word in words:
            if (group := word.lstrip("+~").partition("=")[0].strip().partition(".")[0]) in _GROUPS:
                self._words.setdefault(group, {})[word] = None
        self._config_dir = config_dir
        self._usual: Mapping[str, Any] | None = None
        self._found: dict[tuple[str, str], dict[str, None]] = {}

    def look_at(self, cell: Cell) -> str:
        """Check whether the arguments set something that this cell's minds do not use, and return the notice so far."""
        for group, why in cell.configuration.unused.items() if self._words else ():
            if group not in self._words:
                continue
            if self._usual is None:
                self._usual = Composer(self._config_dir).compose([])
            if cell.plain[group] != self._usual[group]:
                self._found.setdefault((cell.configuration.team_label, why), {}).update(self._words[group])
        return self.notice

    @property
    def notice(self) -> str:
        """The arguments without effect, in one line; empty if there are none."""
        found = []
        for (agents, why), words in self._found.items():
            verb = "changes" if len(words) == 1 else "change"
            found.append(f"{' '.join(words)} {verb} no decision of agents={agents}, which {why}")
        return "; ".join(found)


def refuse(notice: str) -> None:
    """Reject keys without effect, in strict mode.

    Args:
        notice: the keys without effect; empty if there are none.

    Raises:
        UserError: there are such keys.
    """
    if notice:
        raise UserError(
            notice,
            "Leave them out, or choose minds that use them, such as agents=naive. "
            "Without --strict, this is only a notice.",
        )

"""What is another in a re-run: one turn, or who decides for some participants from an instant on."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from typing import Any

from maeil.trace import Instant
from quorum.experiments.episode.dictated import Words


@dataclass(frozen=True, slots=True)
class Correction:
    """A change of a run from an instant on.

    Attributes:
        at: the instant.
        minds: participants for whom the reference decides from then on, in the order of the team.
        words: what participants are told to say or to plan, once.
    """

    at: Instant
    minds: tuple[str, ...] = ()
    words: tuple[Words, ...] = ()

    @property
    def key(self) -> str:
        """What names it in a journal."""
        return " ".join((str(self.at), *self.minds, *map(str, self.words)))

    def command(self, run: str, edits: tuple[str, ...], config_dir: str | None = None) -> str:
        """Return the command that plays it again, as it is typed in a shell.

        Args:
            run: folder of the run.
            edits: `KEY=VALUE` that give the participants the reference.
            config_dir: folder with more options of the groups.
        """
        words = ["quorum", "branch", run, "--at", str(self.at)]
        for edit in edits:
            mind = edit.removeprefix("agents.members.")
            alone = mind != edit and "." not in mind.partition("=")[0]
            words += ["--mind", mind] if alone else ["--set", edit]
        for told in self.words:
            what = told.text if told.text is not None else told.actions
            words += ["--say" if told.text is not None else "--plan", f"{told.participant}:{what}"]
        words += ["--config-dir", config_dir] if config_dir is not None else []
        return shlex.join(words)

    def plain(self) -> dict[str, Any]:
        """Return it as JSON-ready data."""
        told = [str(words) for words in self.words]
        return {"t": self.at.t, "t_hat": self.at.t_hat, "minds": list(self.minds), "told": told}

"""What is another in a re-run: one turn, or who decides for some participants from an instant on."""

from __future__ import annotations

import shlex
from dataclasses import dataclass

from maeil.trace import Instant
from quorum.experiments.episode.dictated import Words


@dataclass(frozen=True, slots=True)
class Correction:
    """A change of a run from an instant on.

    Attributes:
        at: the instant.
        minds: participants for whom the reference decides from then on, in the order of the team.
        words: what participants are told to say or to plan, once.
        drops: ids of messages of the run that are not sent.
        draw: which of several samples of what follows it is; 0 goes on with the randomness of the run.
    """

    at: Instant
    minds: tuple[str, ...] = ()
    words: tuple[Words, ...] = ()
    drops: tuple[int, ...] = ()
    draw: int = 0

    @property
    def key(self) -> str:
        """What names it in a journal."""
        dropped = (f"--drop {message}" for message in self.drops)
        drawn = [f"draw {self.draw}"] if self.draw else []
        return " ".join((str(self.at), *self.minds, *map(str, self.words), *dropped, *drawn))

    def command(self, run: str, edits: tuple[str, ...], config_dir: str | None = None, draws: int = 1) -> str:
        """Return the command that plays it again, as it is typed in a shell.

        Args:
            run: folder of the run.
            edits: `KEY=VALUE` that give the participants the reference.
            config_dir: folder with more options of the groups.
            draws: samples of what follows.
        """
        words = ["quorum", "branch", run, "--at", str(self.at)]
        for edit in edits:
            mind = edit.removeprefix("agents.members.")
            alone = mind != edit and "." not in mind.partition("=")[0]
            words += ["--mind", mind] if alone else ["--set", edit]
        for told in self.words:
            what = told.text if told.text is not None else told.actions
            words += ["--say" if told.text is not None else "--plan", f"{told.participant}:{what}"]
        for message in self.drops:
            words += ["--drop", str(message)]
        words += ["--draws", str(draws)] if draws > 1 else []
        words += ["--config-dir", config_dir] if config_dir is not None else []
        return shlex.join(words)

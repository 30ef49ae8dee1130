"""Replay a run with a correction: in memory if no paid model is needed, else into a folder next to the run."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from maeil.outcomes import Outcome
from maeil.trace import Instant, Listener
from quorum.agents.llm.spending import Spent
from quorum.configuration.edits import edited
from quorum.configuration.option_folders import named_folders
from quorum.configuration.schema import Configuration, validate
from quorum.episode.in_memory import play_in_memory
from quorum.episode.runner import run_cell
from quorum.episode.start import StartRefused
from quorum.runs.finished import read_paid, read_spent, resumable_attempts
from quorum.runs.run_folder import RunFolder
from quorum.storage.run_files import DamagedFile
from quorum.what_if.blame.ending import Ender, Ending, ending_of
from quorum.what_if.blame.reference import Reference
from quorum.what_if.branch.branch_minds import ScriptedAnswer
from quorum.what_if.branch.change import Change
from quorum.what_if.branch.parent import PlannedBranch
from quorum_base.user_errors import UserError

REFUSED = "refused"
"""The outcome of a correction that the world refuses."""


@dataclass(frozen=True, slots=True)
class Correction:
    """A change of a run from a branch point on.

    Attributes:
        at: the branch point.
        minds: participants for whom the reference decides from then on, in the order of the team.
        words: scripted answers.
        drops: ids of messages of the run that are not delivered.
        draw: number of the sample; 0 continues with the randomness of the run.
        luck: whether the world redraws its luck, with that of the sample, from the first step after the branch point.
    """

    at: Instant
    minds: tuple[str, ...] = ()
    words: tuple[ScriptedAnswer, ...] = ()
    drops: tuple[int, ...] = ()
    draw: int = 0
    luck: bool = False

    @property
    def key(self) -> str:
        """Unique name of the correction."""
        drawn = [f"draw {self.draw}"] if self.draw else []
        return " ".join((str(self.at), *self.minds, *self.told, *drawn, *["luck"] * self.luck))

    @property
    def told(self) -> tuple[str, ...]:
        """The scripted messages and plans and the dropped messages, as options of a command."""
        return Change((), self.words, self.drops).told

    def command(self, run: str, edits: tuple[str, ...], config_dir: Sequence[str] = (), draws: int = 1) -> str:
        """Return the command that plays it, ready to paste into a shell.

        Args:
            run: folder of the run.
            edits: `KEY=VALUE` that give the participants the reference.
            config_dir: folders with more options of the groups.
            draws: number of samples to play.
        """
        words = ["quorum", "branch", run, "--at", str(self.at)]
        for edit in edits:
            mind = edit.removeprefix("agents.members.")
            alone = mind != edit and "." not in mind.partition("=")[0]
            words += ["--mind", mind] if alone else [edit]
        for option in self.told:
            words += option.split(" ", 1)
        words += ["--draws", str(draws), "--no-control", *["--luck"] * self.luck] if draws > 1 else []
        words += [word for folder in config_dir for word in ("--config-dir", folder)]
        return shlex.join(words)


@dataclass(frozen=True, slots=True)
class Reruns:
    """The re-runs of a run.

    Attributes:
        reference: decides for participants.
        folder: keeps the re-runs with paid models.
        edits: `KEY=VALUE` of every re-run: a later step limit.
    """

    reference: Reference
    folder: Path
    edits: tuple[str, ...] = ()
    _limited: dict[tuple[str, ...], Configuration] = field(default_factory=dict, repr=False)
    _names: dict[str, str] = field(default_factory=dict, repr=False)

    def name(self, correction: Correction) -> str:
        """Return the name of a re-run in a journal: its folder, if it has one."""
        if not self.reference.asks:
            return " ".join((*self.edits, correction.key))
        if correction.key not in self._names:
            self._names[correction.key] = self.plan(correction).cell.name
        return self._names[correction.key]

    def plan(self, correction: Correction) -> PlannedBranch:
        """Return a correction as a branch.

        Raises:
            UserError: there is no such branch point.
        """
        reference, minds = self.reference, correction.minds
        edits = (*reference.edits(minds), *self.edits)
        change = Change(edits, correction.words, correction.drops, reference.config_dir, luck=correction.luck)
        if minds not in self._limited:
            after = reference.configuration(minds)
            self._limited[minds] = validate(edited(after.to_json(), self.edits), recorded=True) if self.edits else after
        return reference.parent.branch(correction.at, change, correction.draw, after=self._limited[minds])

    def command(self, correction: Correction, draws: int = 1) -> str:
        """Return the command that plays a correction."""
        reference = self.reference
        config_dir = [str(folder) for folder in named_folders(reference.config_dir)]
        edits = (*reference.edits(correction.minds), *self.edits)
        return correction.command(str(reference.parent.run), edits, config_dir, draws)

    def play(self, correction: Correction, listeners: Sequence[Listener] = ()) -> Ending:
        """Play a correction, and return how it ends. An exception of a mind or a world ends it as `error`.

        Args:
            correction: the correction.
            listeners: called with every event of an episode in memory.

        Raises:
            UserError: the run cannot be replayed up to the branch point, or a model cannot be called.
        """
        planned = self.plan(correction)
        if self.reference.on_disk:
            return self._on_disk(planned, correction)
        prefix = planned.start.prefix
        ender = Ender(lambda: prefix.live)
        try:
            play_in_memory(planned.cell, [ender, *listeners], start=planned.start)
        except StartRefused:
            raise
        except UserError:
            if correction.words and prefix.live:
                return Ending(REFUSED)
            raise
        except Exception:
            return replace(ender.ending, outcome=Outcome.ERROR)
        return ender.ending

    def left(self, correction: Correction) -> tuple[Ending | None, Spent]:
        """Return what earlier commands left of a correction on disk.

        Returns:
            The ending, if the correction was played to its end; and what was spent on unfinished attempts.
        """
        if not self.reference.on_disk:
            return None, Spent()
        attempts = _attempts(self.folder, self.name(correction))
        played = next(filter(_is_played, attempts), None)
        spent = sum((read_paid(folder) for folder in attempts if folder != played), Spent())
        return _ending(played) if played is not None else None, spent

    def _on_disk(self, planned: PlannedBranch, correction: Correction) -> Ending:
        """Play into a folder."""
        try:
            killed = resumable_attempts(_attempts(self.folder, planned.cell.name))
            result = run_cell(planned.cell, self.folder, start=planned.start, attempts=killed)
        except StartRefused:
            raise
        except UserError as error:
            if correction.words and planned.start.prefix.live and "the world refuses it" in error.message:
                return Ending(REFUSED)
            raise
        if result.outcome == Outcome.ERROR:
            raise UserError(
                f"{result.folder}: a re-run ended with an error: {result.reason}", "Run the same command to resume."
            )
        return _ending(result.folder)


def _ending(folder: Path) -> Ending:
    """Return how a re-run on disk ended, with its whole cost, including answers that could not be used."""
    spent = read_spent(folder)
    return replace(ending_of(RunFolder(folder).trace()), calls=spent.answers, usd=spent.usd, tokens=spent.tokens)


def _attempts(folder: Path, name: str) -> list[Path]:
    """Return the folders of a cell, of finished and of interrupted attempts."""
    if not folder.is_dir():
        return []
    return sorted(path for path in folder.iterdir() if path.name == name or path.name.startswith(f"{name}."))


def _is_played(folder: Path) -> bool:
    """Whether a folder holds a complete episode that did not end with an error."""
    try:
        return RunFolder(folder).check_whole().outcome != Outcome.ERROR
    except DamagedFile:
        return False

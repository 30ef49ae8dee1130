"""The experiment at a decision: which episodes measure its answers, and what they have measured so far.

Draws 1 to K play the decision again as plain branches: in each, the model samples an answer and the episode continues.
Every distinct answer, and the recorded one, is then forced in all other draws. So the answers share the randomness of
each draw: that of the world, of the minds, and of later answers. No episode is played only to sample an answer. Draw 0
is left out: it is the recorded run, which may have been chosen for its outcome.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import fsum
from pathlib import Path

from maeil.world import DrawsLots, closing_world
from quorum.runs.finished import read_finished
from quorum.runs.run_folder import RunFolder
from quorum.what_if.branch.change import Change
from quorum.what_if.branch.forced_answer import ForcedAnswer
from quorum.what_if.branch.parent import Parent
from quorum.what_if.branch.planned_cell import PlannedBranchCell
from quorum.what_if.preferences.decisions import Decision, Record
from quorum.what_if.preferences.design import Design
from quorum_base.user_errors import UserError


@dataclass(slots=True)
class Findings:
    """What an experiment has measured, and what is left.

    Attributes:
        cells: the episodes that are known to be needed.
        replies: the reply of each distinct answer by its digest, the recorded one first.
        outcomes: the outcome by digest of the answer and draw.
        unusable: number of sampled replies that are no answers of the requested form.
        missing: number of cells that are not finished.
        unknown: largest number of further episodes that unfinished ones may lead to.
    """

    cells: list[PlannedBranchCell] = field(default_factory=list)
    replies: dict[str, Record] = field(default_factory=dict)
    outcomes: dict[tuple[str, int], float] = field(default_factory=dict)
    unusable: int = 0
    missing: int = 0
    unknown: int = 0

    @property
    def complete(self) -> bool:
        """Whether nothing is left."""
        return not (self.missing or self.unknown)

    def differences(self, design: Design, one: str, other: str, draws: Iterable[int]) -> list[float]:
        """Return how much better one answer is than another, by draw."""
        return [design.sign * (self.outcomes[one, draw] - self.outcomes[other, draw]) for draw in draws]


@dataclass(frozen=True)
class Experiment:
    """The experiment at one decision.

    Attributes:
        parent: the recorded run.
        decision: the decision.
        design: what to measure.
        folder: folder of the sweep that plays the episodes.
    """

    parent: Parent
    decision: Decision
    design: Design
    folder: Path
    _measured: dict[str, tuple[float, Record | None]] = field(default_factory=dict)
    """Outcome and answer of finished episodes, by the name of the cell."""
    _cells: dict[str, dict[int, PlannedBranchCell]] = field(default_factory=dict)
    """Episodes by digest of the forced answer, and draw."""

    def look(self) -> Findings:
        """Read what the folder holds, and plan what follows from it.

        Raises:
            UserError: the run cannot be branched there, a branch asked something else, or its outcome is unknown.
        """
        design, found = self.design, Findings()
        found.replies[self._digest(self.decision.call["reply"])] = self.decision.call["reply"]
        for draw in range(1, design.answers + 1):
            cell = self._cell(draw)
            found.cells.append(cell)
            if not self._finished(cell):
                found.missing += 1
                continue
            outcome, call = self._measured[cell.name]
            if call is None:
                found.unusable += 1
                continue
            digest = self._digest(call["reply"])
            found.replies.setdefault(digest, call["reply"])
            found.outcomes[digest, draw] = outcome
        if found.missing:
            found.unknown = (design.answers + 1) * (design.draws + design.fresh) - design.answers
        elif len(found.replies) > 1:
            if self._force(found, list(found.replies), design.choosing):
                found.unknown = len(found.replies) * design.fresh
            else:
                paired = {digest for pair in self.pairs(found) for digest in pair}
                self._force(found, sorted(paired), design.again)
        return found

    def pairs(self, found: Findings) -> list[tuple[str, str]]:
        """Return the pairs of answers with different mean outcomes in the choosing draws, the better one first."""
        replies = list(found.replies)
        margins = {
            (one, other): round(fsum(found.differences(self.design, one, other, self.design.choosing)), 9)
            for place, other in enumerate(replies)
            for one in replies[:place]
        }
        return [pair if margin > 0 else pair[::-1] for pair, margin in margins.items() if margin]

    def placeholders(self, number: int, after: int) -> list[PlannedBranchCell]:
        """Return plain branches from the decision, which cost as much as episodes that are not known yet.

        Args:
            number: number of branches.
            after: number of draws that the branches of other decisions at the same instant may use.
        """
        first = self.design.again.stop + after
        return self._plan(None, range(first, first + number))

    def _force(self, found: Findings, digests: Sequence[str], draws: Iterable[int]) -> int:
        """Plan the episodes in which answers are forced, and read the finished ones; return how many are missing."""
        for draw in draws:
            for digest in digests:
                if (digest, draw) in found.outcomes:
                    continue
                cell = self._cell(draw, found.replies[digest])
                found.cells.append(cell)
                if not self._finished(cell):
                    found.missing += 1
                    continue
                found.outcomes[digest, draw], call = self._measured[cell.name]
                if call is None or self._digest(call["reply"]) != digest:
                    raise UserError(f"{self.folder / cell.name}: its answer is not the one that was forced")
        return found.missing

    def _cell(self, draw: int, reply: Record | None = None) -> PlannedBranchCell:
        """Return the episode of a draw in which an answer is forced; None: the model answers."""
        digest = self._digest(reply) if reply is not None else ""
        if digest not in self._cells:
            draws = range(1, self.design.again.stop)
            self._cells[digest] = dict(zip(draws, self._plan(reply, draws), strict=True))
        return self._cells[digest][draw]

    def _plan(self, reply: Record | None, draws: Iterable[int]) -> list[PlannedBranchCell]:
        parent, decision = self.parent, self.decision
        answer = None if reply is None else ForcedAnswer.of(decision.agent, decision.line, reply)
        change = Change(luck=self._luck, answer=answer)
        branch = parent.branch(decision.instant, change)
        return [PlannedBranchCell.of_branch(branch, parent.run, change, draw) for draw in draws]

    def _finished(self, cell: PlannedBranchCell) -> bool:
        """Whether an episode is finished; its outcome is then known."""
        if cell.name not in self._measured:
            folder = self.folder / cell.name
            done = read_finished(folder)
            if done is None or done.failed or done.hash != cell.hash:
                return False
            outcome = RunFolder(folder).metrics().get(self.design.outcome)
            if outcome is None:
                raise UserError(f"{folder}: it has no {self.design.outcome}", "Choose --measure outcome=METRIC.")
            self._measured[cell.name] = outcome, self.decision.again(folder)
        return True

    def _digest(self, reply: Record) -> str:
        return ForcedAnswer.of(self.decision.agent, self.decision.line, reply).digest

    @cached_property
    def _luck(self) -> bool:
        """Whether the rules of the world are random."""
        with closing_world(self.parent.episode.world()) as world:
            return isinstance(world, DrawsLots)

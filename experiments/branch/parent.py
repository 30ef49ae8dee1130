"""A run that branches come off. It is read once, however many there are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from maeil.clock import ClockUnit
from maeil.component import Handover
from maeil.errors import TraceError
from maeil.trace import Instant, Prefix
from maeil.trace.events import ThoughtStart
from maeil.user_errors import UserError
from quorum.agents.llm.replay import Replay
from quorum.experiments.branch.chain import change_of, instant_of, missing, places_of, runs_at
from quorum.experiments.branch.change import Change
from quorum.experiments.branch.messages import found_messages
from quorum.experiments.branch.world import tried, written
from quorum.experiments.common.memory_file import MEMORY_BEFORE, Memory, read_memory
from quorum.experiments.configuration.cell import Branch, Cell
from quorum.experiments.configuration.edits import edited, named_members
from quorum.experiments.configuration.inputs import inputs_of
from quorum.experiments.configuration.providers.replay import ReplayConfig, recorded_calls
from quorum.experiments.configuration.registry import topologies
from quorum.experiments.configuration.schema import Configuration, validate
from quorum.experiments.episode.branching import Branching
from quorum.experiments.episode.dropped import Drop
from quorum.experiments.episode.fault import FAULT, Fault, read_label
from quorum.experiments.results.recorded_episode import RecordedEpisode, open_episode
from quorum.experiments.results.run_folder import RunFolder
from quorum.experiments.results.run_meta import RunMeta


@dataclass(frozen=True, slots=True)
class PlannedBranch:
    """A branch that can be run.

    Attributes:
        cell: what is to be run.
        branching: the beginning that it has of its run; for one episode.
        idle: whether nothing that decides is another in it, though it has edits.
        episode: what is recorded of its run.
        instant: from which on it is live.
    """

    cell: Cell
    branching: Branching
    idle: bool
    episode: RecordedEpisode = field(repr=False)
    instant: Instant

    @property
    def thoughts_left(self) -> int:
        """How many thoughts its run has from the instant on."""
        events = (s for s in self.episode.trace.events if isinstance(s.event, ThoughtStart))
        return sum(self.instant.has_come(s.t, s.t_hat) for s in events)

    @property
    def notice(self) -> str:
        """What may keep it from coming to its end; empty for nothing."""
        c, branch = self.cell.configuration, self.cell.branch
        changes = branch is not None and branch.change and not self.idle
        if not (changes and c.uses_models and isinstance(c.llm, ReplayConfig)):
            return ""
        return (
            "llm=replay answers only what its run was asked, and what is another here may lead to other questions; "
            "--set llm=NAME gives the branch a model that can answer them"
        )


@dataclass(frozen=True, slots=True)
class Begun:
    """How a run began that is a branch.

    Attributes:
        parent: what it branches off.
        branch: from when on, and what was another then.
    """

    parent: Parent
    branch: Branch

    def branching(self, run: Path, after: Configuration, calls: Replay | None) -> Branching:
        """Return the beginning that it had, for one episode.

        Args:
            run: its folder.
            after: its configuration.
            calls: what its models answered, and those of its parent before.
        """
        instant, change = instant_of(self.branch), change_of(self.branch, run)
        found = self.parent.branching(instant, change, self.branch.draw, after, calls)
        return replace(found, prefix=found.prefix.unchecked())


@dataclass(frozen=True, slots=True)
class Parent:
    """A run as it was read.

    Attributes:
        run: its folder, as it was given.
        episode: what is recorded of it.
        configuration: with which it was played.
        memory: that its team brought along; None for none.
        fault: what was made to go wrong in it (`fault=one`); None: nothing. It is for playing the run again, not for
            those who are to find it.
        begun: where it is a branch itself: how it began; None: by itself.
    """

    run: Path
    episode: RecordedEpisode
    configuration: Configuration
    memory: Memory | None
    fault: Fault | None = field(default=None, repr=False)
    begun: Begun | None = None

    @classmethod
    def open(cls, run: Path, below: Sequence[Path] = ()) -> Parent:
        """Read a run, and those that it branches off.

        Args:
            run: its folder.
            below: those that branch off it, and are being read.

        Raises:
            UserError: there is no such run, or it cannot be brought back.
        """
        episode = open_episode(run)
        configuration = _configuration(episode)
        begun = _begun(run, RunFolder(episode.folder).meta(), below)
        fault = _fault(episode.folder) if configuration.fault is not None and begun is None else None
        return cls(run, episode, configuration, read_memory(episode.folder, MEMORY_BEFORE), fault, begun)

    @property
    def name(self) -> str:
        """Name of its folder."""
        return self.episode.folder.resolve().name

    @property
    def asked_models(self) -> bool:
        """Whether its minds think with language models, or those of a run that it branches off."""
        above = self.begun is not None and self.begun.parent.asked_models
        return above or self.configuration.uses_models

    def cell(self) -> Cell:
        """Return the cell that was run."""
        c = self.configuration
        return Cell(c, c.plain(), inputs_of(c))

    def branch(
        self, instant: Instant | None, change: Change, draw: int = 0, *, after: Configuration | None = None
    ) -> PlannedBranch:
        """Plan a branch.

        Args:
            instant: from which on it is live; None: the begin of the thought that sends the first message that is
                dropped.
            change: what is another from then on.
            draw: which of several samples it is; 0 goes on with the randomness of the run.
            after: the configuration that the edits give, where that is known already.

        Raises:
            UserError: there is no such instant, or the change cannot be made.
        """
        instant = self._instant(instant, change)
        after = self._after(change, after)
        branching = self.branching(instant, change, draw, after, self._calls())
        self._check(after, instant, branching.prefix)
        if draw and after.uses_models and isinstance(after.llm, ReplayConfig):
            raise UserError(
                "--draws with llm=replay: a recording has one answer to each question",
                "Give the branch a model that draws: --set llm=NAME.",
            )
        changed = () if branching.world is None else (written(branching.world.changes),)
        told = (*map(str, branching.words), *map(str, branching.drops), *changed)
        copied = tuple(sorted(branching.named)) if after.fault is not None else ()
        edits, digest = tuple(change.edits), branching.prefix.digest
        branch = Branch(self.name, instant.t, instant.t_hat, digest, edits, told, draw, copied=copied)
        cell = Cell(after, after.plain(), inputs_of(after), branch)
        idle = bool(edits) and not copied and after.identity() == self.configuration.identity()
        return PlannedBranch(cell, branching, idle, self.episode, instant)

    def branching(
        self, instant: Instant, change: Change, draw: int, after: Configuration, calls: Replay | None
    ) -> Branching:
        """Return the beginning of a branch, for one episode.

        Args:
            instant: from which on it is live.
            change: what is another from then on.
            draw: which of several samples it is.
            after: its configuration.
            calls: what models answered in the beginning.

        Raises:
            UserError: there is no such instant, or the change cannot be made.
        """
        prefix = self._prefix(instant, changed=change.world is not None)
        begun = self.begun
        earlier = begun.branching(self.run, self.configuration, calls) if begun is not None else None
        if earlier is not None and prefix.length < earlier.prefix.length:
            assert begun is not None
            raise UserError(
                f"--at {instant}: the run is a branch, live from {instant_of(begun.branch)} on",
                f"What was before is that of the run that it branches off: branch {begun.parent.run}.",
            )
        world = tried(change.world, self.episode, instant) if change.world is not None else None
        if world is not None and earlier is not None and earlier.changed is not None:
            raise UserError(
                "--world: the world has been changed in a run that this one branches off, and is changed once",
                "Give all changes at one instant, or branch the run in which the world is as it was.",
            )
        return Branching(
            str(self.run),
            self.configuration,
            prefix,
            calls,
            self.memory,
            words=change.words,
            drops=self._drops(instant, change),
            draw=draw,
            fault=self.fault,
            named=named_members(change.edits),
            after=after,
            earlier=earlier,
            world=world,
        )

    def _after(self, change: Change, known: Configuration | None) -> Configuration:
        """Return the configuration from the instant on."""
        if known is not None:
            after = known
        elif not change.edits:
            after = self.configuration
        else:
            after = validate(edited(self.configuration.plain(), change.edits, change.config_dir), recorded=True)
        if self.configuration.remembers and not after.remembers:
            raise UserError(
                f"{self.run}: its team takes a memory along, and {after.team_label} would not",
                "Give one agent another mind instead of all, or branch a run of minds that do not remember.",
            )
        if change.words and after.remembers:
            raise UserError(
                f"{change.words[0]}: not in {after.team_label}, whose minds keep what they said and planned themselves"
            )
        return after

    def _check(self, after: Configuration, instant: Instant, prefix: Prefix) -> None:
        """Make sure that what is another of the loop can be so from an instant on."""
        before = self.configuration
        if after.max_steps != before.max_steps and after.max_steps <= instant.t:
            raise UserError(
                f"max_steps={after.max_steps}: the branch begins in step {instant.t}", "Give it more steps than that."
            )
        if after.topology == before.topology:
            return
        if topologies.get(after.topology.name).handover is not Handover.FRESH:
            raise UserError(
                f"topology={after.topology.name}: it does not say that it can take over in the middle of an episode",
                "Where its turns follow from the conversation alone, its Component says handover=Handover.FRESH.",
            )
        if not prefix.opens:
            raise UserError(
                f"topology={after.topology.name}: at {instant} a conversation is under way by the rules of "
                f"topology={before.topology.name}",
                f"Give an instant at which one begins, without a time: --at {instant.t} or --at {instant.t + 1}.",
            )

    def _instant(self, instant: Instant | None, change: Change) -> Instant:
        if instant is not None:
            return instant
        if not change.drops:
            raise UserError("--at is missing: say from which step on the branch is live", "For example: --at 12")
        return found_messages(self.episode.story, change.drops)[0][1]

    def _drops(self, instant: Instant, change: Change) -> Sequence[Drop]:
        """Return what is not sent."""
        found = found_messages(self.episode.story, change.drops) if change.drops else ()
        for drop, begun in found:
            if begun.t_hat is not None and not instant.has_come(begun.t, begun.t_hat):
                raise UserError(
                    f"{drop}: the thought that sends it begins at {begun}, before --at {instant}",
                    f"Leave --at out, or give --at {begun} or earlier.",
                )
        return [drop for drop, _ in found]

    def _prefix(self, instant: Instant, *, changed: bool) -> Prefix:
        if instant.t > self.episode.steps:
            raise UserError(f"--at {instant}: the run ends after step {self.episode.steps}")
        try:
            return Prefix(self.episode.trace, instant, changed=changed)
        except TraceError as error:
            raise UserError(f"--at {instant}: {error}") from error

    def _calls(self) -> Replay | None:
        """Return what its models answered, in order and from the first on; it is used up by one branch."""
        if not self.asked_models:
            return None
        return recorded_calls(self.run, f"{self.run}: what its models answered")


def _fault(folder: Path) -> Fault | None:
    label = read_label(folder)
    if label is None:
        raise UserError(
            f"{folder}: its {FAULT} is gone, which says what goes wrong in it",
            "Run it again: the same configuration gives the same fault.",
        )
    return label.fault


def _begun(run: Path, meta: RunMeta, below: Sequence[Path]) -> Begun | None:
    """Return how a run began that is a branch; None for one that began by itself."""
    if meta.branch is None:
        return None
    branch, others = meta.branch.branch, []
    for place in runs_at(places_of(run, meta)):
        if place.resolve() in (run.resolve(), *below):
            continue
        parent = Parent.open(place, (run.resolve(), *below))
        instant = instant_of(branch)
        changed = change_of(branch, run).world is not None
        try:
            if Prefix(parent.episode.trace, instant, changed=changed).digest == branch.prefix:
                return Begun(parent, branch)
        except TraceError:
            pass
        others.append(place)
    raise missing(run, branch.run, others)


def _configuration(episode: RecordedEpisode) -> Configuration:
    """Return the configuration of a run that can be brought back."""
    configuration = validate(episode.configuration, recorded=True)
    if configuration.clock.unit is ClockUnit.SECONDS:
        raise UserError(
            f"{episode.folder}: clock=seconds: its thoughts took real time, which cannot be had again",
            "Branch a run with clock=tokens or clock=fixed.",
        )
    return configuration

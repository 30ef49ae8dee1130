"""A recorded run that can be branched. It is read once for any number of branches."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from maeil.clock import ClockUnit
from maeil.component import Handover
from maeil.errors import TraceError
from maeil.trace import Instant, Prefix
from quorum.agents.llm.replay import Replay
from quorum.configuration.cell import Cell
from quorum.configuration.edits import edited, named_members
from quorum.configuration.inputs import inputs_of
from quorum.configuration.providers.replay import ReplayConfig, recorded_calls
from quorum.configuration.registry import minds, topologies
from quorum.configuration.schema import Configuration, validate
from quorum.display.sanitize import sanitize
from quorum.episode.expected import Rest
from quorum.runs.recorded_episode import RecordedEpisode, open_episode
from quorum.runs.run_folder import RunFolder, is_run
from quorum.runs.run_meta import RunMeta
from quorum.storage.memory_file import MEMORY_BEFORE, Memory, read_memory
from quorum.what_if.branch.branch_minds import DroppedMessage
from quorum.what_if.branch.branching import BranchStart
from quorum.what_if.branch.change import PROBE, Change, change_of, find_messages, try_world_change
from quorum.what_if.branch.origin import BranchOrigin
from quorum.what_if.extensions.change import ChangeAt
from quorum_base.user_errors import UserError

_LONGEST_NAME = 200


@dataclass(frozen=True, slots=True)
class PlannedBranch:
    """A branch that is ready to run.

    Attributes:
        cell: the branch as a cell.
        origin: the origin of the cell.
        start: its recorded prefix and its change; for one episode.
        idle: whether its edits have no effect.
        parent: its run.
    """

    cell: Cell
    origin: BranchOrigin
    start: BranchStart
    idle: bool
    parent: Parent = field(repr=False)

    def rest(self) -> Rest:
        """Return the cost of its run from the branch point on, which predicts that of a branch with the same team.

        A probe has one thought for each agent. For another team, only the number of thoughts is known.
        """
        before, after = self.parent.configuration, self.cell.configuration
        if self.start.probe is not None:
            return Rest(after.n)
        found = self.parent.rest(self.origin.instant)
        same = (before.team, before.topology) == (after.team, after.topology)
        return found if same else Rest(found.thoughts)

    @property
    def notice(self) -> str:
        """Warning that the edits have no effect, or that the branch may not finish; empty for none."""
        c, origin = self.cell.configuration, self.origin
        if self.idle:
            return f"{', '.join(origin.edits)}: this change has no effect in this run"
        if not (origin.change and c.uses_models and isinstance(c.llm, ReplayConfig)):
            return ""
        return (
            "llm=replay answers only the prompts of its run, and this change may lead to other prompts; "
            "llm=NAME gives the branch a model that can answer them"
        )


@dataclass(frozen=True, slots=True)
class Ancestor:
    """The run that another run branches off.

    Attributes:
        parent: the run.
        origin: origin of the other run: the branch point and the change.
    """

    parent: Parent
    origin: BranchOrigin

    def start(self, run: Path, after: Configuration, calls: Replay | None) -> BranchStart:
        """Return the recorded prefix and the change of the branch, for one episode.

        Args:
            run: folder of the branch.
            after: configuration of the branch.
            calls: the recorded answers of its models, including those of its parent.
        """
        change = change_of(self.origin, run)
        found = self.parent.start(self.origin.instant, change, self.origin.draw, after, calls)
        return replace(found, prefix=found.prefix.unchecked())


@dataclass(frozen=True, slots=True)
class Parent:
    """A recorded run.

    Attributes:
        run: its folder, as the user gave it.
        episode: its record.
        configuration: its configuration.
        memory: the memory with which its team started; None for none.
        ancestor: the run that it branches off, if it is a branch itself; else None.
    """

    run: Path
    episode: RecordedEpisode
    configuration: Configuration
    memory: Memory | None
    ancestor: Ancestor | None = None
    _rests: dict[Instant, Rest] = field(default_factory=dict, repr=False, compare=False)

    @classmethod
    def open(cls, run: Path, below: Sequence[Path] = ()) -> Parent:
        """Read a run, and the runs that it was branched from.

        Args:
            run: its folder.
            below: branches of it that are being read.

        Raises:
            UserError: there is no such run, or it cannot be replayed.
        """
        episode = open_episode(run)
        configuration = _configuration(episode)
        ancestor = _ancestor(run, RunFolder(episode.folder).meta(), below)
        return cls(run, episode, configuration, read_memory(episode.folder, MEMORY_BEFORE), ancestor)

    @property
    def name(self) -> str:
        """Name of its folder."""
        return self.episode.folder.resolve().name

    @property
    def asked_models(self) -> bool:
        """Whether its minds, or those of a run above it, think with language models."""
        above = self.ancestor is not None and self.ancestor.parent.asked_models
        return above or self.configuration.uses_models

    def cell(self) -> Cell:
        """Return the cell of the run."""
        c = self.configuration
        return Cell(c, inputs_of(c))

    def branch(
        self, instant: Instant | None, change: Change, draw: int = 0, *, after: Configuration | None = None
    ) -> PlannedBranch:
        """Plan a branch.

        Args:
            instant: the branch point; None: the start of the thought that sends the first dropped message.
            change: what the branch changes.
            draw: number of the sample; 0 continues with the randomness of the run.
            after: the configuration with the edits, if it is already known.

        Raises:
            UserError: there is no such branch point, or the change is not possible.
        """
        instant = instant if instant is not None else self.instant_of_drop(change.drops)
        after = self._after(change, after)
        if change.probe:
            self._check_probe(after, instant)
        start = self.start(instant, change, draw, after, self._calls(change))
        self._check(after, instant, start.prefix)
        if draw and after.uses_models and isinstance(after.llm, ReplayConfig):
            raise UserError(
                "--draws with llm=replay: a recording has only one answer to each prompt",
                "Give the branch a model that samples: llm=NAME.",
            )
        copied = tuple(sorted(start.named)) if self.ancestor is not None else ()
        edits, digest = tuple(change.edits), start.prefix.digest
        origin = BranchOrigin(
            self.name, instant.t, instant.t_hat, digest, edits, change.told, draw, copied=copied, luck=change.luck
        )
        cell = Cell(after, inputs_of(after), origin)
        idle = bool(edits) and not copied and after.identity() == self.configuration.identity()
        return PlannedBranch(cell, origin, start, idle, self)

    def rest(self, instant: Instant) -> Rest:
        """Return the cost of the run from an instant on."""
        if instant not in self._rests:
            self._rests[instant] = Rest.of(self.episode.trace, instant)
        return self._rests[instant]

    def start(
        self, instant: Instant, change: Change, draw: int, after: Configuration, calls: Replay | None
    ) -> BranchStart:
        """Return the recorded prefix and the change of a branch, for one episode.

        Args:
            instant: the branch point.
            change: what the branch changes.
            draw: number of the sample.
            after: configuration of the branch.
            calls: the recorded answers of models.

        Raises:
            UserError: there is no such branch point, or the change is not possible.
        """
        prefix = self._prefix(instant, changed=change.comes_first(instant))
        prefix.changes_first = change.probe
        above = self.ancestor
        earlier = above.start(self.run, self.configuration, calls) if above is not None else None
        if above is not None and earlier is not None and earlier.probe is not None:
            raise UserError(f"{self.run}: it is a probe, which ends where it starts", f"Branch {above.parent.run}.")
        if above is not None and earlier is not None and prefix.length < earlier.prefix.length:
            raise UserError(
                f"--at {instant}: the run is itself a branch, live from {above.origin.instant} on",
                f"For an earlier branch point, branch its parent: {above.parent.run}.",
            )
        world = None
        if change.world is not None or change.luck:
            luck = self.configuration.seeds.child("luck").child(draw).integer() % 2**32 if change.luck else None
            first = instant.t if instant.t_hat is None else instant.t + 1  # the first step after the branch point
            world = try_world_change(ChangeAt(first, change.world, luck), self.episode, instant)
        done = earlier.changed if earlier is not None else None
        if world is not None and done is not None:
            option = "--luck" if change.world is None else "--world"
            what = "drawn its luck again with --luck" if done.changes is None else "changed its world with --world"
            raise UserError(
                f"{option}: this run, or an ancestor of it, has {what} at step {done.t}; this is possible only once",
                "Make all changes at one branch point, or branch the run without them.",
            )
        return BranchStart(
            memory=self.memory,
            run=str(self.run),
            configuration=self.configuration,
            prefix=prefix,
            calls=calls,
            words=change.words,
            drops=self._drops(instant, change),
            draw=draw,
            named=named_members(change.edits),
            after=after,
            earlier=earlier,
            world=world,
            probe=instant.t if change.probe else None,
            forced=change.answer.participant if change.answer is not None else "",
        )

    def instant_of_drop(self, messages: Sequence[int]) -> Instant:
        """Return the start of the thought that sends the first dropped message.

        Raises:
            UserError: no message is dropped, or the run has no such message.
        """
        if not messages:
            raise UserError("--at is missing: give the step from which the branch is live", "For example: --at 12")
        return find_messages(self.episode.story, messages)[0][1]

    def _after(self, change: Change, known: Configuration | None) -> Configuration:
        """Return the configuration from the branch point on."""
        if known is not None:
            after = known
        elif not change.edits:
            after = self.configuration
        else:
            after = validate(edited(self.configuration.to_json(), change.edits, change.config_dir), recorded=True)
        if self.configuration.remembers and not after.remembers:
            raise UserError(
                f"{self.run}: its team has a memory that {after.team_label} would lose",
                "Give one agent another mind instead of all, or branch a run of minds that do not remember.",
            )
        if change.words and after.remembers:
            raise UserError(f"{change.words[0]}: {after.team_label} has minds that remember what they said and planned")
        return after

    def _check_probe(self, after: Configuration, instant: Instant) -> None:
        """Refuse a probe inside a conversation, of a probe, or of a team in which no mind can answer."""
        if instant.t_hat is not None:
            raise UserError(
                f"--at {instant} {PROBE}: a probe takes place at the start of a step, before anybody thinks",
                f"Give --at {instant.t}, or --at {instant.t + 1} for what they believe after the talk of this step.",
            )
        if not any(minds.get(mind.name).answers for mind in after.team.values()):
            able = [name for name in minds.names() if minds.get(name).answers]
            raise UserError(
                f"{PROBE}: agents={after.team_label} cannot say what they believe",
                f"These minds can: {', '.join(able)}.",
            )

    def _check(self, after: Configuration, instant: Instant, prefix: Prefix) -> None:
        """Refuse changes of the loop that are not possible at the branch point."""
        before = self.configuration
        if after.max_steps != before.max_steps and after.max_steps <= instant.t:
            raise UserError(
                f"max_steps={after.max_steps}: the branch starts at step {instant.t}", "Give it more steps than that."
            )
        if after.topology == before.topology:
            return
        if topologies.get(after.topology.name).handover is not Handover.FRESH:
            raise UserError(
                f"topology={after.topology.name}: it does not declare that it can take over during an episode",
                "If its turns follow from the conversation alone, its Component says handover=Handover.FRESH.",
            )
        if not prefix.opens:
            raise UserError(
                f"topology={after.topology.name}: at {instant} a conversation is under way by the rules of "
                f"topology={before.topology.name}",
                f"Branch at the start of a conversation, without a time: --at {instant.t} or --at {instant.t + 1}.",
            )

    def _drops(self, instant: Instant, change: Change) -> Sequence[DroppedMessage]:
        """Return the messages that are not delivered."""
        found = find_messages(self.episode.story, change.drops) if change.drops else ()
        for drop, start in found:
            if start.t_hat is not None and not instant.has_come(start.t, start.t_hat):
                raise UserError(
                    f"{drop}: the thought that sends it starts at {start}, before --at {instant}",
                    f"Leave --at out, or give --at {start} or earlier.",
                )
        return [drop for drop, _ in found]

    def _prefix(self, instant: Instant, *, changed: bool) -> Prefix:
        last = (Instant(thought.start.t, thought.start.t_hat) for thought in self.episode.story.thoughts[-1:])
        hint = "".join(f"Its last branch point: --at {point}" for point in last)
        if instant.t > self.episode.steps:
            raise UserError(f"--at {instant}: the run ends after step {self.episode.steps}", hint)
        try:
            return Prefix(self.episode.trace, instant, changed=changed)
        except TraceError as error:
            raise UserError(f"--at {instant}: {error}", hint) from error

    def _calls(self, change: Change) -> Replay | None:
        """Return the recorded answers of its models, and a forced one, for one branch, which consumes them."""
        if not self.asked_models:
            return None
        replies = change.answer.replies if change.answer is not None else None
        return recorded_calls(self.run, f"{self.run}: the answers of its models", replies)


def _ancestor(run: Path, meta: RunMeta, below: Sequence[Path]) -> Ancestor | None:
    """Return the run that a run branches off; None if it is not a branch."""
    origin, others = meta.origin, []
    if not isinstance(origin, BranchOrigin):
        return None
    changed = change_of(origin, run).comes_first(origin.instant)
    for place in dict.fromkeys(place for place in _places_of(run, origin, meta.parent) if is_run(place)):
        if place.resolve() in (run.resolve(), *below):
            continue
        found = Ancestor(Parent.open(place, (run.resolve(), *below)), origin)
        try:
            if Prefix(found.parent.episode.trace, origin.instant, changed=changed).digest == origin.prefix:
                return found
        except TraceError:
            pass
        others.append(place)
    shown = sanitize(origin.run, _LONGEST_NAME)
    if others:
        raise UserError(
            f"{run}: it is a branch of {shown}, and {others[0]} is not that run: it starts differently",
            "Put the folder of that run next to it.",
        )
    raise UserError(
        f"{run}: it is a branch of {shown}, which is missing, so the part before the branch point cannot be replayed",
        "Put the folder of that run next to it, under this name.",
    )


def _places_of(run: Path, origin: BranchOrigin, recorded: str) -> Iterator[Path]:
    """Return the possible folders of the parent of a run: next to it, or as recorded in its `meta.json`."""
    above, name = run.resolve().parent, origin.run
    if Path(name).name == name:
        yield above / name
    if recorded and not Path(recorded).is_absolute():
        yield above / recorded


def _configuration(episode: RecordedEpisode) -> Configuration:
    """Return the configuration of a run that can be replayed."""
    configuration = validate(episode.configuration, recorded=True)
    if configuration.clock.unit is ClockUnit.SECONDS:
        raise UserError(
            f"{episode.folder}: clock=seconds: its thoughts took real time, which cannot be reproduced",
            "Branch a run with clock=tokens or clock=fixed.",
        )
    return configuration

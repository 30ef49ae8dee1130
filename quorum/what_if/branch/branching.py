"""Replay a recorded prefix of an episode, and continue live from a branch point.

Up to the branch point, all minds of the recorded run think again with the recorded answers of its models, and every
event is checked against the record. So minds reach the same internal state, and nothing is sent to a model.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import orjson

from maeil import LoopSettings, Mind, Plan, TeamContext, World
from maeil.component import ComponentConfig, Handover
from maeil.errors import InvalidThought
from maeil.extension import Extension
from maeil.mind import COORDINATOR
from maeil.seeds import Seeds
from maeil.trace import Listener, Prefix
from maeil.world import Limited
from quorum.agents.llm.protocol import Model
from quorum.agents.llm.replay import Replay
from quorum.agents.skills import skills_of
from quorum.configuration.cell import Cell
from quorum.configuration.extensions import together
from quorum.configuration.registry import minds
from quorum.configuration.schema import Configuration
from quorum.display.sanitize import sanitize
from quorum.episode.building import build_topology
from quorum.episode.built import Parts
from quorum.episode.call_ledger import CallLedger, budget_of
from quorum.episode.model_pool import ModelPool
from quorum.episode.models import EpisodeModels
from quorum.episode.parts import loop_settings
from quorum.episode.start import Start, StartRefused
from quorum.episode.team import SilentMind, Team, build_team
from quorum.what_if.branch.branch_draws import DrawnSeeds, sample_number
from quorum.what_if.branch.branch_minds import DroppedMessage, DroppingMind, ScriptedAnswer, ScriptedMind, Takeover
from quorum.what_if.branch.switches import Switches, SwitchingModel, SwitchingTopology
from quorum.what_if.extensions.branch import Branch, LaterSettings
from quorum.what_if.extensions.change import Change, ChangeAt
from quorum.what_if.extensions.probe import Probe
from quorum.what_if.extensions.probe.facts import ProbeSkills
from quorum_base.user_errors import UserError, choices_hint

_LONGEST_REASON = 900
"""Maximum length of the first difference in an error message, in characters."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BranchStart(Start):
    """The start of a branch: the recorded prefix of a run, and what changes after it.

    Attributes:
        run: folder of the recorded run, for messages.
        configuration: configuration of the run.
        prefix: what happened in the run before the branch point.
        calls: the recorded answers of its models; None if it used none.
        words: scripted answers of participants.
        drops: messages that are not delivered.
        draw: number of the sample; 0 continues with the randomness of the run.
        named: participants who get another mind. A mind with the same values is a fresh copy, which follows no script:
            the clean reference for an agent's own mind.
        after: configuration from the branch point on; None: unchanged.
        earlier: the start of the run, if it is a branch itself; else None.
        edited: the minds that follow a script or drop messages, once they are built.
        switches: values of the loop that change at the branch point.
        world: a change of the world state, with its step; None: no change.
        probe: the step in which the agents answer a belief probe and the branch ends; None: the branch continues.
        forced: the participant whose first answer from the branch point on also comes from the record; empty: nobody.
    """

    run: str
    configuration: Configuration
    prefix: Prefix
    calls: Replay | None
    words: Sequence[ScriptedAnswer] = ()
    drops: Sequence[DroppedMessage] = ()
    draw: int = 0
    named: frozenset[str] = frozenset()
    after: Configuration | None = None
    earlier: BranchStart | None = None
    edited: list[ScriptedMind | DroppingMind] = field(default_factory=list)
    switches: list[Switches] = field(default_factory=list)
    world: ChangeAt | None = None
    probe: int | None = None
    forced: str = ""

    @property
    def parent(self) -> Path:
        """Folder of the run."""
        return Path(self.run)

    @property
    def undone(self) -> Sequence[ScriptedAnswer | DroppedMessage]:
        """The scripted answers and dropped messages that were never used."""
        return [what for mind in self.edited for what in mind.undone]

    @property
    def listeners(self) -> Sequence[Listener]:
        """All parts that listen to the episode."""
        found: list[Listener] = []
        for one in self._chain:
            found.insert(0, one.prefix)  # the earliest prefix comes first
            found += [*one.switches, *(mind for mind in one.edited if isinstance(mind, DroppingMind))]
        return found

    @property
    def changed(self) -> ChangeAt | None:
        """The change of the world state in this branch, or in one above it."""
        return next((one.world for one in self._chain if one.world is not None), None)

    @property
    def _chain(self) -> Iterator[BranchStart]:
        one: BranchStart | None = self
        while one is not None:
            yield one
            one = one.earlier

    @property
    def sample(self) -> int:
        """The number that makes the requests of this draw samples distinct from those of other draws."""
        return sample_number([one.draw for one in self._chain][::-1])

    def models(
        self, cell: Cell, pool: ModelPool, books: CallLedger, recorded: Replay | None = None
    ) -> Callable[[str], Any]:
        """Return a factory of models for participants that answer as recorded up to the branch point."""
        after = EpisodeModels(cell.configuration, pool, books, cell.name, recorded=recorded, sample=self.sample)
        return self._models(after, pool, books)

    def _models(self, after: Callable[[str], Model], pool: ModelPool, books: CallLedger) -> Callable[[str], Model]:
        """Return a factory of models that answer as recorded up to the branch point.

        Args:
            after: the factory of the models from then on.
            pool: the model pool of the process.
            books: ledgers of the calls of both.
        """
        if self.calls is None:
            return after
        sample = self.earlier.sample if self.earlier is not None else 0
        before: Callable[[str], Model] = EpisodeModels(
            self.configuration, pool, books, recorded=self.calls, sample=sample
        )
        had, has = budget_of(self.configuration), budget_of(self.after or self.configuration)
        self._switch(partial(setattr, books.spending, "budget", had), partial(setattr, books.spending, "budget", has))
        if self.earlier is not None:
            before = self.earlier._models(before, pool, books)
        others = self.after is not None and self.after.llm != self.configuration.llm
        return lambda name: SwitchingModel(
            self.prefix, before(name), after(name), others=others, forced=name == self.forced
        )

    def seeds(self, seeds: Seeds) -> Seeds:
        """Return the place of the minds, whose streams can restart at the branch point."""
        return DrawnSeeds(seeds.seed, seeds.path)

    def team(self, team: Team, context: TeamContext) -> Team:
        """Return the team of the branch: minds of the run, with others that take over at the branch point.

        Args:
            team: the team from then on.
            context: the context that it was built for.

        Raises:
            UserError: a mind cannot take over.
        """
        if self.draw and isinstance(context.seeds, DrawnSeeds):
            self.prefix.then(partial(context.seeds.streams.redraw, self.draw))
        had = self._had(context)
        with self._limited(context.world):
            first = build_team(self.configuration, had)
            if self.earlier is not None:
                first = self.earlier.team(first, had)
        names = (*context.world.agents, *([COORDINATOR] if context.topology.coordinated else []))
        others = had.topology is not context.topology
        copied = [team.configs[index] for index, name in enumerate(names) if name in self.named]
        places = zip(names, first.minds, first.configs, team.minds, team.configs, strict=True)
        seats = [self._seat(*place, copied=copied, others=others) for place in places]
        for sender in sorted({drop.sender for drop in self.drops}):
            own = [drop for drop in self.drops if drop.sender == sender]
            seats[sender] = dropping = DroppingMind(seats[sender], own, self.prefix)
            self.edited.append(dropping)
        for words in self.words:
            if words.participant not in names:
                hint = choices_hint(words.participant, "They are", names)
                raise UserError(f"{words}: there is no participant {words.participant!r}", hint)
            index = names.index(words.participant)
            seats[index] = scripted = ScriptedMind(
                seats[index], words, _content(words, context.world), context.world, self.prefix
            )
            self.edited.append(scripted)
        topology = first.topology
        if others:
            topology = SwitchingTopology(first.topology or had.topology, context.topology, self.prefix)
        return Team(seats, team.configs, topology, together([first.extensions, self.configuration.extensions]))

    def settings(self, settings: LoopSettings) -> LoopSettings:
        """Return the settings up to the first branch point."""
        return self._settings(settings)[0]

    def extensions(self, cell: Cell, parts: Parts) -> Sequence[Extension]:
        """Return the extensions of the configuration, and those that change the world and settings or probe the agents.

        A probe comes first, so that all later extensions see that the episode is over.
        """
        found = [*parts.extensions]
        if self.changed is not None:
            found.append(Change(self.changed))
        if self.probe is not None:
            found.insert(0, _probe(self.probe, cell.configuration, parts))
        _, later = self._settings(loop_settings(cell.configuration))
        return (*found, Branch(cell.origin.to_json() if cell.origin is not None else None, later))

    def _settings(self, settings: LoopSettings) -> tuple[LoopSettings, Sequence[LaterSettings]]:
        """Return the settings of the loop in the first step, and those that it adopts later.

        Args:
            settings: the settings after the last branch point.
        """
        later = []
        kept = {name: getattr(settings, name) for name in ("thought_seconds", "episode_seconds", "max_steps")}
        for one in self._chain:
            before = replace(loop_settings(one.configuration), **kept)
            if before != settings:
                later.append(LaterSettings(one.prefix, settings))
                settings = before
        return settings, later

    def _switch(self, before: Callable[[], None], after: Callable[[], None]) -> None:
        if not self.switches:
            self.switches.append(Switches(self.prefix))
        self.switches[0].add(before, after)

    def _had(self, context: TeamContext) -> TeamContext:
        """Return the context of the minds up to the branch point.

        Raises:
            UserError: the topology from then on has other participants, or requires an extension with other values.
        """
        c, after = self.configuration, self.after or self.configuration
        if c.topology == after.topology:
            return context
        topology = build_topology(c, len(context.world.agents))
        if topology.coordinated != context.topology.coordinated:
            has, had = ("has", "had none") if context.topology.coordinated else ("has none", "had one")
            raise UserError(
                f"topology={after.topology.name}: it {has} a coordinator, and the team {had} before",
                "Nobody can join or leave during an episode: choose a topology with the same participants.",
            )
        together([c.extensions, after.extensions])
        self.prefix.changes_first = True
        self.prefix.others |= {"topology"}
        return replace(context, topology=topology)

    @contextmanager
    def _limited(self, world: World) -> Iterator[None]:
        """Give the world the step limit of the run up to the branch point.

        Raises:
            UserError: the world cannot change its limit during an episode.
        """
        before, after = self.configuration.max_steps, (self.after or self.configuration).max_steps
        if before == after:
            yield
            return
        if not isinstance(world, Limited):
            raise UserError(
                f"max_steps={after}: the step limit of env={world.name} cannot change during an episode",
                "Its world would need a method limit(max_steps): see maeil.world.Limited.",
            )
        self.prefix.others |= {"max_steps"}
        self._switch(partial(world.limit, before), partial(world.limit, after))
        world.limit(before)
        try:
            yield
        finally:
            world.limit(after)

    def _seat(
        self,
        name: str,
        before: Mind,
        had: ComponentConfig,
        after: Mind,
        config: ComponentConfig,
        *,
        copied: Sequence[ComponentConfig],
        others: bool,
    ) -> Mind:
        """Return the mind of a participant.

        Args:
            name: name of the participant.
            before: its mind up to the branch point.
            had: the values of that mind.
            after: its mind from then on.
            config: the values of that mind.
            copied: the values of the minds of all named participants.
            others: whether the topology changes, so that minds that talk are rebuilt.
        """
        rebuilt = others and minds.get(config.name).talks
        if config == had and name not in self.named and not rebuilt:
            if config in copied and minds.get(config.name).handover is Handover.SHADOW:
                return Takeover(before, after, None, shadow=True)
            # A mind that does not use talk needs none in a team that talks from now on.
            spared = isinstance(after, SilentMind) and not isinstance(before, SilentMind)
            return Takeover(before, SilentMind(before), self.prefix, shadow=False) if spared else before
        how = minds.get(config.name).handover
        if how is Handover.NEVER:
            able = [name for name in minds.names() if minds.get(name).handover is not Handover.NEVER]
            raise UserError(
                f"agents={config.name}: such a mind cannot take over during an episode: its state builds up from the "
                "start of an episode",
                f"These can: {', '.join(able)}.",
            )
        return Takeover(before, after, self.prefix, shadow=how is Handover.SHADOW)

    @contextmanager
    def checked(self) -> Iterator[None]:
        """Turn errors before the branch point into a refusal.

        Raises:
            StartRefused: something went wrong before the branch point, or it was not reached.
        """
        try:
            yield
        except Exception as error:
            if self.prefix.live:
                raise
            raise self._refusal(str(error) or type(error).__name__) from error
        if not self.prefix.live:
            raise self._refusal("the episode ends earlier")

    def _refusal(self, reason: str) -> StartRefused:
        shown = "\n".join(sanitize(line, _LONGEST_REASON) for line in reason[:_LONGEST_REASON].splitlines())
        return StartRefused(
            f"{self.run}: it cannot be replayed up to the branch point: {shown}",
            "Its prompts, its plug-ins or the code have changed since, or the folder was changed.",
        )


def _probe(t: int, c: Configuration, parts: Parts) -> Probe:
    """Return the probe of the agents whose minds can answer it."""
    names = parts.world.agents
    able = [i for i, name in enumerate(names) if minds.get(parts.several.get(name, c.agents.name)).answers]
    skills = skills_of(parts.world.name)
    roles = {role: getattr(skills, role) for role in ("places", "stands") if skills.has(role)}
    return Probe(t, able, ProbeSkills(**roles))


def _content(words: ScriptedAnswer, world: World) -> str | Plan:
    """Return the scripted message, or the plan in the actions of the world.

    Raises:
        UserError: it is not a plan of this world.
    """
    if words.text is not None:
        return words.text
    example = 'For example: --plan agent_0:\'[{"action": "NAME"}]\', in the form of plans in the trace.'
    try:
        actions = orjson.loads(words.actions or "")
        if not (isinstance(actions, list) and actions and all(isinstance(action, dict) for action in actions)):
            raise UserError(f"{words}: not a list of actions", example)
        return Plan(tuple(world.vocabulary.parse(action) for action in actions))
    except orjson.JSONDecodeError as error:
        raise UserError(f"{words}: not JSON: {error}", example) from error
    except InvalidThought as error:
        raise UserError(f"{words}: {'; '.join(error.reasons)}") from error

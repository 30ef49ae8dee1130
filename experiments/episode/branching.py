"""How an episode begins as a recorded one did, and goes on by itself from an instant.

Until then all minds of that run think again, with the recorded answers of its models in the place of these, and every
event is held against the record. So whatever minds keep in themselves is as it was, and nothing is sent to a model.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial

import orjson

from maeil import Mind, Plan, TeamContext, World
from maeil.component import ComponentConfig, Handover, TopologyContext
from maeil.errors import InvalidThought
from maeil.extensions.change import ChangeAt
from maeil.trace import Listener, Prefix
from maeil.user_errors import UserError, choices_hint
from maeil.world import Limited
from quorum.agents.llm.protocol import Model, Reply, Request
from quorum.agents.llm.replay import Replay
from quorum.experiments.common.memory_file import Memory
from quorum.experiments.common.sanitize import sanitize
from quorum.experiments.configuration.extensions import together
from quorum.experiments.configuration.registry import minds, topologies
from quorum.experiments.configuration.schema import Configuration
from quorum.experiments.episode.building import built
from quorum.experiments.episode.built import check_topology
from quorum.experiments.episode.call_books import CallBooks, budget_of
from quorum.experiments.episode.dictated import Dictated, Words
from quorum.experiments.episode.draws import DrawnSeeds, sample_number
from quorum.experiments.episode.dropped import Drop, Dropping
from quorum.experiments.episode.fault import Fault
from quorum.experiments.episode.model_pool import ModelPool
from quorum.experiments.episode.models import EpisodeModels
from quorum.experiments.episode.planting import participants, seated
from quorum.experiments.episode.seat import Attended, Seat
from quorum.experiments.episode.switching import Switches, SwitchingTopology
from quorum.experiments.episode.team import Team, build_team
from quorum.experiments.episode.unhearing import Unhearing

_LONGEST_REASON = 900
"""Characters of what a message says of the first difference."""


class PrefixRefused(UserError):
    """The beginning of the other run cannot be brought back."""


@dataclass(frozen=True, slots=True)
class Branching:
    """The beginning that an episode has of another one.

    Attributes:
        run: where that was read, for messages.
        configuration: of the other one.
        prefix: what happened in it before the instant.
        calls: what its models answered; None where it asked none.
        memory: that its team brought along; None for none.
        words: what participants are told to say or to plan, once.
        drops: messages that their senders do not send.
        draw: which of several samples from the instant it is; 0 goes on with the randomness of the run.
        fault: what goes wrong in the other one, and in this one too, unless the mind of whoever does it is replaced.
        named: participants whose mind is said to be another from the instant on. One of the same values is a fresh
            copy: it has no fault, and is the clean reference of an agent's own mind.
        after: from the instant on; None: the same configuration.
        earlier: where the other one is a branch itself: the beginning that it had; None: it began by itself.
        told: those who are told any of that, when they are built.
        switches: what of the loop is another from the instant on.
        world: what of the world is another from the instant on, and when that is; None: nothing.
    """

    run: str
    configuration: Configuration
    prefix: Prefix
    calls: Replay | None
    memory: Memory | None = None
    words: Sequence[Words] = ()
    drops: Sequence[Drop] = ()
    draw: int = 0
    fault: Fault | None = None
    named: frozenset[str] = frozenset()
    after: Configuration | None = None
    earlier: Branching | None = None
    told: list[Dictated | Dropping] = field(default_factory=list)
    switches: list[Switches] = field(default_factory=list)
    world: ChangeAt | None = None

    @property
    def undone(self) -> Sequence[Words | Drop]:
        """What nobody has had a turn for."""
        return [what for mind in self.told for what in mind.undone]

    @property
    def listeners(self) -> Sequence[Listener]:
        """Those who are told every event of the episode."""
        found: list[Listener] = []
        for one in self._chain:
            found.insert(0, one.prefix)  # those of the earliest begin first
            found += [*one.switches, *(mind for mind in one.told if isinstance(mind, Dropping))]
        return found

    @property
    def changed(self) -> ChangeAt | None:
        """What of the world is another from an instant on, in this one or in one that it branches off."""
        return next((one.world for one in self._chain if one.world is not None), None)

    @property
    def _chain(self) -> Iterator[Branching]:
        one: Branching | None = self
        while one is not None:
            yield one
            one = one.earlier

    @property
    def sample(self) -> int:
        """The number by which what is asked from the instant on is another sample than in other draws."""
        return sample_number([one.draw for one in self._chain][::-1])

    def models(self, after: Callable[[str], Model], pool: ModelPool, books: CallBooks) -> Callable[[str], Model]:
        """Return what gives each participant a model that answers as recorded until the instant.

        Args:
            after: gives each the model that it thinks with from then on.
            pool: of the process.
            books: in which the calls of both are entered.
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
            before = self.earlier.models(before, pool, books)
        return lambda participant: _Until(self.prefix, before(participant), after(participant))

    def seated(self, team: Team, context: TeamContext) -> Team:
        """Return who takes part: the minds of the other run, whose places others take over at the instant.

        Args:
            team: from then on.
            context: what it was built for.

        Raises:
            UserError: a mind cannot take over.
        """
        if self.draw and isinstance(context.seeds, DrawnSeeds):
            self.prefix.then(partial(context.seeds.streams.redraw, self.draw))
        had = self._had(context)
        with self._limited(context.world):
            first = build_team(self.configuration, had)
            first = (seated(self.fault) if self.earlier is None else self.earlier.seated)(first, had)
        names = participants(context)
        others = had.topology is not context.topology
        copied = [team.configs[index] for index, name in enumerate(names) if name in self.named]
        places = zip(names, first.minds, first.configs, team.minds, team.configs, strict=True)
        seats = [self._seat(*place, copied=copied, others=others) for place in places]
        for sender in sorted({drop.sender for drop in self.drops}):
            own = [drop for drop in self.drops if drop.sender == sender]
            seats[sender] = dropping = Dropping(seats[sender], own, self.prefix)
            self.told.append(dropping)
        for words in self.words:
            if words.participant not in names:
                hint = choices_hint(words.participant, "They are", names)
                raise UserError(f"{words}: there is no participant {words.participant!r}", hint)
            index = names.index(words.participant)
            seats[index] = dictated = Dictated(
                seats[index], words, _said(words, context.world), context.world, self.prefix
            )
            self.told.append(dictated)
        topology = first.topology
        if others:
            topology = SwitchingTopology(first.topology or had.topology, context.topology, self.prefix)
        return Team(seats, team.configs, topology, together([first.extensions, self.configuration.extensions]))

    def _switch(self, before: Callable[[], None], after: Callable[[], None]) -> None:
        if not self.switches:
            self.switches.append(Switches(self.prefix))
        self.switches[0].add(before, after)

    def _had(self, context: TeamContext) -> TeamContext:
        """Return what the minds until the instant are built for.

        Raises:
            UserError: the topology from then on has other participants, or needs an extension with other values.
        """
        c, after = self.configuration, self.after or self.configuration
        if c.topology == after.topology:
            return context
        n = len(context.world.agents)
        seeds = c.seeds.child("topology")
        topology = check_topology(*built(topologies, c.topology.name, c.topology, TopologyContext(n, seeds)))
        if topology.coordinated != context.topology.coordinated:
            has, had = ("has", "had none") if context.topology.coordinated else ("has none", "had one")
            raise UserError(
                f"topology={after.topology.name}: it {has} a coordinator, and the team {had} so far",
                "Nobody can come or go in the middle of an episode: choose a topology with the same participants.",
            )
        together([c.extensions, after.extensions])
        self.prefix.changes_first = True
        self.prefix.others |= {"topology"}
        return replace(context, topology=topology)

    @contextmanager
    def _limited(self, world: World) -> Iterator[None]:
        """Have the world tell the step limit of the other episode, and have that hold until the instant.

        Raises:
            UserError: its limit cannot be another one in the middle of an episode.
        """
        before, after = self.configuration.max_steps, (self.after or self.configuration).max_steps
        if before == after:
            yield
            return
        if not isinstance(world, Limited):
            raise UserError(
                f"max_steps={after}: the step limit of env={world.name} cannot be another one in mid-episode",
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
        """Return who thinks for a participant.

        Args:
            name: of the participant.
            before: its mind until the instant.
            had: the values of that.
            after: its mind from then on.
            config: the values of that.
            copied: the values of the minds of all who are named.
            others: whether the team talks in another way from then on, for which minds that talk are built anew.
        """
        anew = others and minds.get(config.name).talks
        if config == had and name not in self.named and not anew:
            if config in copied and minds.get(config.name).handover is Handover.SHADOW:
                return Attended(before, after)
            # In a team that talks from now on, one that has no use for talk is spared it.
            spared = isinstance(after, Unhearing) and not isinstance(before, Unhearing)
            return Seat(before, Unhearing(before), self.prefix, along=False) if spared else before
        how = minds.get(config.name).handover
        if how is Handover.NEVER:
            able = [name for name in minds.names() if minds.get(name).handover is not Handover.NEVER]
            raise UserError(
                f"agents={config.name}: such a mind cannot take over in the middle of an episode: what it goes by has "
                "grown from its own beginning",
                f"These can: {', '.join(able)}.",
            )
        return Seat(before, after, self.prefix, along=how is Handover.SHADOW)

    @contextmanager
    def checked(self) -> Iterator[None]:
        """Refuse what goes wrong before the instant has come.

        Raises:
            PrefixRefused: it did.
        """
        try:
            yield
        except Exception as error:
            if self.prefix.live:
                raise
            raise self._refusal(str(error) or type(error).__name__) from error
        if not self.prefix.live:
            raise self._refusal("the episode ends earlier")

    def _refusal(self, reason: str) -> PrefixRefused:
        told = "\n".join(sanitize(line, _LONGEST_REASON) for line in reason[:_LONGEST_REASON].splitlines())
        return PrefixRefused(
            f"{self.run}: it cannot be brought back as it was: {told}",
            "Its prompts, its plug-ins or the code have changed since, or the folder was changed.",
        )


def _said(words: Words, world: World) -> str | Plan:
    """Return the message, or the plan in the world's own actions.

    Raises:
        UserError: it is no plan in this world.
    """
    if words.text is not None:
        return words.text
    example = 'For example: --plan agent_0:\'[{"action": "NAME"}]\', as the trace has the actions of plans.'
    try:
        actions = orjson.loads(words.actions or "")
        if not (isinstance(actions, list) and actions and all(isinstance(action, dict) for action in actions)):
            raise UserError(f"{words}: it is no list of actions", example)
        return Plan(tuple(world.vocabulary.parse(action) for action in actions))
    except orjson.JSONDecodeError as error:
        raise UserError(f"{words}: it is no JSON: {error}", example) from error
    except InvalidThought as error:
        raise UserError(f"{words}: {'; '.join(error.reasons)}") from error


class _Until:
    """A model that answers as recorded until the instant, and then as another one does.

    Args:
        prefix: says when it has come.
        before: what was recorded.
        after: the other one.
    """

    def __init__(self, prefix: Prefix, before: Model, after: Model) -> None:
        self._prefix = prefix
        self._before = before
        self._after = after

    async def complete(self, request: Request) -> Reply:
        """Answer by the one whose time it is."""
        return await (self._after if self._prefix.live else self._before).complete(request)

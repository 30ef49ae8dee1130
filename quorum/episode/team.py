"""Builds the minds of a team: one mind for all, or different minds for single participants."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

from pydantic import BaseModel

from maeil import Mind, TeamContext, Topology
from maeil.component import Compatibility, ComponentConfig
from maeil.mind import COORDINATOR, Act, Resume, Thought, View
from quorum.agents.llm.conversation import AskingConfig, Conversation
from quorum.configuration.members import MEMBERS
from quorum.configuration.registry import minds
from quorum.configuration.schema import Configuration
from quorum.configuration.team_label import LEADER
from quorum.episode.building import call_component, check_team, no_models
from quorum_base.user_errors import UserError, choices_hint


class SilentMind:
    """Hides the talk of others from a mind that does not use it.

    In turns to speak it is silent, and when a message interrupts it, it resumes its plan unless an extension has a note
    for it. A team of only such minds does not talk and needs no wrapper.

    Args:
        mind: the wrapped mind, called only for plans.
    """

    def __init__(self, mind: Mind) -> None:
        self.mind = mind
        """The mind that plans."""

    async def think(self, view: View) -> Thought:
        """Call the mind in turns to plan, unless it can resume its plan."""
        if Act.PLAN not in view.turn.acts:
            return Thought()
        return Thought(Resume.RESUME) if view.may_resume and not view.notes else await self.mind.think(view)


class Replanning:
    """Makes a rule-based mind plan from scratch when an extension asks for a new plan.

    Args:
        mind: the wrapped mind.
    """

    def __init__(self, mind: Mind) -> None:
        self._mind = mind

    async def think(self, view: View) -> Thought:
        """Call the mind."""
        return await self._mind.think(view if view.may_resume else replace(view, plan=None))


@dataclass(frozen=True, slots=True)
class Team:
    """The minds of all participants: the agents by index, then the coordinator if there is one.

    Attributes:
        minds: the minds.
        configs: configuration of each mind.
        topology: how they communicate; None: the topology they were built for.
        extensions: extra extensions that the recorded prefix of a branch needs, by name, with their values.
    """

    minds: Sequence[Mind]
    configs: Sequence[ComponentConfig]
    topology: Topology | None = None
    extensions: Mapping[str, BaseModel] = field(default_factory=dict)

    @property
    def names(self) -> Sequence[str]:
        """The name of each mind in the configuration."""
        return [config.name for config in self.configs]


@dataclass(frozen=True, slots=True)
class _Part:
    """Participants with equal minds, by index, and the first configuration key that sets this mind."""

    place: str
    config: ComponentConfig
    own: frozenset[int]


def build_team(configuration: Configuration, context: TeamContext) -> Team:
    """Build the minds of a team.

    Each kind of mind is built for the whole team, with its participants in `TeamContext.own`; only their minds are
    kept. Minds of one kind thus share the same state as in a team of only that kind.

    Args:
        configuration: assigns the minds.
        context: the context to build the team for; `own` is None.

    Raises:
        UserError: a mind is assigned to a missing participant, minds cannot share a team, or the values of one do not
            fit the world or the topology.
    """
    context = replace(context, thoughts=cache(configuration.writes_thoughts))
    parts = _parts(configuration, context)
    alone = len(parts) == 1
    if not alone:
        _check_company(parts)
    found: dict[int, Mind] = {}
    configs: dict[int, ComponentConfig] = {}
    for part in parts:
        component = minds.get(part.config.name)
        given = context if alone else replace(context, models=_models_of(part, context))
        if not alone and component.compatible is Compatibility.ANYBODY:  # others are built with all their roles
            given = replace(given, own=part.own)
        built = _built(part, given, configuration)
        if configuration.extension:
            built = _among_extensions(part, built)
        elif not (alone or component.talks):
            built = [SilentMind(mind) for mind in built]
        found |= {index: built[index] for index in part.own}
        configs |= dict.fromkeys(part.own, part.config)
    return Team([found[index] for index in sorted(found)], [configs[index] for index in sorted(configs)])


def _parts(c: Configuration, context: TeamContext) -> list[_Part]:
    """Group participants by mind; equal minds form one part."""
    names = (*context.world.agents, *([COORDINATOR] if context.topology.coordinated else []))
    chosen: dict[str, tuple[str, ComponentConfig]] = dict.fromkeys(names, ("agents", c.agents))
    for name, mind in c.members.items():
        if name not in names:
            raise UserError(
                f"agents.{MEMBERS}.{name}: there is no such participant", choices_hint(name, "Participants", names)
            )
        chosen[name] = (f"agents.{MEMBERS}.{name}", mind)
    if c.leader is not None:
        leader = _leader(c, context, names)
        chosen[leader] = (f"agents.{LEADER}", c.leader)
    parts: list[_Part] = []
    for index, (place, mind) in enumerate(chosen.values()):
        same = next((part for part in parts if part.config == mind), None)
        if same is None:
            parts.append(_Part(place, mind, frozenset({index})))
        else:
            parts[parts.index(same)] = replace(same, own=same.own | {index})
    return parts


def _leader(c: Configuration, context: TeamContext, names: Sequence[str]) -> str:
    topology = context.topology
    if not topology.coordinated and topology.leader is None:
        raise UserError(
            f"agents.{LEADER}: topology={topology.name} has no leader",
            f"Choose topology=centralized, or set the mind of one agent: agents.{MEMBERS}.{names[0]}=NAME.",
        )
    leader = COORDINATOR if topology.coordinated else names[topology.leader or 0]
    if leader in c.members:
        raise UserError(
            f"agents.{LEADER} and agents.{MEMBERS}.{leader} both set the mind of {leader}, "
            f"the leader in topology={topology.name}",
            "Leave one of them out.",
        )
    return leader


def _check_company(parts: Sequence[_Part]) -> None:
    """Check that all minds can share a team.

    Raises:
        UserError: one cannot.
    """
    names = [part.config.name for part in parts]
    for part in parts:
        own = minds.get(part.config.name).compatible
        others = [name for name in dict.fromkeys(names) if name != part.config.name]
        if own is Compatibility.ANYBODY or (own is Compatibility.SAME_KIND and not others):
            continue
        needs = (
            "one of them decides for the whole team"
            if own is Compatibility.SAME_VALUES
            else "they play one method together"
        )
        company = f"with {', '.join(others)}" if others else "with different values for single participants"
        able = [name for name in minds.names() if minds.get(name).compatible is Compatibility.ANYBODY]
        raise UserError(
            f"{part.place}={part.config.name}: its minds cannot share a team {company}: {needs}",
            f"Give it to all, agents={part.config.name}; or choose minds that can share a team with any: "
            f"{', '.join(able)}.",
        )


def _built(part: _Part, context: TeamContext, c: Configuration) -> Sequence[Mind]:
    component = minds.get(part.config.name)
    given = context if component.uses_models else replace(context, models=no_models)
    if isinstance(part.config, AskingConfig) and part.config.memory == "conversation":
        given = replace(given, models=lambda name: Conversation(context.models(name), c.memory.exchanges))
    built = call_component(part.place, component.build, part.config, given)
    return check_team(built, given, component.build)


def _among_extensions(part: _Part, built: Sequence[Mind]) -> Sequence[Mind]:
    """Wrap rule-based minds, which know neither the turns nor the notes of extensions."""
    component = minds.get(part.config.name)
    if component.uses_models:
        return built
    again = [Replanning(mind) for mind in built]
    return again if component.talks else [SilentMind(mind) for mind in again]


def _models_of(part: _Part, context: TeamContext) -> Callable[[str], Any]:
    """Return a function that gives models to the participants of this part; none is set up for others."""
    names: Mapping[str, int] = {name: index for index, name in enumerate((*context.world.agents, COORDINATOR))}
    return lambda name: context.models(name) if names.get(name) in part.own else None

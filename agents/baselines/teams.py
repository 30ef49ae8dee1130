"""The teams that LLaMAC is measured against, one builder each.

| team | who plans | source |
|---|---|---|
| `cmas` | a coordinator; the agents carry it out | arXiv 2309.15943 |
| `hmas1` | a coordinator, and then those whom its joint plan names talk it over | arXiv 2309.15943 |
| `hmas2` | a coordinator, again as long as agents whom its joint plan names object | arXiv 2309.15943 |
| `dmas` | the agents talk until one of them states the joint plan | arXiv 2309.15943 |
| `debaters` | several coordinators propose, see each other's plans; a rule merges them | arXiv 2305.14325 |
| the same, in turn and with personas | | arXiv 2308.07201 |

The rules are those of the methods as they are described, not the defects of their public code: agreement is a field of
the answer, not an exact sentence; a revised plan is read like a first one; a finished last step counts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Annotated, Literal, TypeVar

from pydantic import Field, NonNegativeInt, PositiveInt

from maeil.component import Compatibility, Component, ComponentConfig, TeamContext
from maeil.mind import COORDINATOR, Mind
from quorum.agents.baselines.asking import Asker, BaselineRole, ReviewAnswers, TalkAnswers
from quorum.agents.baselines.coordinator import Coordinator, History, OnePlanner, Panel, Source, majority
from quorum.agents.baselines.members import Reviewer, Talker
from quorum.agents.coordination.asking import JointAnswers, RoleSpeaker
from quorum.agents.coordination.follower import Follower, needs_dialogue, needs_leader
from quorum.agents.coordination.prompts import RolePrompts, role_templates
from quorum.agents.prompting.answers import answers_of
from quorum.agents.prompting.sets import PromptSet
from quorum.agents.prompting.templates import Templates
from quorum.agents.skills import notation_role, prompts_of, role_of, skills_of

Forms = TypeVar("Forms", bound=JointAnswers)


class PlanningConfig(ComponentConfig):
    """Base of the configurations of the baselines."""

    syntax_retries: NonNegativeInt
    """Times that a joint plan that cannot be read, or that the world refuses, is asked for again; then the episode
    fails."""
    history_tokens: NonNegativeInt
    """Tokens, four characters each, that the history of states and joint plans may have in a prompt; 0: none."""
    pause: PositiveInt
    """Steps that an agent without a part in the joint plan waits."""
    max_actions: PositiveInt
    """Actions of a plan, at most."""
    prompts: PromptSet
    """The set of prompts."""


def inputs_of(*roles: BaselineRole) -> Callable[[PlanningConfig, str], Mapping[str, str]]:
    """Return what digests the templates of some roles for the values of a team and the name of a world."""
    return lambda config, world: _templates(config, world, roles).sources


def _templates(config: PlanningConfig, world: str, roles: Iterable[BaselineRole]) -> Templates:
    notation_role(config.name, config.prompts, world)
    return role_templates(world, prompts_of(world), "baselines", roles, config.prompts)


class TeamFactory:
    """Makes the parts of a team.

    Args:
        config: values of the baseline.
        context: what the team is built for.
        roles: in which its models are asked.

    Raises:
        ValueError: a template is not there, or cannot be read.
    """

    def __init__(self, config: PlanningConfig, context: TeamContext, roles: Iterable[BaselineRole]) -> None:
        self._config = config
        self._context = context
        self.world = context.world
        self.skills = skills_of(self.world.name)
        templates = _templates(config, self.world.name, roles)
        notation = notation_role(config.name, config.prompts, self.world.name)
        self._prompts = RolePrompts(
            templates,
            self.world,
            prompts=config.prompts,
            max_actions=config.max_actions,
            example=self.skills.example(self.world),
            tasks=self.skills.tasks,
            notation=notation(self.world.global_observation) if notation is not None else None,
        )

    def answers(self, forms: type[Forms]) -> Forms:
        """Return the forms of the answers, made once for all teams of a process with the same vocabulary."""
        vocabulary, names = tuple(self.world.vocabulary), self.world.agents
        found: Forms = answers_of(forms, vocabulary, self._config.max_actions, names, self.skills.tasks)  # type: ignore[arg-type]
        return found

    def speaker(self, participant: str = COORDINATOR) -> RoleSpeaker:
        """Return what asks the model of a participant."""
        return RoleSpeaker(self._context.models(participant), self._prompts)

    def asker(self, participant: str = COORDINATOR, forms: type[JointAnswers] = JointAnswers) -> Asker:
        """Return what asks the model of a participant for joint plans."""
        return Asker(self.speaker(participant), self.answers(forms), self.world, self._config.syntax_retries)

    def history(self) -> History:
        """Return an empty history."""
        return History(self._config.history_tokens)

    def coordinator(self, source: Source) -> Coordinator:
        """Return the coordinator, whose joint plans come from a source."""
        return Coordinator(source, self.world, self.skills.briefing(), self.history())


CENTRE = (BaselineRole.CENTRE,)
CENTRE_AND_TALKERS = (BaselineRole.CENTRE, BaselineRole.TALKER)
CENTRE_AND_REVIEWERS = (BaselineRole.CENTRE, BaselineRole.REVIEWER)
TALKERS = (BaselineRole.TALKER,)
DEBATERS = (BaselineRole.DEBATER,)

C = TypeVar("C", bound=PlanningConfig)


class CmasConfig(PlanningConfig):
    """Parameters of `cmas`."""

    name: Literal["cmas"]


class Hmas1Config(PlanningConfig):
    """Parameters of `hmas1`."""

    name: Literal["hmas1"]


class Hmas2Config(PlanningConfig):
    """Parameters of `hmas2`."""

    name: Literal["hmas2"]


class DmasConfig(PlanningConfig):
    """Parameters of `dmas`."""

    name: Literal["dmas"]


class DebatersConfig(PlanningConfig):
    """Parameters of `debaters`."""

    name: Literal["debaters"]
    debaters: PositiveInt
    """How many propose."""
    rounds: PositiveInt
    """How often each proposes; from the second time on it sees what the others proposed last."""
    speaking: Literal["together", "in_turn"]
    """Whether all of a round propose at once, or one after the other, each having heard those before."""
    personas: tuple[Annotated[str, Field(min_length=1)], ...]
    """Who the debaters are, each a sentence or two, given to them in turn; none for debaters that are alike."""


def build_cmas(config: CmasConfig, context: TeamContext) -> Sequence[Mind]:
    """Make the minds of a team: followers, and the coordinator.

    Raises:
        ValueError: the topology has no coordinator that directs, or a template is not there.
    """
    needs_leader(config.name, context.topology, rounds=0)
    factory = TeamFactory(config, context, CENTRE)
    return [*_followers(factory, config.pause), factory.coordinator(OnePlanner(factory.asker()))]


def build_hmas1(config: Hmas1Config, context: TeamContext) -> Sequence[Mind]:
    """Make the minds of a team: talkers, and the coordinator.

    Raises:
        ValueError: the topology is no dialogue that the coordinator opens, or a template is not there.
    """
    turns = needs_dialogue(config.name, context.topology, opens="coordinator")
    factory = TeamFactory(config, context, CENTRE_AND_TALKERS)
    return [*_talkers(factory, config.pause, turns), factory.coordinator(OnePlanner(factory.asker()))]


def build_hmas2(config: Hmas2Config, context: TeamContext) -> Sequence[Mind]:
    """Make the minds of a team: reviewers, and the coordinator.

    Raises:
        ValueError: the topology has no coordinator that directs, or it can answer nobody; or a template is not there.
    """
    needs_leader(config.name, context.topology, rounds=1)
    if context.topology.rounds == 0:
        raise ValueError(
            "agents=hmas2 asks the agents what they think of the plan, and this topology gives the coordinator no "
            "answer to that: set topology.rounds=1, or 3 as on hard boards; without objections it is agents=cmas"
        )
    factory = TeamFactory(config, context, CENTRE_AND_REVIEWERS)
    answers = factory.answers(ReviewAnswers)
    reviewers = [Reviewer(factory.speaker(name), answers, factory.world, config.pause) for name in factory.world.agents]
    return [*reviewers, factory.coordinator(OnePlanner(factory.asker()))]


def build_dmas(config: DmasConfig, context: TeamContext) -> Sequence[Mind]:
    """Make the minds of a team: talkers alone.

    Raises:
        ValueError: the topology is no dialogue that the team opens, or a template is not there.
    """
    turns = needs_dialogue(config.name, context.topology, opens="team")
    return _talkers(TeamFactory(config, context, TALKERS), config.pause, turns)


def build_debaters(config: DebatersConfig, context: TeamContext) -> Sequence[Mind]:
    """Make the minds of a team: followers, and the coordinator in whose place the debaters are.

    Raises:
        ValueError: the topology has no coordinator that directs, or a template is not there.
    """
    needs_leader(config.name, context.topology, rounds=0)
    factory = TeamFactory(config, context, DEBATERS)
    panel = Panel(
        factory.asker(),
        config.debaters,
        config.rounds,
        role_of(context.world.name, "merge", "agents=debaters", default=lambda: majority)(),
        personas=config.personas,
        in_turn=config.speaking == "in_turn",
    )
    return [*_followers(factory, config.pause), factory.coordinator(panel)]


def _followers(factory: TeamFactory, pause: int) -> list[Mind]:
    return [Follower(factory.world, pause) for _ in factory.world.agents]


def _talkers(factory: TeamFactory, pause: int, turns: int) -> list[Mind]:
    answers, briefing = factory.answers(TalkAnswers), factory.skills.briefing()
    return [
        Talker(
            factory.asker(name, TalkAnswers),
            answers,
            factory.world,
            briefing,
            factory.history(),
            pause=pause,
            turns=turns,
        )
        for name in factory.world.agents
    ]


def _component(
    config: type[C], build: Callable[[C, TeamContext], Sequence[Mind]], roles: Sequence[BaselineRole]
) -> Component[C, TeamContext, Sequence[Mind]]:
    return Component(
        config,
        build,
        uses_models=True,
        inputs=inputs_of(*roles),
        roles=lambda _: roles,
        compatible=Compatibility.SAME_KIND,
    )


cmas = _component(CmasConfig, build_cmas, CENTRE)
hmas1 = _component(Hmas1Config, build_hmas1, CENTRE_AND_TALKERS)
hmas2 = _component(Hmas2Config, build_hmas2, CENTRE_AND_REVIEWERS)
dmas = _component(DmasConfig, build_dmas, TALKERS)
debaters = _component(DebatersConfig, build_debaters, DEBATERS)

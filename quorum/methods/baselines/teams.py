"""Builders of the baseline teams for LLaMAC.

| team | who plans | source |
|---|---|---|
| `cmas` | a coordinator; the agents execute its plan | arXiv 2309.15943 |
| `hmas1` | a coordinator; then the agents named in its joint plan discuss it | arXiv 2309.15943 |
| `hmas2` | a coordinator, repeatedly, until no agent named in its joint plan objects | arXiv 2309.15943 |
| `dmas` | the agents talk until one of them states the joint plan | arXiv 2309.15943 |
| `debaters` | several coordinators propose and see each other's plans; a rule merges them | arXiv 2305.14325 |
| the same, in turn and with personas | | arXiv 2308.07201 |

These follow the methods as published, without the defects of their public code: agreement is a field of the answer
rather than an exact sentence, a revised plan is parsed like a first one, and completing the last step counts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated, Literal, TypeVar

from pydantic import Field, NonNegativeInt, PositiveInt

from maeil.component import Compatibility, Component, TeamContext
from maeil.mind import COORDINATOR, Mind
from quorum.agents.coordination.asking import RoleSpeaker
from quorum.agents.coordination.follower import Follower, needs_dialogue, needs_leader
from quorum.agents.prompting.answers import answers_of
from quorum.agents.skills import role_of, skills_of
from quorum.agents.skills.lookup import RoleTeamConfig, prompts_of_roles, templates_of_roles
from quorum.methods.baselines.asking import BaselineAnswers, BaselineRole, Panel, Planner, Source, majority
from quorum.methods.baselines.minds import Coordinator, History, Reviewer, Talker


class PlanningConfig(RoleTeamConfig):
    """Parameters of `cmas`, `hmas1`, `hmas2` and `dmas`."""

    syntax_retries: NonNegativeInt
    """Maximum number of retries when a joint plan cannot be parsed or the world rejects it; then the episode fails."""
    history_tokens: NonNegativeInt
    """Maximum length of the history of states and joint plans in a prompt, in tokens of four characters; 0: none."""


class DebatersConfig(PlanningConfig):
    """Parameters of `debaters`."""

    name: Literal["debaters"]
    debaters: PositiveInt
    """Number of debaters."""
    rounds: PositiveInt
    """Proposals per debater; from the second on, a debater sees the others' latest proposals."""
    speaking: Literal["together", "in_turn"]
    """Whether all debaters of a round propose at once, or in turn, each seeing the earlier proposals."""
    personas: tuple[Annotated[str, Field(min_length=1)], ...]
    """Descriptions of the debaters, one or two sentences each, assigned in turn; empty for identical debaters."""


class _Parts:
    """Builds the parts of a team.

    Args:
        config: values of the baseline.
        context: the world, topology and models of the team.
        roles: the roles in which its models are prompted.

    Raises:
        ValueError: a template is missing or cannot be read.
    """

    def __init__(self, config: PlanningConfig, context: TeamContext, roles: Sequence[BaselineRole]) -> None:
        self._config = config
        self._models = context.models
        self._world = context.world
        skills = skills_of(self._world.name)
        self._briefing = skills.briefing()
        actions, names = tuple(self._world.vocabulary), self._world.agents
        self._answers: BaselineAnswers = answers_of(BaselineAnswers, actions, config.max_actions, names, skills.tasks)
        self._prompts = prompts_of_roles(config, context, KIND, roles, forms=self._answers.forms(roles))

    def planner(self, participant: str = COORDINATOR) -> Planner:
        """Return a planner that prompts a participant's model for joint plans."""
        speaker = RoleSpeaker(self._models(participant), self._prompts)
        return Planner(speaker, self._answers, self._world, self._config.syntax_retries)

    def coordinator(self, source: Source | None = None) -> Coordinator:
        """Return the coordinator, which takes its joint plans from `source`; None: from its model."""
        history = History(self._config.history_tokens)
        return Coordinator(source or self.planner(), self._world, self._briefing, history)

    def followers(self) -> list[Mind]:
        """Return the agents that execute the joint plan."""
        return [Follower(self._world, self._config.pause) for _ in self._world.agents]

    def reviewers(self) -> list[Mind]:
        """Return the agents that agree or object."""
        speakers = (self.planner(name).speaker for name in self._world.agents)
        return [Reviewer(self._world, self._config.pause, speaker, self._answers) for speaker in speakers]

    def talkers(self, turns: int) -> list[Mind]:
        """Return the agents that talk, each `turns` times per dialogue."""
        config = self._config
        return [
            Talker(self.planner(name), self._briefing, History(config.history_tokens), config.pause, turns)
            for name in self._world.agents
        ]


KIND = "baselines"
"""The template folder of the baselines."""

C = TypeVar("C", bound=PlanningConfig)


def minds_of_cmas(config: PlanningConfig, context: TeamContext, parts: _Parts) -> Sequence[Mind]:
    """Build the team: followers and the coordinator.

    Raises:
        ValueError: the topology has no coordinator that directs.
    """
    needs_leader(config.name, context.topology, rounds=0)
    return [*parts.followers(), parts.coordinator()]


def minds_of_hmas1(config: PlanningConfig, context: TeamContext, parts: _Parts) -> Sequence[Mind]:
    """Build the team: talkers and the coordinator.

    Raises:
        ValueError: the topology is not a dialogue opened by the coordinator.
    """
    turns = needs_dialogue(config.name, context.topology, opens="coordinator")
    return [*parts.talkers(turns), parts.coordinator()]


def minds_of_hmas2(config: PlanningConfig, context: TeamContext, parts: _Parts) -> Sequence[Mind]:
    """Build the team: reviewers and the coordinator.

    Raises:
        ValueError: the topology has no coordinator that directs, or the coordinator cannot respond to objections.
    """
    needs_leader(config.name, context.topology, rounds=1)
    if context.topology.rounds == 0:
        raise ValueError(
            "agents=hmas2 lets the agents object to the plan, but this topology gives the coordinator no answer to "
            "objections: set topology.rounds=1, or 3 as on hard boards; without objections, use agents=cmas"
        )
    return [*parts.reviewers(), parts.coordinator()]


def minds_of_dmas(config: PlanningConfig, context: TeamContext, parts: _Parts) -> Sequence[Mind]:
    """Build the team: talkers only.

    Raises:
        ValueError: the topology is not a dialogue opened by the team.
    """
    turns = needs_dialogue(config.name, context.topology, opens="team")
    return parts.talkers(turns)


def minds_of_debaters(config: DebatersConfig, context: TeamContext, parts: _Parts) -> Sequence[Mind]:
    """Build the team: followers, and a coordinator that delegates planning to the debaters.

    Raises:
        ValueError: the topology has no coordinator that directs.
    """
    needs_leader(config.name, context.topology, rounds=0)
    merge = role_of(context.world.name, "merge", "agents=debaters", default=lambda: majority)()
    in_turn = config.speaking == "in_turn"
    planners = [parts.planner() for _ in range(config.debaters)]
    panel = Panel(planners, config.rounds, merge, config.personas, in_turn)
    return [*parts.followers(), parts.coordinator(panel)]


def _component(
    config: type[C], minds: Callable[[C, TeamContext, _Parts], Sequence[Mind]], *roles: BaselineRole
) -> Component[C, TeamContext, Sequence[Mind]]:
    return Component(
        config,
        lambda values, context: minds(values, context, _Parts(values, context, roles)),
        uses_models=True,
        inputs=lambda values, world: templates_of_roles(values, world, KIND, roles).sources,
        roles=lambda _: roles,
        compatible=Compatibility.SAME_KIND,
    )


cmas = _component(PlanningConfig, minds_of_cmas, BaselineRole.CENTRE)
hmas1 = _component(PlanningConfig, minds_of_hmas1, BaselineRole.CENTRE, BaselineRole.TALKER)
hmas2 = _component(PlanningConfig, minds_of_hmas2, BaselineRole.CENTRE, BaselineRole.REVIEWER)
dmas = _component(PlanningConfig, minds_of_dmas, BaselineRole.TALKER)
debaters = _component(DebatersConfig, minds_of_debaters, BaselineRole.DEBATER)

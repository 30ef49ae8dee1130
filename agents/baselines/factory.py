"""What the teams of the baselines are configured by and built of."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar

from pydantic import NonNegativeInt, PositiveInt

from maeil.component import ComponentConfig, TeamContext
from maeil.mind import COORDINATOR
from quorum.agents.baselines.asking import Asker, BaselineRole
from quorum.agents.baselines.coordinator import Coordinator, Source
from quorum.agents.baselines.history import History
from quorum.agents.coordination.answers import JointAnswers
from quorum.agents.coordination.prompts import RolePrompts, role_templates
from quorum.agents.coordination.speaker import RoleSpeaker
from quorum.agents.prompting.answers import answers_of
from quorum.agents.prompting.sets import PromptSet
from quorum.agents.prompting.templates import Templates
from quorum.agents.skills import check_form, notation_of, prompts_of, skills_of

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
    check_form(config.name, config.prompts, world)
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
        self._prompts = RolePrompts(
            templates,
            self.world,
            prompts=config.prompts,
            max_actions=config.max_actions,
            example=self.skills.example(self.world),
            tasks=self.skills.tasks,
            notation=notation_of(config.prompts, self.world),
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

"""The contract of a world's skills: roles that minds may use in any world. Every role is optional.

A world may have additional roles that only some minds and methods need, such as `planner` or `statements`. They are
methods of its skills, or functions that a method's folder lists for the world; `role_of` finds both.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import yaml

from maeil.actions import Vocabulary
from maeil.component import ComponentConfig, TeamContext
from maeil.contracts import check_type
from maeil.mind import Mind, Observation, Thought, View
from maeil.plans import Plan
from maeil.tasks import Constraint
from maeil.world import World
from quorum.agents.coordination.joint import Fault, Joint, Rejection, Rule, Sight
from quorum.agents.prompting.examples import Example, plain_example
from quorum.agents.skills.speaker import Speaker


class MissingSkill(ValueError):
    """A mind needs a role that a world's skills lack."""

    def __init__(self, role: str, world: str) -> None:
        super().__init__(f"the world '{world}' has no skill '{role}'")


@dataclass(eq=False)
class CommandedMind:
    """The mind of one agent in a commanded team: it gets every plan from its team and sends no messages.

    Attributes:
        decide: returns the plan for a view; None if the turn asks for none.
    """

    decide: Callable[[View], Plan | None]

    async def think(self, view: View) -> Thought:
        """Return the team's decision."""
        plan = self.decide(view)
        return Thought(plan if plan is None else check_type(plan, Plan, self.decide, "a maeil.Plan, or None"))


def refuse_coordinator(config: ComponentConfig, context: TeamContext) -> None:
    """Check that a team of minds that do not talk has no coordinator.

    Raises:
        ValueError: the topology wants a coordinator.
    """
    if context.coordinates:
        raise ValueError(
            f"agents={config.name} does not talk, so it has no coordinator: choose topology=individual, or a leader "
            "that talks: agents.leader=negotiator"
        )


class Gates(Protocol):
    """The rules that judge joint plans without a call (LLaMAC, arXiv 2311.13884, section on external feedback).

    Every rule has a code and the cooperation constraint that it expresses, so that rejections become metrics
    (`gates.*`). Both gates are pure functions of their arguments.
    """

    rules: Mapping[str, Rule]
    """The rules of both gates by code."""

    def scrutinize(self, sight: Sight, joint: Joint) -> Sequence[Rejection]:
        """Return the problems of a joint plan (veracity scrutiny); cheap rules first."""

    def confirm(self, agent: int, observation: Observation, joint: Joint) -> Rejection | None:
        """Return the problem of an agent's own part, given what it has seen and read (plan confirmation).

        Args:
            agent: its index, in `joint.plans`.
            observation: its observation, or the result of the world's role `evidence`.
            joint: the joint plan, as far as the agent has received it.
        """


def read_rules(file: Path) -> Mapping[str, Rule]:
    """Read a world's gate rules by code, from the file `rules.yaml` of its skills; for worlds of this project."""
    text = file.read_text(encoding="utf-8")
    return {
        code: Rule(Fault(fault), Constraint(constraint), meaning)
        for code, (fault, constraint, meaning) in yaml.safe_load(text).items()
    }


class Briefing:
    """How to show a state to a coordinator. The default: the global observation, and no digest for the memory."""

    def state(self, sight: Sight) -> object:
        """Return the world as shown to planners of joint plans, JSON-ready."""
        return sight.global_observation

    def digest(self, sight: Sight) -> object:
        """Return a summary of the state in a few numbers, JSON-ready, for the memory of past decisions.

        None if the state itself contains the whole past; then past decisions are not remembered.
        """
        return None


class WorldSkills:
    """What minds need to know about one world. Subclasses override the roles that the world has.

    Each role imports its modules on first use, so that a run loads only the rules it uses.

    Args:
        world: name of the world.
    """

    prompts: Path | None = None
    """Folder of the world's prompt templates; None for the one shipped under its name, if any."""
    rolls_out: bool = False
    """Whether its gates can roll out a joint plan on a copy of the world."""
    tasks: bool = True
    """Whether there are several tasks, so that each part of a joint plan names one."""

    def __init__(self, world: str) -> None:
        self.world = world

    def has(self, role: str) -> bool:
        """Return whether it has a role, given the method's name."""
        return any(role in vars(kind) for kind in type(self).__mro__ if kind not in (WorldSkills, object))

    def heuristic(self, world: World) -> Sequence[Mind]:
        """Return the minds of a team that follows greedy rules, one for each agent.

        Raises:
            ValueError: there are no such rules, or they do not support the world's vocabulary.
        """
        raise MissingSkill("heuristic", world.name)

    def gates(self, vocabulary: Vocabulary, rollout: int = 0) -> Gates:
        """Return the rules that judge joint plans.

        Args:
            vocabulary: the vocabulary of plans.
            rollout: steps for which to roll out joint plans; 0 if `rolls_out` is false.

        Raises:
            ValueError: there are no gates, or they do not support this vocabulary.
        """
        raise MissingSkill("gates", self.world)

    def briefing(self) -> Briefing:
        """Return how to show a state to a coordinator."""
        return Briefing()

    def example(self, world: World) -> Example:
        """Return the example answer for prompts, made of actions of the world's vocabulary."""
        return plain_example(world)

    def speaker(self) -> Speaker[Any]:
        """Return the rules for the simulated model's answers.

        Raises:
            MissingSkill: there are none; the model then answers with valid but uninformed plans.
        """
        raise MissingSkill("speaker", self.world)

"""The contract of a world's skills: what minds may ask of every world, a role at a time. Every role is optional.

A world may have further roles that only some minds and methods need, such as `planner` or `statements`. They are
methods of its skills under their own name, or functions that the folder of a method lists for the world; `role_of`
finds both.
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
    """A mind needs a role that the skills of a world do not have."""

    def __init__(self, role: str, world: str) -> None:
        super().__init__(f"the world '{world}' has no skill '{role}'")


@dataclass(eq=False)
class CommandedMind:
    """The mind of one agent of a team that is commanded: it asks its team for every plan, and sends no messages.

    Attributes:
        decide: returns the plan for a view; None where the turn asks for none.
    """

    decide: Callable[[View], Plan | None]

    async def think(self, view: View) -> Thought:
        """Ask the team."""
        plan = self.decide(view)
        return Thought(plan if plan is None else check_type(plan, Plan, self.decide, "a maeil.Plan, or None"))


def refuse_coordinator(config: ComponentConfig, context: TeamContext) -> None:
    """Make sure that a team of minds that do not talk has no coordinator.

    Raises:
        ValueError: the topology wants one.
    """
    if context.coordinates:
        raise ValueError(
            f"agents={config.name} does not talk, so it has no coordinator: choose topology=individual, or somebody "
            "who talks in its place: agents.leader=negotiator"
        )


class Gates(Protocol):
    """The rules that judge joint plans without a call (LLaMAC, arXiv 2311.13884, section on external feedback).

    Every rule has a code and the cooperation constraint that it stands for, so that rejections are a metric
    (`gates.*`). Both gates are pure functions of their arguments.
    """

    rules: Mapping[str, Rule]
    """The rules of both gates by code."""

    def scrutinize(self, sight: Sight, joint: Joint) -> Sequence[Rejection]:
        """Return what is wrong with a joint plan (veracity scrutiny); cheap rules first."""

    def confirm(self, agent: int, observation: Observation, joint: Joint) -> Rejection | None:
        """Return what is wrong with an agent's own part, by what it sees and has heard (plan confirmation).

        Args:
            agent: its index, in `joint.plans`.
            observation: what it sees, or what the world's role `evidence` returns in its place.
            joint: the joint plan, as far as the agent has received it.
        """


def read_rules(file: Path) -> Mapping[str, Rule]:
    """Read the rules of the gates of a world of this project, by code, from the file `rules.yaml` of its skills."""
    text = file.read_text(encoding="utf-8")
    return {
        code: Rule(Fault(fault), Constraint(constraint), meaning)
        for code, (fault, constraint, meaning) in yaml.safe_load(text).items()
    }


class Briefing:
    """How a coordinator is shown a state. The default: the global observation, and nothing to remember it by."""

    def state(self, sight: Sight) -> object:
        """Return what planners of joint plans are shown of the world, JSON-ready."""
        return sight.global_observation

    def digest(self, sight: Sight) -> object:
        """Return the state in a few numbers, JSON-ready, for the memory of past decisions.

        None where the state itself holds the whole past: then no decisions are remembered.
        """
        return None


class WorldSkills:
    """What minds need to know of one world. A world overrides the roles that it has.

    Each role imports what it needs when it is asked for, so that a run loads no rules that it does not use.

    Args:
        world: its name.
    """

    prompts: Path | None = None
    """The folder of its prompt templates; None for the one that ships under its name, if any."""
    rolls_out: bool = False
    """Whether its gates can roll a joint plan out on a copy of the world."""
    tasks: bool = True
    """Whether there are several tasks, so that a joint plan names the one of each part."""

    def __init__(self, world: str) -> None:
        self.world = world

    def has(self, role: str) -> bool:
        """Return whether it has a role, by the name of the method."""
        return any(role in vars(kind) for kind in type(self).__mro__ if kind not in (WorldSkills, object))

    def heuristic(self, world: World) -> Sequence[Mind]:
        """Return the minds of a team that follows greedy rules, one for each agent.

        Raises:
            ValueError: there are no such rules, or they do not know the vocabulary of the world.
        """
        raise MissingSkill("heuristic", world.name)

    def gates(self, vocabulary: Vocabulary, rollout: int = 0) -> Gates:
        """Return the rules that judge joint plans.

        Args:
            vocabulary: what plans are made of.
            rollout: steps that joint plans are rolled out for; 0 where `rolls_out` is false.

        Raises:
            ValueError: there are none, or they do not know this vocabulary.
        """
        raise MissingSkill("gates", self.world)

    def briefing(self) -> Briefing:
        """Return how a coordinator is shown a state."""
        return Briefing()

    def example(self, world: World) -> Example:
        """Return what prompts show as an example of an answer, made of the actions of the world's vocabulary."""
        return plain_example(world)

    def speaker(self) -> Speaker[Any]:
        """Return the rules by which the simulated model answers.

        Raises:
            MissingSkill: there are none: then it answers with valid but uninformed plans.
        """
        raise MissingSkill("speaker", self.world)

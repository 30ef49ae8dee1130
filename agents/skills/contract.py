"""The contract of a world's skills: what minds may ask of one world, a role at a time. Every role is optional."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from maeil.actions import Vocabulary
from maeil.extensions.repair.rules import RepairRules
from maeil.mind import Mind, Observation, View
from maeil.plans import Plan
from maeil.world import World
from quorum.agents.coordination.joint import Joint, Rejection, Rule, Sight
from quorum.agents.coordination.notation import Notation
from quorum.agents.prompting.examples import Example, plain_example
from quorum.agents.skills.speaker import Speaker


class MissingSkill(ValueError):
    """A mind needs a role that the skills of a world do not have."""

    def __init__(self, role: str, world: str) -> None:
        super().__init__(f"the world '{world}' has no skill '{role}'")
        self.role = role
        self.world = world


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
        """Return what is wrong with an agent's own part, by what it sees and was told (plan confirmation).

        Args:
            agent: its index, in `joint.plans`.
            observation: what it sees, or what the rules judge by in its place (`WorldSkills.evidence`).
            joint: what it was told, as far as it was told it.
        """


class Briefing:
    """How a state is told to a coordinator. As it stands: the global observation, and nothing to remember it by."""

    def state(self, sight: Sight) -> object:
        """Return what planners of joint plans are shown of the world, JSON-ready."""
        return sight.global_observation

    def digest(self, sight: Sight) -> object:
        """Return the state in a few numbers, JSON-ready, for the memory of past decisions.

        None where the state itself tells all that has been: then no decisions are kept beside it.
        """
        return None


class Merge(Protocol):
    """A rule that makes one joint plan of several."""

    def __call__(self, proposals: Sequence[Mapping[int, Plan]], asked: Sequence[int]) -> dict[int, Plan]:
        """Return the merged plan by agent.

        Args:
            proposals: one joint plan a debater, in order.
            asked: the agents that they are for.
        """


def majority(proposals: Sequence[Mapping[int, Plan]], asked: Sequence[int]) -> dict[int, Plan]:
    """Return for each agent the plan that most have for it; of equally many that of the lowest debater.

    Plans are equal when task and actions are. To have none for an agent is a vote that it waits.
    """
    merged = {}
    for agent in asked:
        votes = [proposal.get(agent) for proposal in proposals]
        keys = [(plan.task, plan.actions) if plan is not None else None for plan in votes]
        winner = votes[keys.index(max(keys, key=keys.count))]
        if winner is not None:
            merged[agent] = winner
    return merged


@dataclass(frozen=True, slots=True)
class Effort:
    """How long a planner searches.

    Attributes:
        starts: schedules that are annealed from scratch.
        changes: changes tried on each of them.
        rollouts: schedules that are rolled out, at most.
        work: rollouts end when agents times cells of the grid times steps rolled out have come to this.
    """

    starts: int
    changes: int
    rollouts: int
    work: int


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

    def one_team(self, world: World) -> Sequence[Mind]:
        """Return the minds of a team that does one thing at a time by a greedy rule, one for each agent.

        Raises:
            ValueError: there is no such rule.
        """
        raise MissingSkill("one_team", world.name)

    def negotiator(
        self, world: World, noise: float, patience: int, generators: Sequence[np.random.Generator]
    ) -> Sequence[Mind]:
        """Return minds that come to terms by messages, without a language model.

        Args:
            world: that they act in.
            noise: probability that a choice is made at random.
            patience: steps to wait for the others of a team.
            generators: a random stream for each agent by index, and for the coordinator where there is one.

        Raises:
            ValueError: there are no such rules, or they do not know the vocabulary of the world.
        """
        raise MissingSkill("negotiator", world.name)

    def planner(self, world: World, effort: Effort, generator: np.random.Generator) -> Sequence[Mind]:
        """Return the minds of a team that carries out a plan made with full knowledge, one for each agent.

        Args:
            world: that they act in.
            effort: how long to search.
            generator: what all draws come from.

        Raises:
            MissingSkill: there is no planner.
        """
        raise MissingSkill("planner", world.name)

    def gates(self, vocabulary: Vocabulary, rollout: int = 0) -> Gates:
        """Return the rules that judge joint plans.

        Args:
            vocabulary: what plans are made of.
            rollout: steps that joint plans are rolled out for; 0 where `rolls_out` is false.

        Raises:
            ValueError: there are none, or they do not know this vocabulary.
        """
        raise MissingSkill("gates", self.world)

    def repair(self, world: World) -> RepairRules:
        """Return the rules by which committed plans are judged before they begin, and others advised.

        Args:
            world: that the plans are for.

        Raises:
            MissingSkill: there are none.
        """
        raise MissingSkill("repair", world.name)

    def evidence(self, world: World, view: View) -> Observation:
        """Return what plan confirmation judges an agent's part by: what the agent sees.

        Args:
            world: that it acts in.
            view: its turn.
        """
        return view.observation

    def briefing(self) -> Briefing:
        """Return how a state is told to a coordinator."""
        return Briefing()

    def example(self, world: World) -> Example:
        """Return what prompts show as an example of an answer, made of the actions of the world's vocabulary."""
        return plain_example(world)

    def notation(self, look: Callable[[], Any]) -> Notation:
        """Return the world's own text format for prompts and answers of planners.

        Args:
            look: gives the state as it is: the global observation, or what the notation has written of a state.

        Raises:
            MissingSkill: there is none.
        """
        raise MissingSkill("notation", self.world)

    def merge(self) -> Merge:
        """Return the rule that makes one joint plan of several debaters' ones."""
        return majority

    def speaker(self) -> Speaker[Any]:
        """Return the rules by which the simulated model answers.

        Raises:
            MissingSkill: there are none: then it answers with valid but uninformed plans.
        """
        raise MissingSkill("speaker", self.world)

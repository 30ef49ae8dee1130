"""The world model: a team's record of attempted plans and their results (DR. WELL, arXiv 2511.04646).

It is a graph of episodes, tasks, prototypes and instances. A prototype is a sequence of action kinds; an instance is an
executed plan with its parameters, outcome, duration and team size. Edges lead from an episode to a task, from a task to
a prototype, and from a prototype to an instance. The graph only grows: G_{k+1} = G_k united with dG_k. The minds of a
team share it, along with the plans each agent is currently executing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, NonNegativeInt, PositiveInt, ValidationError

from maeil.mind import PlanView
from maeil.plans import Plan, PlanStatus, Task
from maeil.world import World

_Text = Annotated[str, Field(max_length=1000)]


class Instance(BaseModel):
    """An executed plan."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    episode: NonNegativeInt
    """Episode of the memory, from 0."""
    task: _Text
    """The plan's task, as `kind:target`."""
    actions: Annotated[tuple[Mapping[str, Any], ...], Field(min_length=1, max_length=1000)]
    """Actions with their arguments, JSON-ready."""
    outcome: _Text
    """Final status, as reported by the loop."""
    reason: _Text
    """Reason for any outcome but success."""
    succeeded: bool
    """Whether every action succeeded and the task was then finished."""
    duration: NonNegativeInt | None
    """Environment steps from commitment to end; None if the end of the episode cut the plan off."""
    team: PositiveInt
    """Number of agents whose plans served the task meanwhile, including this agent."""

    @property
    def prototype(self) -> tuple[str, ...]:
        """The kinds of the actions, in order."""
        return tuple(str(action.get("action")) for action in self.actions)


@dataclass(frozen=True, slots=True)
class Experience:
    """Statistics over a set of instances.

    Attributes:
        attempts: number of instances.
        success_rate: share of instances that succeeded.
        mean_duration: mean environment steps of successful instances; None if no duration is known.
    """

    attempts: int
    success_rate: float
    mean_duration: float | None

    @staticmethod
    def of(instances: Sequence[Instance]) -> Experience:
        """Summarize one or more instances."""
        well = [instance for instance in instances if instance.succeeded]
        took = [instance.duration for instance in well if instance.duration is not None]
        return Experience(len(instances), len(well) / len(instances), sum(took) / len(took) if took else None)

    @property
    def rank(self) -> tuple[float, float, int]:
        """Sort key, best first: success rate, then duration, then number of attempts."""
        duration = self.mean_duration if self.mean_duration is not None else float("inf")
        return -self.success_rate, duration, -self.attempts

    def shown(self) -> dict[str, object]:
        """Return the part shown in prompts, JSON-ready."""
        shown: dict[str, object] = {"attempts": self.attempts, "success_rate": round(self.success_rate, 2)}
        return shown if self.mean_duration is None else {**shown, "mean_steps": round(self.mean_duration, 1)}


@dataclass(slots=True)
class WorldModel:
    """The graph, stored as its instances, from which all other nodes and edges follow.

    Attributes:
        instances: in the order in which they ended.
        episode: number of the current episode.
    """

    instances: list[Instance] = field(default_factory=list)
    episode: int = 0

    def of_task(self, task: str) -> Experience | None:
        """Return the statistics of a task; None if it was never attempted."""
        found = self._for(task)
        return Experience.of(found) if found else None

    def prototypes(self, task: str) -> list[tuple[tuple[str, ...], Experience]]:
        """Return the prototypes of a task, best first."""
        groups = _groups((instance.prototype, instance) for instance in self._for(task))
        return _ranked((key, Experience.of(found)) for key, found in groups.items())

    def attempts(self, task: str) -> list[tuple[Instance, Experience]]:
        """Return the instances of a task, best first; those with equal actions and team size are merged."""
        groups = _groups(((repr(i.actions), i.team), i) for i in self._for(task))
        return _ranked((found[-1], Experience.of(found)) for found in groups.values())

    def dump(self) -> dict[str, Any]:
        """Return the world model as JSON-ready data."""
        return {"episodes": self.episode + 1, "instances": [each.model_dump(mode="json") for each in self.instances]}

    @staticmethod
    def load(data: object) -> WorldModel:
        """Build the world model for the episode that follows those in the output of `dump`.

        Raises:
            ValueError: the data do not match the format of `dump`; the message names the field.
        """
        try:
            kept = _Kept.model_validate(data)
        except ValidationError as error:
            first = error.errors()[0]
            place = ".".join(map(str, first["loc"]))
            raise ValueError(f"the memory is not a world model of agents=drwell: {place}: {first['msg']}") from None
        return WorldModel(kept.instances, kept.episodes)

    def _for(self, task: str) -> Sequence[Instance]:
        return [instance for instance in self.instances if instance.task == task]


class _Kept(BaseModel):
    """The format of `WorldModel.dump`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    episodes: PositiveInt
    instances: list[Instance]


def _groups(keyed: Iterable[tuple[Any, Instance]]) -> dict[Any, list[Instance]]:
    groups: dict[Any, list[Instance]] = {}
    for key, instance in keyed:
        groups.setdefault(key, []).append(instance)
    return groups


def _ranked(found: Iterable[tuple[Any, Experience]]) -> list[Any]:
    return sorted(found, key=lambda entry: entry[1].rank)


STILL_OPEN = "the task was not over"
"""The reason recorded for a plan whose actions all succeeded while its task stayed open."""


@dataclass(slots=True)
class PlanRecord:
    """A plan for a task.

    Attributes:
        agent: index of the agent that executes it.
        task: the plan's task.
        plan: the plan.
        begin: environment step of its commitment.
        end: environment step of its end; None while it is live.
    """

    agent: int
    task: Task
    plan: Plan
    begin: int
    end: int | None = None


class DrwellTeam:
    """Records the results of a team's plans in its world model.

    Args:
        world: the world in which the plans run.
        model: the team's initial world model.
    """

    def __init__(self, world: World, model: WorldModel) -> None:
        self.model = model
        """The team's world model."""
        self._world = world
        self._ended: list[PlanRecord] = []
        self._live: dict[int, PlanRecord] = {}

    def serves(self, agent: int, plan: Plan, task: Task) -> bool:
        """Return whether the actions of a plan work on an open task, according to the world in its current state."""
        plans: list[Plan | None] = [None] * len(self._world.agents)
        plans[agent] = Plan(plan.actions)
        return any(found.task == task and agent in found.planned for found in self._world.open_tasks(plans) or ())

    def begin(self, agent: int, task: Task, plan: Plan, t: int) -> None:
        """Record that an agent commits a plan; if the loop refuses it, the agent's next plan replaces it."""
        self._live[agent] = PlanRecord(agent, task, plan, t)

    def end(self, agent: int, outcomes: tuple[PlanView, ...], t: int) -> None:
        """Record the result of an agent's committed plan when the agent needs another one.

        Args:
            agent: its index.
            outcomes: its recent ended plans, oldest first.
            t: environment step.
        """
        live = self._live.pop(agent, None)
        if live is None or not outcomes or not _is(outcomes[-1], live):
            return
        live.end = t
        self._ended.append(live)
        over = not self.serves(agent, live.plan, live.task)
        self.model.instances.append(self._instance(live, outcomes[-1].status, outcomes[-1].reason, over=over))

    def remember(self) -> dict[str, Any]:
        """Return the world model, including plans cut off by the end of the episode, JSON-ready."""
        whole = WorldModel([*self.model.instances], self.model.episode)
        for live in self._live.values():
            over = not self.serves(live.agent, live.plan, live.task)
            whole.instances.append(
                self._instance(live, PlanStatus.SUCCEEDED if over else PlanStatus.CANCELLED, "", over=over)
            )
        return whole.dump()

    def _instance(self, live: PlanRecord, status: PlanStatus, reason: str, *, over: bool) -> Instance:
        done = status is PlanStatus.SUCCEEDED
        return Instance(
            episode=self.model.episode,
            task=str(live.task),
            actions=tuple(action.model_dump(mode="json") for action in live.plan.actions),
            outcome=status.value,
            reason=reason or (STILL_OPEN if done and not over else ""),
            succeeded=done and over,
            duration=live.end - live.begin if live.end is not None else None,
            team=len({live.agent, *(other.agent for other in self._concurrent(live))}),
        )

    def _concurrent(self, own: PlanRecord) -> list[PlanRecord]:
        """Return the plans for the same task that were live during a plan that ends now."""
        return [
            other
            for other in (*self._ended, *self._live.values())
            if other.task == own.task and (other.end is None or other.end > own.begin)
        ]


def _is(ended: PlanView, live: PlanRecord) -> bool:
    return ended.task == live.task and ended.actions == tuple(map(str, live.plan.actions))

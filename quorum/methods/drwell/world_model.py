"""The world model: what a team has tried, and what came of it (DR. WELL, arXiv 2511.04646).

A graph of episodes, tasks, prototypes and instances. A prototype is a sequence of kinds of actions; an instance is a
plan that was carried out, with its parameters, outcome, duration and team size. Edges lead from an episode to a task,
from there to a prototype, and from there to an instance. It only grows: G_{k+1} = G_k united with dG_k. The minds of a
team share it, and what each of them is carrying out just now.
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
    """A plan that was carried out."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    episode: NonNegativeInt
    """In which episode of the memory, from 0."""
    task: _Text
    """What it was for, as `kind:target`."""
    actions: Annotated[tuple[Mapping[str, Any], ...], Field(min_length=1, max_length=1000)]
    """Its actions with their arguments, JSON-ready."""
    outcome: _Text
    """How it ended, as the loop says: its last status."""
    reason: _Text
    """Why, for anything but success."""
    succeeded: bool
    """Whether all its actions came off, and the task was over then."""
    duration: NonNegativeInt | None
    """Environment steps from its commitment to its end; None for one that the end of the episode has cut off."""
    team: PositiveInt
    """Agents whose plans served the task meanwhile, its own among them."""

    @property
    def prototype(self) -> tuple[str, ...]:
        """The kinds of its actions, in order."""
        return tuple(str(action.get("action")) for action in self.actions)


@dataclass(frozen=True, slots=True)
class Experience:
    """What is known of some instances together.

    Attributes:
        attempts: how many there are.
        success_rate: share of those that succeeded.
        mean_duration: environment steps that those took which succeeded; None where that is not known of any.
    """

    attempts: int
    success_rate: float
    mean_duration: float | None

    @staticmethod
    def of(instances: Sequence[Instance]) -> Experience:
        """Summarise instances, of which there is one at least."""
        well = [instance for instance in instances if instance.succeeded]
        took = [instance.duration for instance in well if instance.duration is not None]
        return Experience(len(instances), len(well) / len(instances), sum(took) / len(took) if took else None)

    @property
    def rank(self) -> tuple[float, float, int]:
        """The better, the smaller: by success, then by duration, then by how often it was tried."""
        duration = self.mean_duration if self.mean_duration is not None else float("inf")
        return -self.success_rate, duration, -self.attempts

    def shown(self) -> dict[str, object]:
        """Return what a prompt shows of it, JSON-ready."""
        shown: dict[str, object] = {"attempts": self.attempts, "success_rate": round(self.success_rate, 2)}
        return shown if self.mean_duration is None else {**shown, "mean_steps": round(self.mean_duration, 1)}


@dataclass(slots=True)
class WorldModel:
    """The graph, kept as its instances: every other node and every edge follows from one of them.

    Attributes:
        instances: in the order in which they ended.
        episode: number of the present one.
    """

    instances: list[Instance] = field(default_factory=list)
    episode: int = 0

    def of_task(self, task: str) -> Experience | None:
        """Return what is known of a task; None where nobody has tried it."""
        found = self._for(task)
        return Experience.of(found) if found else None

    def prototypes(self, task: str) -> list[tuple[tuple[str, ...], Experience]]:
        """Return the prototypes of a task, the best ones first."""
        groups = _groups((instance.prototype, instance) for instance in self._for(task))
        return _ranked((key, Experience.of(found)) for key, found in groups.items())

    def attempts(self, task: str) -> list[tuple[Instance, Experience]]:
        """Return the instances of a task, those that do the same in a team of the same size as one, the best first."""
        groups = _groups(((repr(i.actions), i.team), i) for i in self._for(task))
        return _ranked((found[-1], Experience.of(found)) for found in groups.values())

    def dump(self) -> dict[str, Any]:
        """Return it as JSON-ready data."""
        return {"episodes": self.episode + 1, "instances": [each.model_dump(mode="json") for each in self.instances]}

    @staticmethod
    def load(data: object) -> WorldModel:
        """Make the world model of the episode after those that `dump` has written.

        Raises:
            ValueError: the data are not what `dump` returns; the message names the place.
        """
        try:
            kept = _Kept.model_validate(data)
        except ValidationError as error:
            first = error.errors()[0]
            place = ".".join(map(str, first["loc"]))
            raise ValueError(f"the memory is no world model of agents=drwell: {place}: {first['msg']}") from None
        return WorldModel(kept.instances, kept.episodes)

    def _for(self, task: str) -> Sequence[Instance]:
        return [instance for instance in self.instances if instance.task == task]


class _Kept(BaseModel):
    """What `WorldModel.dump` returns."""

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
"""Why a plan whose actions all came off is no success."""


@dataclass(slots=True)
class PlanRecord:
    """A plan for a task.

    Attributes:
        agent: index of who carries it out.
        task: what it is for.
        plan: the plan.
        begin: environment step of its commitment.
        end: environment step of its end; None while it lives.
    """

    agent: int
    task: Task
    plan: Plan
    begin: int
    end: int | None = None


class DrwellTeam:
    """Enters what becomes of the plans of a team in its world model.

    Args:
        world: where they are carried out.
        model: what the team knows to begin with.
    """

    def __init__(self, world: World, model: WorldModel) -> None:
        self.model = model
        """What the team knows."""
        self._world = world
        self._ended: list[PlanRecord] = []
        self._live: dict[int, PlanRecord] = {}

    def serves(self, agent: int, plan: Plan, task: Task) -> bool:
        """Return whether the actions of a plan work at an open task, as the world sees it in the state as it is."""
        plans: list[Plan | None] = [None] * len(self._world.agents)
        plans[agent] = Plan(plan.actions)
        return any(found.task == task and agent in found.planned for found in self._world.open_tasks(plans) or ())

    def begin(self, agent: int, task: Task, plan: Plan, t: int) -> None:
        """Note that an agent commits a plan; one that the loop then refuses is forgotten with the next."""
        self._live[agent] = PlanRecord(agent, task, plan, t)

    def end(self, agent: int, outcomes: tuple[PlanView, ...], t: int) -> None:
        """Learn what became of the plan that an agent has committed, when it needs another one.

        Args:
            agent: its index.
            outcomes: its last plans that ended, oldest first.
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
        """Return the world model with what became of the plans that the end of the episode cut off, JSON-ready."""
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
        """The plans for the same task that lived at the same time as one that ends now."""
        return [
            other
            for other in (*self._ended, *self._live.values())
            if other.task == own.task and (other.end is None or other.end > own.begin)
        ]


def _is(ended: PlanView, live: PlanRecord) -> bool:
    return ended.task == live.task and ended.actions == tuple(map(str, live.plan.actions))

"""What has become of joint plans: which are under way, and the last decision epochs, from one commit to the next."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from maeil.mind import MemberView, PlanView
from maeil.plans import Plan
from maeil.world import Progress


@dataclass(frozen=True, slots=True)
class Epoch:
    """A decision, before it is known what came of it.

    Attributes:
        t: environment step.
        digest: the state in a few numbers.
        plans: the suggestion.
        progress: how far the team had come.
    """

    t: int
    digest: object
    plans: Mapping[int, Plan]
    progress: Progress


class Memory:
    """The last decision epochs with their outcomes.

    Args:
        length: how many; None for all.
        names: of the agents.
    """

    def __init__(self, length: int | None, names: Sequence[str]) -> None:
        self._names = names
        self._past: deque[dict[str, Any]] = deque(maxlen=length)
        self._open: Epoch | None = None

    @property
    def epochs(self) -> list[dict[str, Any]]:
        """The epochs that are over, oldest first, JSON-ready."""
        return list(self._past)

    def begin(self, epoch: Epoch) -> None:
        """Note a decision."""
        self._open = epoch

    def end(self, t: int, progress: Progress, team: Sequence[MemberView]) -> None:
        """Note what has come of the last decision, if there is one: by agent the fate of its plan, and the reward.

        The reward is the change of the world's score. A plan that still runs is `running`.
        """
        epoch, self._open = self._open, None
        if epoch is None:
            return
        self._past.append(
            {
                "step": epoch.t,
                "steps": t - epoch.t,
                "state": epoch.digest,
                "plans": {
                    self._names[agent]: {
                        "task": str(plan.task) if plan.task is not None else None,
                        "actions": [str(action) for action in plan.actions],
                        **_fate(plan, team[agent]),
                    }
                    for agent, plan in sorted(epoch.plans.items())
                },
                "reward": round(progress.score - epoch.progress.score, 6),
                "reached": progress.reached - epoch.progress.reached,
            }
        )


def place(member: MemberView) -> str:
    """Return where an agent stands between two plans; another after each commit."""
    if member.plan is not None:
        return member.plan.id
    return f"after {member.outcomes[-1].id}" if member.outcomes else ""


def under_way(suggested: Mapping[int, Plan], team: Sequence[MemberView]) -> dict[int, Plan]:
    """Return what is left of the suggestions that agents are carrying out; those who only wait have none."""
    found: dict[int, Plan] = {}
    for agent, plan in suggested.items():
        member = team[agent]
        if member.plan is not None and is_running(plan, member):
            found[agent] = Plan(plan.actions[member.plan.done :], plan.task, plan.rationale)
    return found


def is_same(plan: Plan, seen: PlanView) -> bool:
    """Whether a plan is the one that a view shows, or what is left of it."""
    actions = tuple(map(str, plan.actions))
    return actions in (seen.actions, seen.actions[seen.done :])


def is_running(plan: Plan, member: MemberView) -> bool:
    """Whether a plan is the live one of an agent."""
    return member.plan is not None and member.plan.actions == tuple(map(str, plan.actions))


def _fate(plan: Plan, member: MemberView) -> dict[str, str]:
    """The status of a suggested plan, and the reason of its end if it has one; `dropped` when another was committed."""
    if is_running(plan, member):
        return {"status": "running"}
    actions = tuple(map(str, plan.actions))
    ended = next((past for past in reversed(member.outcomes) if past.actions == actions), None)
    if ended is None:
        return {"status": "dropped"}
    return {"status": ended.status.value} | ({"reason": ended.reason} if ended.reason else {})

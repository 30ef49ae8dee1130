"""A trace as a test writes it down, event by event."""

from __future__ import annotations

from collections.abc import Sequence

from maeil.trace import Stamped, Trace
from maeil.trace import events as e
from quorum.what_if.failures import Failure, find_failures


class Story:
    """Takes events down. Agents are `agent_0`, ...; `push` tasks at targets, for which plans `deliver`."""

    def __init__(self, agents: int = 3) -> None:
        self.events: list[Stamped] = []
        self.t = 0
        self._plans = [0] * agents
        self._messages = 0
        names = [f"agent_{agent}" for agent in range(agents)]
        self._add(e.EpisodeStart(e.SCHEMA, 0, "cube", "centralized", names, [], "tokens", {}))

    def _add(self, event: e.Event) -> int:
        self.events.append(Stamped(len(self.events), self.t, 0, 0.0, event))
        return len(self.events) - 1

    def step(self) -> None:
        self._add(e.StepTaken((0,), 0))
        self.t += 1

    def think(self, agent: int, *acts: str) -> int:
        return self._add(e.ThoughtStart(agent, acts or ("plan", "speak"), ()))

    def thought(self, agent: int, *refused: str) -> int:
        return self._add(e.ThoughtEnd(agent, 1, (), refused, 0))

    def turn(self, agent: int, *acts: str) -> int:
        self.think(agent, *acts)
        return self.thought(agent)

    def say(
        self,
        agent: int,
        content: str,
        *to: int,
        what: str = "inform",
        does: str = "",
        asks: Sequence[tuple[int, str]] | None = (),
    ) -> int:
        """Send a message, which its recipients read at once; `asks=None` for one that is text alone."""
        number = self._messages
        self._messages += 1
        task = {"kind": "deliver", "target": does} if does else None
        asked = [{"agent": one, "task": {"kind": "deliver", "target": target}} for one, target in asks or ()]
        typed = asked if asks is not None else None
        sent = self._add(e.MessageSent(number, agent, to, what, content, 0, (), task, typed))
        for reader in to:
            self._add(e.MessagesRead(reader, [number]))
        return sent

    def plan(self, agent: int, target: str = "", flag: str = "", act: str = "push") -> str:
        self._plans[agent] += 1
        name = f"P{agent}.{self._plans[agent]}"
        task = {"kind": "deliver", "target": target} if target else None
        actions: Sequence[dict[str, str]] = [{"action": act, "block": target}]
        self._add(e.PlanChange(name, agent, "committed", task=task, actions=actions, flag=flag))
        return name

    def ends(self, plan: str, status: str = "failed", reason: str = "push: stuck 1") -> int:
        agent = int(plan[1 : plan.index(".")])
        self._add(e.PlanChange(plan, agent, "running"))
        self._add(e.ActionChange(plan, agent, 0, "push", "started"))
        self._add(e.ActionChange(plan, agent, 0, "push", status))
        return self._add(e.PlanChange(plan, agent, status, reason))

    def task(self, name: str, needs: int = 1, *, ready: bool = True, acting: int = 0) -> int:
        kind, _, target = name.rpartition(":")
        task = {"kind": kind or "push", "target": target}
        return self._add(e.ConstraintChange(task, needs, 0, acting, acting, 0, ready, (needs, 0, needs)))

    def tries(self, target: str, *agents: int, missing: Sequence[str] = (), unmet: bool = False) -> int:
        task = {"kind": "push", "target": target}
        attempt = {"task": task, "agents": agents, "succeeded": not missing, "missing": missing, "unmet": unmet}
        return self._add(e.StepOutcome((), (attempt,)))

    @property
    def trace(self) -> Trace:
        return Trace(tuple(self.events))

    def failures(self) -> tuple[Failure, ...]:
        return find_failures(self.trace)

    def kinds(self) -> list[tuple[str, int, str]]:
        """What is found: kind, agent and task of each."""
        return [(str(found.kind), found.agent, found.task) for found in self.failures()]

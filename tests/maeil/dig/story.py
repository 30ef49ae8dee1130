"""Traces written by hand: who says what to whom, and plans what, step by step."""

from __future__ import annotations

from typing import Any

from maeil.dig.patterns import PUBLISHED, Analysis, Finding, Pattern, Thresholds, analyse
from maeil.trace import events as e
from maeil.trace.events import Event, Stamped
from maeil.trace.reader import Trace


class Story:
    """Writes the events of an episode as the loop does; each thought takes one unit of the cognitive clock.

    Args:
        agents: number of agents.
        tasks: how many agents each task takes, by its target.
        coordinators: number of participants without a body.
    """

    def __init__(self, agents: int, coordinators: int = 0, **tasks: int) -> None:
        names = [f"agent_{i}" for i in range(agents)]
        others = ["coordinator"] * coordinators
        self.events: list[Stamped] = []
        self.t, self.t_hat, self.messages = 0, 0, 0
        self.plans: dict[int, str] = {}
        self.count = [0] * agents
        self.add(e.EpisodeStart(e.SCHEMA, 0, "hall", "free", names, others, "fixed", {}))
        for target, threshold in tasks.items():
            self.takes(target, threshold)

    def add(self, event: Event) -> None:
        self.events.append(Stamped(len(self.events), self.t, self.t_hat, 0.0, event))

    def takes(self, target: str, threshold: int) -> None:
        """Say how many agents a task takes; 0: it is over."""
        task, literal = {"kind": "push", "target": f"{target}/left"}, (threshold, 0, threshold)
        self.add(e.ConstraintChange(task, threshold, 0, 0, 0, 0, True, literal))

    def think(self, agent: int, *reads: int) -> Story:
        """A thought that reads messages; what `say`, `plan` and `resume` do next is its work."""
        self.add(e.ThoughtStart(agent, ["plan", "speak"], []))
        if reads:
            self.add(e.MessagesRead(agent, list(reads)))
        self.t_hat += 1
        self.add(e.ThoughtEnd(agent, 1, [], [], 0))
        return self

    def say(self, sender: int, text: str, *to: int, kind: str = "request") -> int:
        """The last thought of an agent sends a message; its id."""
        self.add(e.MessageSent(self.messages, sender, sorted(to), kind, text, self.t_hat))
        self.messages += 1
        return self.messages - 1

    def plan(self, agent: int, target: str = "", flag: str = "") -> None:
        """The last thought of an agent commits a plan."""
        before = self.plans.get(agent)
        if before is not None:
            self.add(e.PlanChange(before, agent, "replaced", "new_plan"))
        self.count[agent] += 1
        self.plans[agent] = f"P{agent}.{self.count[agent]}"
        task = {"kind": "deliver", "target": target} if target else None
        self.add(e.PlanChange(self.plans[agent], agent, "committed", "", task, [], "", flag))
        self.add(e.StageChange(agent, "I" if before else "R", "W", "replaced" if before else "plan_committed"))

    def resume(self, agent: int) -> None:
        """The last thought of an agent goes on with its plan."""
        self.add(e.StageChange(agent, "I", "W", "resumed"))

    def end(self, agent: int, status: str = "failed") -> None:
        """The plan of an agent ends, and it has to think."""
        self.add(e.PlanChange(self.plans.pop(agent), agent, status, "because"))
        self.add(e.StageChange(agent, "X", "R", "plan_ended"))

    def step(self, times: int = 1, **outcome: Any) -> None:
        """The environment takes steps."""
        for _ in range(times):
            self.add(e.StepTaken([0] * len(self.count), 0))
            if outcome:
                self.add(e.StepOutcome([], [outcome]))
            self.t += 1

    def analysis(self, thresholds: Thresholds = PUBLISHED) -> Analysis:
        return analyse(Trace(tuple(self.events)), thresholds)

    def found(self, pattern: Pattern) -> list[Finding]:
        return [one for one in self.analysis().findings if one.pattern is pattern]

    def reaction(self, message: int, agent: int) -> str:
        return self.analysis().graph.messages[message].reactions[agent].value

"""Why an episode did not succeed: by hand, each cause alone; and teams in CUBE that fail for a known cause.

`tests.maeil.claims` checks every claim once more, against the raw events.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from cube_env import Face, Idle, MoveToBlock, PushBlock, Rendezvous
from maeil import Plan, SymbolicAction, Task, Thought
from maeil.trace import Stamped, Trace
from maeil.trace import events as e
from maeil.trace.explanation import explain_failure
from tests.cube_env.acting import world
from tests.maeil.claims import check
from tests.maeil.scripted import Scripted, play

Report = tuple[int, str, float, float, float, float]
"""A report of constraints: step, task, threshold, agents in place, acting, and committed."""


def made(
    steps: int = 10,
    *,
    agents: int = 2,
    goals: int = 1,
    reports: Sequence[Report] = ((0, "a", 2, 0, 0, 0),),
    ready: bool = True,
    weights: Sequence[float] | None = None,
    tries: Sequence[tuple[int, str, Sequence[int], str]] = (),
    plans: Sequence[Mapping[str, Any]] = (),
    reached: Mapping[int, int] | None = None,
    moves: Mapping[int, Sequence[int]] | None = None,
    refused: Sequence[Sequence[str]] = (),
    happens: Mapping[int, Sequence[str]] | None = None,
    outcome: str = "truncated",
    reason: str = "",
    end: bool = True,
) -> Trace:
    """Make a trace.

    Args:
        steps: its steps; the agents take primitive 0 in each, except for `moves`.
        reports: reports of tasks; their dependencies hold if `ready`.
        tries: attempts: step, task, agents, and what it lacked, the cause first, and `unmet` if it was only planned;
            empty if it succeeded.
        plans: `agent`, `t`, `task`; `since`, the step in which its last action started (None: it has none); `ends`,
            (step, status, reason), None for the end of the episode; `flag`; `does`, its only action; `next`, an
            action that starts at its end.
        reached: goals reached, by the step before which they are reported.
        refused: the reasons of each refused answer, in step 0.
        happens: kinds of outcomes, by step.
    """
    found: list[tuple[int, int, e.Event]] = [
        (0, 0, e.EpisodeStart(e.SCHEMA, 0, "w", "t", [f"agent_{i}" for i in range(agents)], [], "tokens", {})),
        (0, 1, e.ScoreChange(0, goals, 0)),
    ]
    for reasons in refused:
        found += [(0, 2, e.ThoughtStart(0, ("plan",), ())), (0, 2, e.ThoughtEnd(0, 1, (), reasons, 0))]
    for number, plan in enumerate(plans):
        name, agent, starts = f"P{plan['agent']}.{number}", plan["agent"], plan.get("t", 0)
        task = {"kind": "do", "target": plan["task"]} if plan.get("task") else None
        does = plan.get("does", "work")
        actions = [{"action": does}]
        found.append(
            (starts, 3, e.PlanChange(name, agent, "committed", task=task, actions=actions, flag=plan.get("flag", "")))
        )
        since = plan.get("since", starts)
        t, status, why = plan.get("ends") or (steps, "cancelled", "episode_end")
        if since is not None:
            found.append((since, 4, e.ActionChange(name, agent, 0, does, "started")))
            over = "success" if plan.get("next") else status
            found.append((t, 2, e.ActionChange(name, agent, 0, does, over)))
        if after := plan.get("next"):
            found += [(t, 2, e.ActionChange(name, agent, 1, after, how)) for how in ("started", "cancelled")]
        found.append((t, 2, e.PlanChange(name, agent, status, why)))
    for t, target, threshold, spatial, temporal, participation in reports:
        task = {"kind": "do", "target": target}
        numbers = (threshold, spatial, temporal, participation, 0, ready, (threshold, spatial, threshold))
        found.append((t, 5, e.ConstraintChange(task, *numbers, weights)))
    found += [(t, 6, e.StepTaken((moves or {}).get(t, (0,) * agents), 0)) for t in range(steps)]
    for t, target, those, lacking in tries:
        missing = lacking.removesuffix("unmet").split()
        task = {"kind": "do", "target": target}
        attempt = {"task": task, "agents": list(those), "succeeded": not missing, "missing": missing}
        attempt["unmet"] = lacking.endswith("unmet")
        found.append((t, 7, e.StepOutcome((), (attempt,))))
    for t, kinds in (happens or {}).items():
        found.append((t, 7, e.StepOutcome(tuple({"what": kind} for kind in kinds), ())))
    found += [(t, 1, e.ScoreChange(number, goals, number)) for t, number in (reached or {}).items()]
    if end:
        found.append((steps, 9, e.EpisodeEnd(outcome, steps, reason)))  # type: ignore[arg-type]
    found.sort(key=lambda one: one[:2])
    return Trace(tuple(Stamped(seq, t, 0, 0.0, event) for seq, (t, _, event) in enumerate(found)))


def explained(trace: Trace) -> list[str]:
    """The sentences on a trace, each claim of which is checked."""
    sentences = explain_failure(trace)
    assert len(sentences) <= 3
    if sentences:
        check([stamped.to_json() for stamped in trace.events], [(one.t, one.words) for one in sentences])
    return [sentence.words for sentence in sentences]


UP = "Time was up after 10 steps, with 0 of 1 goal reached."
PLANNED = "a needs 2 agents; agent_1 first planned it in step 0, but there was no attempt at it"
LATE = "a needs 2 agents; there was no attempt before step 8, 2 steps before the end"

ENDINGS = {
    "success": (made(outcome="success"), []),
    "under way or killed": (made(end=False), []),
    "the world does not judge": (made(outcome="ended"), []),
    "no goal was set": (made(goals=0, reports=()), []),
    "no task": (made(reports=()), [UP]),
    "a goal": (
        made(reports=(), goals=3, reached={4: 1}),
        ["Time was up after 10 steps, with 1 of 3 goals reached, the last in step 3."],
    ),
    "two goals": (
        made(reports=(), goals=3, reached={4: 1, 10: 2}),
        ["Time was up after 10 steps, with 2 of 3 goals reached, the last in step 9."],
    ),
    "a goal that was lost again": (made(reports=(), reached={4: 1, 6: 0}), [f"{UP[:-1]}, after 1 in step 3."]),
    "a single step": (made(1, reports=()), ["Time was up after 1 step, with 0 of 1 goal reached."]),
    "a budget": (
        made(3, reports=(), outcome="budget", reason="BudgetReached: calls: 6 of 6 are used"),
        [
            "The budget was used up after 3 steps (BudgetReached: calls: 6 of 6 are used), with 0 of 1 goal reached."
        ],
    ),
    "an error, which is all": (
        made(3, outcome="error", reason="Boom: it broke.\nmore"),
        ["An error ended the run after 3 steps (Boom: it broke), with 0 of 1 goal reached."],
    ),
    "an error without goals": (
        made(3, goals=0, reports=(), outcome="error", reason="Boom"), ["An error ended the run after 3 steps (Boom)."]
    ),
    "a very long reason": (
        made(3, goals=0, reports=(), outcome="error", reason="x" * 300),
        [f"An error ended the run after 3 steps ({'x' * 199}\u2026)."],
    ),
    "failure": (
        made(3, reports=(), outcome="failure"),
        ["The run ended in failure after 3 steps, with 0 of 1 goal reached."],
    ),
    "failure, with what happened last": (
        made(3, reports=(), outcome="failure", happens={0: ["walked"], 2: ["walked", "collision", "walked"]}),
        ["The run ended in failure after 3 steps (last step: collision and walked), with 0 of 1 goal reached."],
    ),
    "a method that gave up": (
        made(3, reports=(), outcome="failure", reason="Failed: no plan"),
        ["The run ended in failure after 3 steps (Failed: no plan), with 0 of 1 goal reached."],
    ),
}  # fmt: skip

INVALID = {"agent": 0, "flag": "invalid_plan", "does": "idle"}
INACTION = {
    "all answers were refused": (
        made(plans=[INVALID], refused=[["no such task"], ["no such task", "too far"]]),
        [UP, "Nobody acted: 2 of 2 answers were refused, 2 times because no such task."],
    ),
    "one answer": (
        made(plans=[INVALID], refused=[["no such task."]]),
        [UP, "Nobody acted: 1 of 1 answer was refused, 1 time because no such task."],
    ),
    "an answer that the end cut short is not refused": (
        made(plans=[INVALID], refused=[["too far"], [e.CUT_SHORT]]),
        [UP, "Nobody acted: 1 of 2 answers were refused, 1 time because too far."],
    ),
    "only the end cut it short": (
        made(plans=[INVALID], refused=[[e.CUT_SHORT]]),
        [UP, "Nobody tried a task: every plan was only idle."],
    ),
    "plans that failed, and no task": (
        made(reports=(),
             plans=[{"agent": 0, "ends": (t, "failed", why)} for t, why in ((1, "late"), (2, "far"), (3, "far"))]),
        [UP, "3 of 3 plans failed, 2 of them with far."],
    ),
    "plans most of which succeeded": (
        made(reports=(),
             plans=[{"agent": 0, "ends": (2, how, "")} for how in ("failed", "succeeded", "succeeded")]),
        [UP],
    ),
    "plans half of which failed, and a task": (
        made(plans=[{"agent": 0, "does": "walk", "ends": (1, "failed", "late")}, {"agent": 1}]),
        [UP, "Nobody tried a (needs 2 agents)."],
    ),
    "a valid plan took effect": (
        made(plans=[INVALID, {"agent": 1, "does": "walk", "task": "a", "since": None}], refused=[["too far"]]),
        [UP, "1 of 1 answer was refused, 1 time because too far.",
         "a needs 2 agents; agent_1 first planned it in step 0, but there was no attempt at it."],
    ),
    "most answers took effect": (
        made(plans=[{"agent": 1, "task": "a", "since": None}], refused=[["too far"], [], []]),
        [UP, "a needs 2 agents; agent_1 first planned it in step 0, but there was no attempt at it."],
    ),
    "a repair is no fallback": (
        made(plans=[INVALID, {"agent": 0, "flag": "repaired", "does": "walk"}], refused=[["too far"]]),
        [UP, "1 of 1 answer was refused, 1 time because too far.", "Nobody tried a (needs 2 agents)."],
    ),
    "half of the answers were refused": (
        made(plans=[{"agent": 1, "task": "a", "since": None}], refused=[["too far"], ["too far"], [], []]),
        [UP, "2 of 4 answers were refused, 2 times because too far.",
         "a needs 2 agents; agent_1 first planned it in step 0, but there was no attempt at it."],
    ),
    "an idle team": (
        made(plans=[{"agent": 0, "does": "idle"}, {"agent": 1, "does": "idle"}]),
        [UP, "Nobody tried a task: every plan was only idle."],
    ),
    "an idle team in a world that does not judge": (
        made(plans=[{"agent": 0, "does": "idle"}], outcome="ended"), ["Nobody tried a task: every plan was only idle."]
    ),
    "an idle team in a world without tasks": (made(plans=[{"agent": 0, "does": "idle"}], reports=()), [UP]),
    "two kinds of plans": (
        made(plans=[{"agent": 0, "does": "idle"}, {"agent": 1, "does": "walk"}]),
        [UP, "Nobody tried a (needs 2 agents)."],
    ),
    "a fallback next to it": (
        made(plans=[INVALID, {"agent": 1, "does": "wait"}]), [UP, "Nobody tried a (needs 2 agents)."],
    ),
    "idle, but for a task": (
        made(plans=[{"agent": 0, "does": "idle", "task": "a"}]),
        [UP, "a needs 2 agents; agent_0 first planned it in step 0, but there was no attempt at it; "
             "agent_0 was in idle from step 0 to the end."],
    ),
    "an idle team that takes part in a task": (
        made(plans=[{"agent": 0, "does": "idle"}], tries=[(3, "a", [0], "dependency")]),
        [UP, "a needs 2 agents; the only attempt at it in step 3 failed: its prerequisites were not met."],
    ),
}  # fmt: skip

WAY = ((0, "a/left", 2, 0, 0, 0), (0, "a/up", 2, 0, 0, 0))
TASKS = {
    "nobody went": (made(), [UP, "Nobody planned or tried a (needs 2 agents)."]),
    "one agent is enough": (made(reports=[(0, "a", 1, 0, 0, 0)]), [UP, "Nobody planned or tried a (needs 1 agent)."]),
    "the ways need different numbers": (
        made(reports=[(0, "a/left", 1, 0, 0, 0), (0, "a/up", 2, 0, 0, 0)]),
        [UP, "Nobody planned or tried a (needs at least 1 agent)."],
    ),
    "weights": (
        made(agents=3, reports=[(0, "a", 3, 0, 0, 0)], weights=(1, 2, 2)),
        [UP, "Nobody planned or tried a (needs at least 2 agents)."],
    ),
    "weights that are too small together": (
        made(reports=[(0, "a", 4, 0, 0, 0)], weights=(1, 2)),
        [UP, "a needs more than all agents together, and the team has 2."],
    ),
    "three of them": (
        made(goals=3, reports=[(0, name, 1, 0, 0, 0) for name in "abc"]),
        ["Time was up after 10 steps, with 0 of 3 goals reached.",
         "Nobody planned or tried a (needs 1 agent), b (needs 1 agent) and c (needs 1 agent)."],
    ),
    "many of them": (
        made(goals=6, reports=[(0, name, 1, 0, 0, 0) for name in "abcdef"]),
        ["Time was up after 10 steps, with 0 of 6 goals reached.",
         "Nobody planned or tried a (needs 1 agent), b (needs 1 agent), c (needs 1 agent) and 3 others."],
    ),
    "another was done instead": (
        made(goals=2, reports=[(0, "a", 1, 0, 0, 0), (0, "b", 1, 0, 0, 0)], tries=[(3, "b", [0], "spatial")] * 2),
        ["Time was up after 10 steps, with 0 of 2 goals reached.",
         "b needs 1 agent; both attempts at it in step 3 failed: too few agents were in place.",
         "Nobody planned or tried a (needs 1 agent); both attempts were at b."],
    ),
    "more than the team": (
        made(reports=[(0, "a", 3, 0, 0, 0)], tries=[(1, "a", [0, 1], "spatial")]),
        [UP, "a needs 3 agents, and the team has 2."],
    ),
    "more than the team for a while": (
        made(reports=[(0, "a", 2, 0, 0, 0), (5, "a", 3, 0, 0, 0)], tries=[(1, "a", [0], "spatial")]),
        [UP, "a needs 3 agents; the only attempt at it in step 1 failed: too few agents were in place."],
    ),
    "a plan that did not get there": (
        made(plans=[{"agent": 1, "task": "a", "does": "walk", "since": 4}]),
        [UP, "a needs 2 agents; agent_1 first planned it in step 0, but there was no attempt at it; "
             "agent_1 was in walk from step 4 to the end."],
    ),
    "plans that failed": (
        made(plans=[{"agent": 1, "task": "a", "ends": (3, "failed", "walk: no_way")},
                    {"agent": 0, "task": "a", "t": 2, "ends": (6, "timed_out", "walk: late")}]),
        [UP, "a needs 2 agents; agent_1 first planned it in step 0 and agent_0 in step 2, but there was no attempt "
             "at it; the last failure of a plan for it was in step 6 (walk: late)."],
    ),
    "a plan that succeeded without an attempt": (
        made(plans=[{"agent": 1, "task": "a", "ends": (3, "succeeded", "")}]),
        [UP, f"{PLANNED}; the only plan for it succeeded, with no action but work."],
    ),
    "what it depends on": (
        made(ready=False, plans=[{"agent": 1, "task": "a", "ends": (3, "succeeded", "")}]),
        [UP, f"{PLANNED}; the only plan for it succeeded, with no action but work; "
             "in the last step, its prerequisites were not met."],
    ),
    "a plan for one way": (
        made(reports=WAY, plans=[{"agent": 1, "task": "a/up", "ends": (3, "succeeded", "")}]),
        [UP, f"{PLANNED}; the only plan for it succeeded, with no action but work."],
    ),
    "a plan at the end": (
        made(plans=[{"agent": 1, "task": "a", "t": 7, "since": None}]),
        [UP, "a needs 2 agents; no plan named it before step 7, 3 steps before the end; there was no attempt at it."],
    ),
    "plans with other actions that succeeded": (
        made(plans=[{"agent": 1, "task": "a", "does": does, "ends": (3, "succeeded", "")} for does in ("work", "go")]),
        [UP, f"{PLANNED}."],
    ),
    "plans one of which failed": (
        made(plans=[{"agent": 1, "task": "a", "ends": (3, how, "late")} for how in ("failed", "succeeded")]),
        [UP, f"{PLANNED}; the last failure of a plan for it was in step 3 (late)."],
    ),
    "plans after the last attempt": (
        made(tries=[(2, "a", [0, 1], "")],
             plans=[{"agent": 0, "task": "a", "t": t, "does": "go", "ends": (9, "succeeded", "")} for t in (1, 4, 5)]),
        [UP, "a needs 2 agents; the only attempt at it in step 2 succeeded, which did not finish it; "
             "after that, both plans for it succeeded, with no action but go."],
    ),
    "plans after the last attempt, one of which failed": (
        made(tries=[(2, "a", [0, 1], "")],
             plans=[{"agent": 0, "task": "a", "t": 4, "ends": (9, how, "late")} for how in ("failed", "succeeded")]),
        [UP, "a needs 2 agents; the only attempt at it in step 2 succeeded, which did not finish it."],
    ),
    "a plan cut off after the last attempt": (
        made(tries=[(2, "a", [0, 1], "")], plans=[{"agent": 0, "task": "a", "t": 4}]),
        [UP, "a needs 2 agents; the only attempt at it in step 2 succeeded, which did not finish it."],
    ),
    "a plan whose action ended when time was up": (
        made(plans=[{"agent": 1, "task": "a", "does": "walk", "next": "meet"}]),
        [UP, f"{PLANNED}; agent_1 was in walk from step 0 to the end."],
    ),
    "a plan that was given up": (
        made(plans=[{"agent": 1, "task": "a", "ends": (3, "interrupted", "new_plan")}]),
        [UP, f"{PLANNED}; the last plan for it gave way to another in step 3."],
    ),
    "a plan that was cancelled before the end": (
        made(plans=[{"agent": 1, "task": "a", "ends": (3, "cancelled", "")}]), [UP, f"{PLANNED}."],
    ),
    "an action that no step followed": (
        made(plans=[{"agent": 1, "task": "a", "t": 7, "since": 10}]),
        [UP, "a needs 2 agents; no plan named it before step 7, 3 steps before the end; there was no attempt at it."],
    ),
    "five planners": (
        made(agents=6, plans=[{"agent": k, "task": "a", "ends": (3, "succeeded", "")} for k in range(5)]),
        [UP, "a needs 2 agents; agent_0, agent_1, agent_2 and 2 others first planned it in step 0, "
             "but there was no attempt at it; all 5 plans for it succeeded, with no action but work."],
    ),
    "too few": (
        made(tries=[(t, "a", [0], "spatial temporal") for t in (2, 3, 4)]),
        [UP, "a needs 2 agents; all 3 attempts at it from step 2 to step 4 failed: too few agents were in place."],
    ),
    "several causes": (
        made(tries=[(2, "a", [0], "spatial"), (3, "a", [0], "temporal"), (4, "a", [0], "temporal")]),
        [UP, "a needs 2 agents; all 3 attempts at it from step 2 to step 4 failed: in 2 of them, "
             "too few agents acted at the same time."],
    ),
    "more than the team at the end, by the way that was tried": (
        made(reports=[*WAY, (6, "a/up", 3, 0, 0, 0)],
             tries=[(2, "a/up", [0, 1], ""), *((t, "a/up", [0, 1], "participation spatial") for t in (6, 7, 8))]),
        [UP, "a needs at least 2 agents; 1 of 4 attempts at it from step 2 to step 8 succeeded, which did not finish "
             "it; the last 3 failed: it then needed 3 agents, and the team has 2."],
    ),
    "more than before, and not more than the team": (
        made(reports=[(0, "a/left", 1, 0, 0, 0), (0, "a/up", 2, 0, 0, 0)],
             tries=[(2, "a/up", [0], "participation"), (3, "a/up", [0], "participation")]),
        [UP, "a needs at least 1 agent; both attempts at it from step 2 to step 3 failed: "
             "too few agents were committed to it, and it then needed 2 agents."],
    ),
    "more than before, in different numbers": (
        made(agents=3, reports=[(0, "a/left", 1, 0, 0, 0), (0, "a/up", 2, 0, 0, 0), (3, "a/up", 3, 0, 0, 0)],
             tries=[(2, "a/up", [0], "participation"), (3, "a/up", [0], "participation")]),
        [UP, "a needs at least 1 agent; both attempts at it from step 2 to step 3 failed: "
             "too few agents were committed to it, and it then needed at least 2 agents."],
    ),
    "a single one that is too weak": (
        made(reports=[(0, "a", 2, 0, 0, 0)], weights=(1, 2), tries=[(2, "a", [0], "participation")]),
        [UP, "a needs at least 1 agent; the only attempt at it in step 2 failed: "
             "too few or too weak agents were committed to it."],
    ),
    "no commitment": (
        made(tries=[(2, "a", [0], "participation")]),
        [UP, "a needs 2 agents; the only attempt at it in step 2 failed: too few agents were committed to it."],
    ),
    "all conditions at once": (
        made(tries=[(2, "a", [0], "joint")]),
        [UP, "a needs 2 agents; the only attempt at it in step 2 failed: "
             "too few agents were in place, able and acting at once."],
    ),
    "a cause of another version": (
        made(tries=[(2, "a", [0], "luck")]), [UP, "a needs 2 agents; the only attempt at it in step 2 failed."],
    ),
    "refused before the first step": (
        made(plans=[{"agent": 0, "task": "a", "ends": (t, "failed", f"move: {t}")} for t in (1, 2)],
             tries=[(2, "a", [0], "temporal unmet")]),
        [UP, "a needs 2 agents; the only attempt at it in step 2 failed: too few agents acted at the same time "
             "(move: 2)."],
    ),
    "refused with another plan in the same step": (
        made(plans=[{"agent": 0, "task": "a", "ends": (2, "failed", f"move: {why}")} for why in ("far", "low")],
             tries=[(2, "a", [0], "temporal unmet")]),
        [UP, "a needs 2 agents; the only attempt at it in step 2 failed: too few agents acted at the same time."],
    ),
    "one refused, one not": (
        made(plans=[{"agent": 0, "task": "a", "ends": (1, "failed", "move: far")}],
             tries=[(2, "a", [0], "temporal unmet"), (3, "a", [0], "temporal")]),
        [UP, "a needs 2 agents; both attempts at it from step 2 to step 3 failed: "
             "too few agents acted at the same time."],
    ),
    "unmet, and no plan has ended": (
        made(tries=[(2, "a", [0], "temporal unmet")]),
        [UP, "a needs 2 agents; the only attempt at it in step 2 failed: too few agents acted at the same time."],
    ),
    "a plan that names no task, and one that does": (
        made(plans=[{"agent": 0, "t": 2}, {"agent": 1, "task": "a", "since": 4}, {"agent": 0, "task": "a", "t": 3}]),
        [UP, "a needs 2 agents; agent_1 planned it in step 0 and agent_0 in step 3, but there was no attempt at it; "
             "agent_0 was in work from step 3 to the end."],
    ),
    "two ways": (
        made(reports=WAY, tries=[(2, "a/left", [0], "spatial"), (2, "a/up", [1], "spatial")]),
        [UP, "a needs 2 agents; both attempts at it in step 2 failed: agent_0 tried only a/left and "
             "agent_1 tried only a/up."],
    ),
    "two ways, one of them by both": (
        made(reports=WAY, tries=[(2, "a/left", [0], "spatial"), (3, "a/up", [0, 1], "temporal")]),
        [UP, "a needs 2 agents; both attempts at it from step 2 to step 3 failed: in 1 of them, "
             "too few agents were in place."],
    ),
    "two ways, too few in all": (
        made(agents=3, reports=[(t, way, 3, *rest) for t, way, _, *rest in WAY],
             tries=[(2, "a/left", [0], "spatial"), (2, "a/up", [1], "spatial")]),
        [UP, "a needs 3 agents; both attempts at it in step 2 failed: too few agents were in place."],
    ),
    "late, and without effect": (
        made(tries=[(8, "a", [0], "spatial")]),
        [UP, f"{LATE}; the only attempt at it failed: too few agents were in place."],
    ),
    "late, and under way": (
        made(tries=[(8, "a", [0, 1], ""), (9, "a", [0, 1], "")]),
        [UP, f"{LATE}; both attempts at it succeeded, which did not finish it."],
    ),
    "late, because of another": (
        made(goals=2, reports=[(0, "a", 2, 0, 0, 0), (0, "b", 1, 0, 0, 0), (5, "b", 0, 0, 0, 0)], reached={5: 1},
             tries=[(3, "b", [0], ""), (4, "b", [0], ""), (8, "a", [0, 1], "")]),
        ["Time was up after 10 steps, with 1 of 2 goals reached, the last in step 4.",
         f"{LATE}; until then, both attempts were at b; the only attempt at it succeeded, which did not finish it."],
    ),
    "half the time": (
        made(tries=[(5, "a", [0, 1], "")]),
        [UP, "a needs 2 agents; there was no attempt before step 5, 5 steps before the end; "
             "the only attempt at it succeeded, which did not finish it."],
    ),
    "in time, and not finished": (
        made(tries=[(4, "a", [0, 1], ""), (6, "a", [0], "spatial")]),
        [UP, "a needs 2 agents; 1 of 2 attempts at it from step 4 to step 6 succeeded, which did not finish it; "
             "the last one failed: too few agents were in place."],
    ),
    "in a single step": (
        made(1, tries=[(0, "a", [0], "spatial")]),
        ["Time was up after 1 step, with 0 of 1 goal reached.",
         "a needs 2 agents; the only attempt at it in step 0 failed: too few agents were in place."],
    ),
    "reached in the last step": (
        made(goals=2, reports=[(0, "a", 1, 0, 0, 0), (0, "b", 1, 0, 0, 0)], reached={10: 1},
             tries=[(9, "b", [0], "")]),
        ["Time was up after 10 steps, with 1 of 2 goals reached, the last in step 9.",
         "Nobody planned or tried a (needs 1 agent); the only attempt was at b."],
    ),
    "tasks that are no goals, and nobody tried": (
        made(goals=9), ["Time was up after 10 steps, with 0 of 9 goals reached."],
    ),
    "more tasks than goals at the end": (made(reports=[(0, "a", 1, 0, 0, 0), (3, "b", 1, 0, 0, 0)]), [UP]),
    "a task that is no goal, without effect": (
        made(goals=9, tries=[(2, "a", [0], "spatial")]),
        ["Time was up after 10 steps, with 0 of 9 goals reached.",
         "a needs 2 agents; the only attempt at it in step 2 failed: too few agents were in place."],
    ),
    "a task that is no goal, with success": (
        made(goals=9, tries=[(2, "a", [0], "")]), ["Time was up after 10 steps, with 0 of 9 goals reached."],
    ),
    "a task that is no goal, planned late": (
        made(goals=9, plans=[{"agent": 0, "task": "a", "t": 8}]),
        ["Time was up after 10 steps, with 0 of 9 goals reached."],
    ),
    "a task that is over": (
        made(goals=2, reports=[(0, "a", 1, 0, 0, 0), (0, "b", 1, 0, 0, 0), (5, "a", 0, 0, 0, 0)], reached={5: 1},
             tries=[(4, "a", [0], "")]),
        ["Time was up after 10 steps, with 1 of 2 goals reached, the last in step 4.",
         "Nobody planned or tried b (needs 1 agent); the only attempt was at a."],
    ),
}  # fmt: skip


def waiting(**changes: Any) -> Trace:
    """One agent that waits at a task from step 3 on; the other one walks."""
    given: dict[str, Any] = {
        "reports": [(0, "a", 2, 0, 0, 1), (3, "a", 2, 1, 0, 1)],
        "plans": [{"agent": 0, "task": "a", "since": 3, "does": "meet"}],
        "moves": {t: (0, t % 2) for t in range(10)},
    }
    return made(**{**given, **changes})


APART = {
    "reports": [(0, "a/left", 2, 0, 0, 1), (0, "a/up", 2, 0, 0, 1), (3, "a/left", 2, 1, 0, 1), (5, "a/up", 2, 1, 0, 1)],
    "plans": [{"agent": k, "task": "a", "since": 2, "does": "meet"} for k in (0, 1)],
    "moves": {},
}
BOTH = "a needs 2 agents; agent_0 and agent_1"
ALONE = "a needs 2 agents; agent_0 waited at a from step 3 on, and too few others joined."
IN_MEET = (
    "a needs 2 agents; agent_0 first planned it in step 0, but there was no attempt at it; "
    "agent_0 was in meet from step 3 to the end."
)
WAITS = {
    "alone": (waiting(), [UP, ALONE]),
    "the other one stands still, too": (waiting(moves={}), [UP, ALONE]),
    "the other one stands still in another way, so it may be the one in place": (
        waiting(moves=dict.fromkeys(range(10), (0, 1))), [UP, IN_MEET],
    ),
    "not in place": (waiting(reports=[(0, "a", 2, 0, 0, 1)]), [UP, IN_MEET]),
    "away for a while": (
        waiting(reports=[(0, "a", 2, 1, 0, 1), (4, "a", 2, 0, 0, 1), (6, "a", 2, 1, 0, 1)]),
        [UP, ALONE.replace("step 3", "step 6")],
    ),
    "somebody worked on it": (
        waiting(reports=[(0, "a", 2, 1, 0, 1), (4, "a", 2, 1, 1, 1), (5, "a", 2, 1, 0, 1)]),
        [UP, ALONE.replace("step 3", "step 5")],
    ),
    "the action began later": (
        waiting(plans=[{"agent": 0, "task": "a", "since": 6, "does": "meet"}]), [UP, ALONE.replace("step 3", "step 6")],
    ),
    "only in the last step": (
        waiting(plans=[{"agent": 0, "task": "a", "since": 9, "does": "meet"}]),
        [UP, IN_MEET.replace("step 3", "step 9")],
    ),
    "it moved": (waiting(moves={5: (1, 0)}), [UP, IN_MEET]),
    "another is committed, and its plan is for something else": (
        waiting(agents=3, reports=[(0, "a", 3, 2, 0, 2)], moves={}),
        [UP, IN_MEET.replace("needs 2", "needs 3")],
    ),
    "enough are committed": (waiting(reports=[(0, "a", 2, 1, 0, 2)]), [UP, IN_MEET]),
    "weights": (
        waiting(reports=[(0, "a", 3, 2, 0, 2)], weights=(2, 1)),
        [UP, ALONE.replace("needs", "needs at least")],
    ),
    "for each other": (
        waiting(**APART), [UP, f"{BOTH} waited for each other at a/left and a/up from step 5 on."],
    ),
    "apart, and too few in all": (
        waiting(**{**APART, "agents": 3, "reports": [(t, way, 3, *rest) for t, way, _, *rest in APART["reports"]],
                   "moves": {t: (0, 0, t % 2) for t in range(10)}}),
        [UP, f"{BOTH.replace('2', '3')} waited at a/left and a/up from step 5 on, and too few others joined."],
    ),
}  # fmt: skip


CASES = {**ENDINGS, **INACTION, **TASKS, **{f"wait: {name}": case for name, case in WAITS.items()}}


@pytest.mark.parametrize("name", CASES)
def test_each_cause_is_said_and_nothing_else(name: str) -> None:
    trace, expected = CASES[name]
    assert explained(trace) == expected


BOARD = """
    ........|
    0.......|
    ...AA...|
    ...AA...|
    ........|
    1.......|
    ........|
    ........|
    ........|
"""
GO = MoveToBlock(block=0, face=Face.left)
PUSH = PushBlock(block=0, steps=9)


def meet(face: Face, count: int = 2) -> list[SymbolicAction]:
    return [MoveToBlock(block=0, face=face), Rendezvous(block=0, face=face, count=count)]


IDLE: list[SymbolicAction] = [Idle(steps=1000)]
TEAMS: dict[str, tuple[int, list[SymbolicAction], list[SymbolicAction], str]] = {
    "one agent never goes": (
        20, meet(Face.left), IDLE,
        "block_0 needs 2 agents; agent_0 waited at block_0/left from step 3 on, and too few others joined.",
    ),
    "each waits at another face": (
        20, meet(Face.left), meet(Face.down),
        "block_0 needs 2 agents; agent_0 and agent_1 waited for each other at block_0/down and block_0/left "
        "from step 4 on.",
    ),
    "each pushes from another face": (
        20, [GO, PUSH], [MoveToBlock(block=0, face=Face.down), PUSH],
        "block_0 needs 2 agents; all 33 attempts at it from step 3 to step 19 failed: agent_0 tried only "
        "block_0/left and agent_1 tried only block_0/down.",
    ),
    "too few push": (
        20, [GO, PUSH], IDLE,
        "block_0 needs 2 agents; all 17 attempts at it from step 3 to step 19 failed: too few agents were committed "
        "to it.",
    ),
    "both start too late": (
        10, [Idle(steps=5), GO, *meet(Face.left), PUSH], [Idle(steps=5), GO, *meet(Face.left), PUSH],
        "block_0 needs 2 agents; there was no attempt before step 9, 1 step before the end; the only attempt at it "
        "succeeded, which did not finish it.",
    ),
    "both push, and time is up": (
        7, [*meet(Face.left), PUSH], [*meet(Face.left), PUSH],
        "block_0 needs 2 agents; there was no attempt before step 4, 3 steps before the end; all 3 attempts at it "
        "succeeded, which did not finish it.",
    ),
    "a push without the block": (
        20, [PUSH], IDLE,
        "block_0 needs 2 agents; the only attempt at it in step 0 failed: too few agents were committed to it "
        "(push_block: not_aligned).",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", TEAMS)
def test_a_team_that_fails_for_a_known_cause_is_explained(name: str) -> None:
    steps, one, other, expected = TEAMS[name]
    task = Task("deliver", "block_0")
    first = [Thought(Plan(tuple(plan), task if plan is not IDLE else None)) for plan in (one, other)]
    minds = [Scripted(thought, Thought(Plan(tuple(IDLE)))) for thought in first]
    trace = Trace(tuple(play(minds, world(BOARD, max_steps=steps))))
    assert explained(trace)[1:] == [expected]


def test_the_sentence_is_about_a_step_of_the_run() -> None:
    for trace, _ in CASES.values():
        assert all(0 <= sentence.t <= trace.events[-1].t for sentence in explain_failure(trace))


@pytest.mark.parametrize(
    ("true", "false"),
    [
        ("needs 2 agents", "needs 3 agents"),
        ("step 8, 2 steps", "step 7, 3 steps"),
        ("both attempts were at b", "both attempts were at c"),
        ("the only attempt at it", "both attempts at it"),
        ("which did not finish it", "which was a pity"),
    ],
)
def test_the_check_of_claims_finds_a_false_one(true: str, false: str) -> None:
    trace, (_, words) = CASES["late, because of another"]
    events = [stamped.to_json() for stamped in trace.events]
    check(events, [(0, words)])
    assert true in words
    with pytest.raises(AssertionError):
        check(events, [(0, words.replace(true, false))])

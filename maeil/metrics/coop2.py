"""COOP2's own definitions where they differ from this project's, for comparison with published numbers.

The formulas are those of COOP2's public scripts (`compute_metrics`, `build_results_table`), for the results in its
papers and tables. All others equal a metric of this project: L_tot is `communication.messages`, L_avg and L_std are
`communication.messages_mean` and `_std` (without a coordinator), the interruptions of COOP2's table are
`plans.interruptions`, the gains and losses of Z are `capability.gains` and `.losses`. Its D_delta differs from
`decision.overhead` only in T, which leaves out a last step without a stage entry after it.

Two are not computed, because traces lack the data: the temporal violation rate, which counts symbolic pushes after the
step, while a trace has the primitives before it; and the share of each failure reason among failed plans, since the
reasons are free text of a world (instead, `constraints.missing_*` count failed attempts by cause).

COOP2's plan log leaves out plans that were replaced before they ran; so do these metrics. COOP2's plan specification is
a text from the language model; here it is the plan's task with its actions and their arguments.
"""

from __future__ import annotations

from collections import Counter
from functools import partial
from math import fsum

import orjson

from maeil.metrics.plans import live_plans
from maeil.metrics.registry import Value, metric
from maeil.metrics.statistics import mean, ratio
from maeil.metrics.task_history import task_history
from maeil.plans import PlanStatus
from maeil.stages import Stage
from maeil.trace.events import PlanChange, ScoreChange, StepTaken
from maeil.trace.reader import Trace
from maeil.trace.stage_times import timeline, wall
from maeil.trace.story import PlanLife

_coop2 = partial(metric, origin="COOP2")
_INTERRUPTED = tuple(status for status in PlanStatus if status.final and status is not PlanStatus.SUCCEEDED)


@_coop2("coop2.decision_time_total_seconds", "s")
def decision_time_total(trace: Trace) -> Value:
    """Total decision time in COOP2's table: wall time of all agents in R and I, without entries open at the end."""
    spells = timeline(trace).spells
    return fsum(s.lasts(wall) for s in spells if s.stage in (Stage.REASON, Stage.INTERRUPTED) and not s.cut)


def _logged(trace: Trace) -> list[PlanLife]:
    """Return the plans of COOP2's plan log: those that started to run."""
    return [plan for plan in trace.story.plans if plan.started is not None]


@_coop2("coop2.plans_per_agent", "plans per agent")
def plans_per_agent(trace: Trace) -> Value:
    """Plans per agent in COOP2's table: plans that started to run (P_total) / n."""
    return ratio(len(_logged(trace)), len(trace.start.agents))


@_coop2("coop2.plan_success_rate", better="higher", rate=True)
def plan_success_rate(trace: Trace) -> Value:
    """Y_plan: plans that succeeded / all plans, including those cut off by the end of the episode."""
    logged = _logged(trace)
    return ratio(sum(plan.status is PlanStatus.SUCCEEDED for plan in logged), len(logged))


@_coop2("coop2.interruptions", "plans")
def interruptions(trace: Trace) -> Value:
    """P_int: plans that failed, were abandoned, or were cut off by the end of the episode."""
    return sum(plan.status in _INTERRUPTED for plan in _logged(trace))


def _resumed(trace: Trace) -> int:
    """Count the plans of P_int that are followed by a plan of the same agent with the same specification (P_res)."""
    last: dict[int, PlanLife] = {}
    found = 0
    for plan in _logged(trace):
        before = last.get(plan.agent)
        last[plan.agent] = plan
        if before is not None and before.status in _INTERRUPTED:
            found += _specification(before.content) == _specification(plan.content)
    return found


def _specification(plan: PlanChange) -> bytes:
    return orjson.dumps([plan.task, plan.actions], option=orjson.OPT_SORT_KEYS)


@_coop2("coop2.resumption_rate", rate=True)
def resumption_rate(trace: Trace) -> Value:
    """P_res_rate = P_res / P_int; 0 when P_int is 0.

    P_res are the plans of P_int that are followed by a plan of the same agent with the same specification. Decisions to
    resume do not count.
    """
    interrupted = interruptions(trace)
    return _resumed(trace) / interrupted if interrupted else 0.0


@_coop2("coop2.replan_rate", rate=True)
def replan_rate(trace: Trace) -> Value:
    """P_re_rate = 1 - P_res / P_int, including the last plan of each agent; 0 when P_int is 0."""
    interrupted = interruptions(trace)
    return 1 - _resumed(trace) / interrupted if interrupted else 0.0


@_coop2("coop2.plan_coherence", rate=True)
def plan_coherence(trace: Trace) -> Value:
    """P_coherence: mean of c_t, which compares specifications, over steps with a live plan.

    c_t = 1 with one live plan; 0 if all differ; otherwise the size of the largest group of equal plans / live plans.
    """
    specifications = {plan.id: _specification(plan.content) for plan in trace.story.plans}
    shares = []
    for live in live_plans(trace):
        largest = max(Counter(specifications[plan.plan] for plan in live.values()).values())
        shares.append(0.0 if 1 == largest < len(live) else largest / len(live))
    return mean(shares)


@_coop2("coop2.violation_spatial", rate=True)
def violation_spatial(trace: Trace) -> Value:
    """Mean of 1 - min(1, agents in place / p) over (step, task) pairs with an attempt, counted after the step.

    As in COOP2, p is the weight of the block alone. The world reports the agents in place. Tasks that are over after
    the step are left out, and so are those of the last step, after which nothing is counted.
    """
    after = [pair.after for pair in task_history(trace).attempted if pair.after is not None]
    return mean([1 - min(1.0, state.spatial / state.literal[0]) for state in after])


@_coop2("coop2.violation_participation", rate=True)
def violation_participation(trace: Trace) -> Value:
    """Equal to `coop2.violation_spatial` by construction: in COOP2's code, agents in place participate."""
    return violation_spatial(trace)


@_coop2("coop2.violation_dependency", rate=True)
def violation_dependency(trace: Trace) -> Value:
    """Mean of 1 - min(1, agents that hold the tool / p) over (step, task) pairs with an attempt.

    Agents count wherever they are. The violation is 0 if no tool is needed, so it is always 0 in CUBE.
    """
    counted = [pair.state.literal for pair in task_history(trace).attempted]
    return mean([1 - min(1.0, able / p) for p, _, able in counted])


@_coop2("coop2.score_per_step", "points of the world per environment step")
def score_per_step(trace: Trace) -> Value:
    """Score per step in COOP2's table: final score / T."""
    changes = [change.score for change in trace.of(ScoreChange)]
    return ratio(changes[-1], len(trace.stamped(StepTaken))) if changes else None

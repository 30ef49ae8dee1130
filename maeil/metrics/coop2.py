"""EmCoop's and COOP2's own definitions where they differ from ours, so that published numbers can be compared.

The formulas are those of COOP2's public scripts (`compute_metrics`, `build_results_table`). What is not here equals one
of ours: L_tot is `communication.messages`, L_avg `communication.messages_mean` (without a coordinator), the
interruptions of COOP2's table `plans.interruptions`, the gains and losses of Z `capability.gains` and `.losses`; D_i,
d_t and ΔZ_t are series, not numbers.

Not computed, because a trace does not hold it:

- the temporal violation rate: it counts symbolic pushes after the step, and a trace has the primitives before it;
- rho, the share of each failure reason among failed plans: the reasons are texts of a world, not constraint types; ours
  are the failed attempts by type, `constraints.missing_*`;
- the step-by-step task tracker (tasks added and removed, columns gained).

Times are COOP2's, of the wall clock. Its plan log leaves out plans that were replaced before they ran; so do these.
A plan's specification, a text of the language model there, is here its task with its actions and their arguments.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from functools import partial
from math import fsum

import orjson

from maeil.metrics.plan_history import PlanRecord, plan_history
from maeil.metrics.registry import Value, metric
from maeil.metrics.shared import shared
from maeil.metrics.statistics import deviation, mean, ratio
from maeil.metrics.task_history import flipping_tasks, task_history
from maeil.metrics.timeline import timeline, wall
from maeil.plans import PlanStatus
from maeil.stages import Stage
from maeil.trace.events import (
    CapabilityChange,
    ConstraintChange,
    MessageSent,
    PlanChange,
    ScoreChange,
    StageChange,
    StepTaken,
)
from maeil.trace.reader import Trace

_coop2 = partial(metric, origin="COOP2")
_COUNTED = (Stage.REASON, Stage.WAIT, Stage.INTERRUPTED)
_INTERRUPTED = (
    PlanStatus.FAILED,
    PlanStatus.TIMED_OUT,
    PlanStatus.INTERRUPTED,
    PlanStatus.REPLACED,
    PlanStatus.CANCELLED,
)


def _steps(trace: Trace) -> int:
    """Return COOP2's T: the largest step of a stage entry + 1, so a last step without an entry after it is not seen."""
    return max((spell.begin.t for spell in timeline(trace).spells), default=0) + 1


@_coop2("coop2.decision_overhead", "entries per environment step")
def decision_overhead(trace: Trace) -> Value:
    """D_delta with COOP2's T: entries of R, W and I / (largest step of a stage entry + 1)."""
    return timeline(trace).entries(*_COUNTED) / _steps(trace)


@_coop2("coop2.decision_overhead_std", "entries per agent")
def decision_overhead_std(trace: Trace) -> Value:
    """D_std: population standard deviation over agents of D_i, their entries of R, W and I in the whole episode."""
    line = timeline(trace)
    entries = Counter(spell.agent for spell in line.spells if spell.stage in _COUNTED)
    return deviation([entries[agent] for agent in range(line.agents)])


def _times(trace: Trace, *stages: Stage) -> list[float]:
    """Sum up wall time by (agent, step of the entry); a last, open entry is left out."""
    times: defaultdict[tuple[int, int], float] = defaultdict(float)
    for spell in timeline(trace).spells:
        if spell.stage in stages and not spell.cut:
            times[spell.agent, spell.begin.t] += spell.lasts(wall)
    return list(times.values())


def _time(statistic: Callable[[Sequence[float]], Value], stages: tuple[Stage, ...], trace: Trace) -> Value:
    return statistic(_times(trace, *stages))


for _name, _stages in (("wait", (Stage.WAIT,)), ("decision", (Stage.REASON, Stage.INTERRUPTED))):
    _what = (
        f"over (agent, step) pairs of the wall time from an entry of {' or '.join(_stages)} to the agent's next entry"
    )
    for _kind, _word, _statistic in (("mean", "Mean", mean), ("std", "Population standard deviation", deviation)):
        _coop2(f"coop2.{_name}_time_{_kind}_seconds", "s", doc=f"{_word} {_what}; open entries are left out.")(
            partial(_time, _statistic, _stages)
        )


@_coop2("coop2.decision_time_total_seconds", "s")
def decision_time_total(trace: Trace) -> Value:
    """Total decision time of COOP2's table: wall time of all agents in R and I; open entries are left out."""
    return fsum(_times(trace, Stage.REASON, Stage.INTERRUPTED))


@_coop2("coop2.messages_std", "messages per agent")
def messages_std(trace: Trace) -> Value:
    """L_std: population standard deviation of the messages of each agent; None in an episode without any."""
    sent = Counter(message.sender for message in trace.of(MessageSent))
    return deviation([sent[agent] for agent in range(len(trace.start.agents))]) if sent else None


@_coop2("coop2.communication_events", "events")
def communication_events(trace: Trace) -> Value:
    """Communication events of COOP2's cost plot: messages + entries of I."""
    interruptions = sum(change.to_stage == Stage.INTERRUPTED for change in trace.of(StageChange))
    return len(trace.stamped(MessageSent)) + interruptions


@shared
def _logged(trace: Trace) -> tuple[PlanRecord, ...]:
    """Return the plans of COOP2's plan log: those that came to run."""
    return tuple(plan for plan in plan_history(trace) if plan.begun)


@_coop2("coop2.plans", "plans")
def plans(trace: Trace) -> Value:
    """P_total: plans that came to run."""
    return len(_logged(trace))


@_coop2("coop2.plans_per_agent", "plans per agent")
def plans_per_agent(trace: Trace) -> Value:
    """Plans per agent of COOP2's table: P_total / n."""
    return ratio(len(_logged(trace)), len(trace.start.agents))


@_coop2("coop2.plan_success_rate", better="higher", rate=True)
def plan_success_rate(trace: Trace) -> Value:
    """Y_plan: plans that succeeded / all plans, those that the end of the episode cut off included."""
    logged = _logged(trace)
    return ratio(sum(plan.end is PlanStatus.SUCCEEDED for plan in logged), len(logged))


@_coop2("coop2.interruptions", "plans")
def interruptions(trace: Trace) -> Value:
    """P_int: plans that failed, were given up, or were cut off by the end of the episode."""
    return sum(plan.end in _INTERRUPTED for plan in _logged(trace))


@shared
def _resumed_and_replanned(trace: Trace) -> tuple[int, int]:
    """Count the plans of P_int whose agent's next plan has the same specification, and those where it has another."""
    last: dict[int, PlanRecord] = {}
    same = other = 0
    for plan in _logged(trace):
        before = last.get(plan.agent)
        last[plan.agent] = plan
        if before is not None and before.end in _INTERRUPTED:
            equal = _specification(before.committed) == _specification(plan.committed)
            same, other = same + equal, other + (not equal)
    return same, other


def _specification(plan: PlanChange) -> bytes:
    return orjson.dumps([plan.task, plan.actions], option=orjson.OPT_SORT_KEYS)


@_coop2("coop2.resumptions", "plans")
def resumptions(trace: Trace) -> Value:
    """P_res: plans of P_int whose agent's next plan has the same specification. No decision to resume is among them."""
    return _resumed_and_replanned(trace)[0]


@_coop2("coop2.replans", "plans")
def replans(trace: Trace) -> Value:
    """P_re_total: plans of P_int whose agent's next plan has another specification."""
    return _resumed_and_replanned(trace)[1]


@_coop2("coop2.resumption_rate", rate=True)
def resumption_rate(trace: Trace) -> Value:
    """P_res_rate = P_res / P_int; 0 when P_int is 0."""
    interrupted = interruptions(trace)
    return _resumed_and_replanned(trace)[0] / interrupted if interrupted else 0.0


@_coop2("coop2.replan_rate", rate=True)
def replan_rate(trace: Trace) -> Value:
    """P_re_rate = 1 - P_res / P_int, the last plan of each agent included; 0 when P_int is 0."""
    interrupted = interruptions(trace)
    return 1 - _resumed_and_replanned(trace)[0] / interrupted if interrupted else 0.0


@_coop2("coop2.plan_coherence", rate=True)
def plan_coherence(trace: Trace) -> Value:
    """P_coherence: mean over steps with a live plan of c_t, which compares specifications.

    c_t = 1 with one live plan; 0 when all differ; else agents of the largest group with equal ones / live plans.
    """
    live: dict[int, bytes] = {}
    shares = []
    for stamped in trace.among(PlanChange, StepTaken):
        event = stamped.event
        if isinstance(event, PlanChange):
            if event.status == PlanStatus.COMMITTED:
                live[event.agent] = _specification(event)
            elif PlanStatus(event.status).final:
                live.pop(event.agent, None)
        elif isinstance(event, StepTaken) and live:
            largest = max(Counter(live.values()).values())
            shares.append(0.0 if 1 == largest < len(live) else largest / len(live))
    return mean(shares)


@_coop2("coop2.capability_change", "capabilities")
def capability_change(trace: Trace) -> Value:
    """ΔZ: capabilities gained - capabilities lost."""
    return sum(1 if change.gained else -1 for change in trace.of(CapabilityChange))


@_coop2("coop2.capability_gain_rate", "capabilities per environment step")
def capability_gain_rate(trace: Trace) -> Value:
    """Z_gain_rate with COOP2's T: capabilities gained / (largest step of a stage entry + 1)."""
    return sum(change.gained for change in trace.of(CapabilityChange)) / _steps(trace)


def _tracked(state: ConstraintChange) -> tuple[bool, ...]:
    """Return what COOP2's tracker calls satisfied: one agent in place, one that acts, and p agents in place."""
    return state.spatial >= 1, state.temporal >= 1, state.spatial >= state.threshold


@shared
def _flips(trace: Trace) -> tuple[int, int]:
    risen, fallen = flipping_tasks(trace, _tracked)
    return len(set().union(*risen)), len(set().union(*fallen))


@_coop2("coop2.improved_tasks", "tasks")
def improved_tasks(trace: Trace) -> Value:
    """C+: tasks with a condition of COOP2's tracker that became true in some step.

    The tracker's spatial condition is one agent in place, its temporal one is one agent that acts, and participation is
    p agents in place. (In COOP2's own CUBE runs the number is always 0, by a defect.)
    """
    return _flips(trace)[0]


@_coop2("coop2.worsened_tasks", "tasks")
def worsened_tasks(trace: Trace) -> Value:
    """C-: tasks with a condition of COOP2's tracker that became false in some step; as in `coop2.improved_tasks`."""
    return _flips(trace)[1]


@_coop2("coop2.improvement_ratio", rate=True)
def improvement_ratio(trace: Trace) -> Value:
    """C_c_ratio = C+ / (C+ + C-); 0.5 when both are 0."""
    improved, worsened = _flips(trace)
    return improved / (improved + worsened) if improved + worsened else 0.5


@_coop2("coop2.violation_spatial", rate=True)
def violation_spatial(trace: Trace) -> Value:
    """Mean of 1 - min(1, agents in place / p) over (step, task) pairs with an attempt, counted after the step.

    As COOP2 does, p is the weight of the block alone; who is in place is as the world reports it. Tasks that are over
    after the step are left out, and so are those of the last step, after which nothing is counted.
    """
    after = [pair.after for pair in task_history(trace).attempted if pair.after is not None]
    return mean([1 - min(1.0, state.spatial / (state.literal or (state.threshold,))[0]) for state in after])


@_coop2("coop2.score_per_step", "points of the world per environment step")
def score_per_step(trace: Trace) -> Value:
    """Score per step of COOP2's table: score at the end / T."""
    changes = [change.score for change in trace.of(ScoreChange)]
    return ratio(changes[-1], len(trace.stamped(StepTaken))) if changes else None

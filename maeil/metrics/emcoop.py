"""EmCoop's constraints by its own formulas (arXiv 2603.00349 v1), for comparison with published numbers.

They differ from this project's (`constraints.*`) in four ways.

- **Not the same agents.** C_coop holds if each condition has p agents; they need not be the same ones.
- **The block's weight.** In CUBE p is the weight of the block alone, not of the chain in front of it, and a push
  depends on nothing else.
- **Nearness.** In CUBE an agent is in place if it is at most one cell away from a face cell.
- **After the step.** Positions are counted after the step, when agents that pushed have moved with the block.

Each world reports p, spatial and dependency with every state, according to the first three differences. In the open
world both definitions agree, so it reports the same numbers. Temporal and participation (agents involved in the task)
are counted as in `constraints.*`, under the joint action and the plans of the step.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from maeil.metrics.registry import Value, metric
from maeil.metrics.statistics import mean
from maeil.metrics.task_history import SINGLE, flipping_tasks, task_history
from maeil.tasks import Constraint
from maeil.trace.events import ConstraintChange
from maeil.trace.reader import Trace, shared
from maeil.trace.story import TaskName

_emcoop = partial(metric, origin="EmCoop")


def _holds(state: ConstraintChange) -> tuple[bool, ...]:
    """Return whether each of the `SINGLE` conditions holds: N(C_c) >= p."""
    p, spatial, able = state.literal
    return spatial >= p, state.temporal >= p, state.participation >= p, able >= p


def _violated(constraint: Constraint, trace: Trace) -> Value:
    found = []
    for pair in task_history(trace).attempted:
        p, _, able = pair.state.literal
        if constraint is Constraint.SPATIAL:
            if pair.after is not None:
                p, spatial, _ = pair.after.literal
                found.append(1 - min(1.0, spatial / p))
        elif constraint is Constraint.DEPENDENCY:
            found.append(float(able < p))
        else:
            found.append(1 - min(1.0, getattr(pair.state, constraint) / p))
    return mean(found)


_WHEN = {
    Constraint.SPATIAL: ", counted after the step; excludes the last step and tasks that have ended by then",
    Constraint.DEPENDENCY: ": 1 if it does not hold, else 0; always 0 in CUBE",
}
for _constraint in SINGLE:
    _emcoop(
        f"emcoop.violation_{_constraint}",
        better="lower",
        rate=True,
        doc=f"Mean over (step, task) pairs with an attempt of the violation of the {_constraint} condition"
        f"{_WHEN.get(_constraint, ': 1 - min(1, count / p)')}.",
    )(partial(_violated, _constraint))


@_emcoop("emcoop.cooperative", better="higher", rate=True)
def cooperative(trace: Trace) -> Value:
    """Share of the (step, task) pairs with an attempt in which C_coop held: each condition has any p agents."""
    return mean([float(all(_holds(pair.state))) for pair in task_history(trace).attempted])


@shared
def _flips(trace: Trace) -> tuple[Sequence[set[TaskName]], Sequence[set[TaskName]]]:
    return flipping_tasks(trace, _holds)


def _ratio(place: int, trace: Trace) -> Value:
    if not trace.story.tasks:
        return None
    improved, worsened = (len(found[place]) for found in _flips(trace))
    return improved / (improved + worsened) if improved + worsened else 0.5


for _place, _constraint in enumerate(SINGLE):
    _emcoop(
        f"emcoop.improvement_ratio_{_constraint}",
        better="higher",
        rate=True,
        doc=f"C_c_ratio of the {_constraint} condition: improved / (improved + worsened) tasks; 0.5 if both are 0.",
    )(partial(_ratio, _place))

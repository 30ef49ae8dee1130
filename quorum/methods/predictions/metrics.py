"""Theory of mind: compares agents' predictions of each other with what they did next.

A prediction concerns the other agent's next own plan committed after the predicting thought started, so a thought that
runs at the same time is predicted, not known. It is correct if that plan names the same task; all plans without a task
count as equal. It is not scored if the other agent commits nothing more. Plans committed by the loop or by a repair
reflect no agent's intention and are skipped.

Source: Hypothetical Minds (arXiv 2407.07086) scores hypotheses by predictions; the metric for arbitrary minds is
defined here. Compare an accuracy with `tom.persistence` and `tom.chance`.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

from maeil.metrics.registry import Value, metric
from maeil.metrics.statistics import ratio
from maeil.mind import Act
from maeil.plans import Task
from maeil.trace.events import ThoughtStart
from maeil.trace.reader import Trace, shared
from quorum.methods.predictions.events import Predicted

tom_metric = partial(metric, of=Predicted)


@dataclass(slots=True)
class ScoredPrediction:
    """A prediction and its outcome.

    Attributes:
        task: the predicted task.
        before: the task of the other agent's latest plan when the thought began; None if it had none.
        scored: whether the other agent has committed a plan since.
        did: the task of that plan.
    """

    task: Task | None
    before: Task | None
    scored: bool = False
    did: Task | None = None


@shared
def predictions(trace: Trace) -> tuple[ScoredPrediction, ...]:
    """Return the predictions of a trace, in order."""
    committed: defaultdict[int, list[tuple[int, Task | None]]] = defaultdict(list)
    for plan in trace.story.plans:
        if plan.own:
            committed[plan.agent].append((plan.committed.seq, _task(plan.content.task)))
    found = []
    started: dict[int, int] = {}
    for stamped in trace.among(ThoughtStart, Predicted):
        event = stamped.event
        if isinstance(event, ThoughtStart):
            started[event.agent] = stamped.seq
            continue
        assert isinstance(event, Predicted)
        start = started[event.agent]
        for one in event.predictions:
            plans = committed[one["agent"]]
            before = next((task for seq, task in reversed(plans) if seq < start), None)
            scored = ScoredPrediction(_task(one["task"]), before)
            for seq, task in plans:
                if seq > start:
                    scored.scored, scored.did = True, task
                    break
            found.append(scored)
    return tuple(found)


def _task(written: Mapping[str, str] | None) -> Task | None:
    return Task(written["kind"], written["target"]) if written is not None else None


def _scored(trace: Trace) -> list[ScoredPrediction]:
    return [one for one in predictions(trace) if one.scored]


@tom_metric("tom.predictions", "predictions")
def predictions_made(trace: Trace) -> Value:
    """Predictions of what another agent does next, in thoughts that took effect."""
    return len(predictions(trace))


@tom_metric("tom.accuracy", better="higher", rate=True)
def accuracy(trace: Trace) -> Value:
    """Predictions that name the task of the other agent's next own plan / scored predictions."""
    scored = _scored(trace)
    return ratio(sum(one.task == one.did for one in scored), len(scored))


@tom_metric("tom.persistence", rate=True)
def persistence(trace: Trace) -> Value:
    """The accuracy of always predicting the other agent's last task, over the same predictions."""
    scored = _scored(trace)
    return ratio(sum(one.before == one.did for one in scored), len(scored))


@tom_metric("tom.chance", rate=True)
def chance(trace: Trace) -> Value:
    """The expected accuracy of the same predictions after random shuffling.

    Sum over tasks of p_said p_done, the shares of scored predictions that name the task and that result in it: Cohen's
    kappa uses the same term for chance agreement.
    """
    scored = _scored(trace)
    said, done = Counter(one.task for one in scored), Counter(one.did for one in scored)
    return ratio(sum(count * done[task] for task, count in said.items()), len(scored) ** 2)


@tom_metric("tom.coverage", better="higher", rate=True)
def coverage(trace: Trace) -> Value:
    """Predictions / (others x thoughts that could plan and took effect), over the agents that predict at all."""
    authors = {event.agent for event in trace.of(Predicted)}
    turns = sum(
        thought.agent in authors and Act.PLAN in thought.acts and thought.took_effect
        for thought in trace.story.thoughts
    )
    return ratio(len(predictions(trace)), turns * (len(trace.start.agents) - 1))

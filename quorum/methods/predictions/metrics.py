"""Theory of mind: what agents expected of each other, held against what these did next.

A prediction is about the next plan that the other commits by itself after the thought of the prediction has
started: whoever thinks at the same time is predicted, not known. It is right when that plan names the same task; plans
without a task are alike. It is not scored where the other commits nothing more. Plans that the loop or a repair has
committed in a mind's stead are nobody's intention, and are passed over.

Source: Hypothetical Minds (arXiv 2407.07086) scores hypotheses by predictions; as a metric of any mind it is defined
here. `tom.persistence` and `tom.chance` say what an accuracy is worth.
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
    """A prediction, and what has come of it.

    Attributes:
        task: what was expected.
        before: the task of the plan that the other had last committed when the thought began; None where it had none.
        scored: whether the other has committed a plan since.
        did: what that plan is for.
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
    """Predictions whose task is that of the next plan that the other committed unprompted / those scored."""
    scored = _scored(trace)
    return ratio(sum(one.task == one.did for one in scored), len(scored))


@tom_metric("tom.persistence", rate=True)
def persistence(trace: Trace) -> Value:
    """The accuracy of always predicting the task that the other had last, over the same predictions."""
    scored = _scored(trace)
    return ratio(sum(one.before == one.did for one in scored), len(scored))


@tom_metric("tom.chance", rate=True)
def chance(trace: Trace) -> Value:
    """The expected accuracy of the same predictions dealt out among each other at random.

    Sum over tasks of p_said p_done, the shares of the scored predictions that say the task and that come to it: what
    Cohen's kappa takes for agreement by chance.
    """
    scored = _scored(trace)
    said, done = Counter(one.task for one in scored), Counter(one.did for one in scored)
    return ratio(sum(count * done[task] for task, count in said.items()), len(scored) ** 2)


@tom_metric("tom.coverage", better="higher", rate=True)
def coverage(trace: Trace) -> Value:
    """Predictions / (others x thoughts that could plan and took effect), of the agents that predict at all."""
    authors = {event.agent for event in trace.of(Predicted)}
    turns = sum(
        thought.agent in authors and Act.PLAN in thought.acts and thought.took_effect
        for thought in trace.story.thoughts
    )
    return ratio(len(predictions(trace)), turns * (len(trace.start.agents) - 1))

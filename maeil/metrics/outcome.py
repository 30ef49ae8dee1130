"""What the team achieved."""

from __future__ import annotations

from math import fsum

from maeil.metrics.registry import Value, metric
from maeil.outcomes import Outcome
from maeil.trace.events import ScoreChange, StepTaken
from maeil.trace.reader import Trace, shared


@shared
def scores(trace: Trace) -> tuple[float, ...]:
    """Return the world's score before the first step, 0 where none is reported, and after each: steps + 1 values."""
    changes = {stamped.t: stamped.event for stamped in trace.stamped(ScoreChange)}
    found: list[float] = []
    for t in range(len(trace.stamped(StepTaken)) + 1):
        change = changes.get(t)
        found.append(change.score if isinstance(change, ScoreChange) else found[-1] if found else 0.0)
    return tuple(found)


def _is_all(score: ScoreChange) -> bool:
    return score.goals > 0 and score.reached == score.goals


def _last_score(trace: Trace) -> ScoreChange | None:
    changes = trace.stamped(ScoreChange)
    event = changes[-1].event if changes else None
    return event if isinstance(event, ScoreChange) else None


@metric("outcome.success", better="higher", share=True)
def success(trace: Trace) -> Value:
    """Whether the task was finished: the episode ended with all goals reached; None where the world does not say so."""
    outcome = trace.end.outcome if trace.end is not None else None
    unknown = outcome == Outcome.ENDED or trace.start.board.get("judged") is False
    return None if unknown else outcome == Outcome.SUCCESS


@metric("outcome.completion", better="higher", share=True)
def completion(trace: Trace) -> Value:
    """Share of the goals reached: reached / goals (CUBE: delivered / all blocks)."""
    score = _last_score(trace)
    return score.reached / score.goals if score is not None and score.goals else None


@metric("outcome.reached", "goals", better="higher")
def reached(trace: Trace) -> Value:
    """Goals reached, as the world reports at the end of the episode; None where it has none."""
    score = _last_score(trace)
    return score.reached if score is not None and score.goals else None


@metric("outcome.goals", "goals")
def goals(trace: Trace) -> Value:
    """Goals of the episode in all, reached or not; None where the world has none."""
    score = _last_score(trace)
    return score.goals or None if score is not None else None


@metric("outcome.score", "points of the world", better="higher")
def score(trace: Trace) -> Value:
    """The world's own score at the end of the episode."""
    last = _last_score(trace)
    return last.score if last is not None else None


@metric("outcome.best_score", "points of the world", better="higher")
def best_score(trace: Trace) -> Value:
    """The highest score that the team had after a step."""
    return max(scores(trace)[1:], default=None)


@metric("outcome.mean_score", "points of the world", better="higher")
def mean_score(trace: Trace) -> Value:
    """Mean over the steps of the score after each. Where the best score is 1, T x (1 - it) is the regret."""
    after = scores(trace)[1:]
    return fsum(after) / len(after) if after else None


@metric("outcome.steps_to_goals", "environment steps", better="lower", limit="max_steps")
def steps_to_goals(trace: Trace) -> Value:
    """Steps until every goal was reached for the first time, kept or not; None where that never was."""
    reached = (s.t for s in trace.stamped(ScoreChange) if isinstance(s.event, ScoreChange) and _is_all(s.event))
    return next(reached, None)


@metric("outcome.steps", "environment steps", better="lower", limit="max_steps")
def steps(trace: Trace) -> Value:
    """Environment steps taken, T."""
    return len(trace.stamped(StepTaken))


@metric("outcome.seconds", "s", better="lower")
def seconds(trace: Trace) -> Value:
    """Runtime of the episode: wall time from the beginning of the recording to the last event (CUBE, runtime)."""
    return trace.events[-1].wall


@metric("outcome.steps_to_finish", "environment steps", better="lower", limit="max_steps")
def steps_to_finish(trace: Trace) -> Value:
    """T of an episode that finished its task; None for the others."""
    return steps(trace) if success(trace) else None


@metric("outcome.steps_or_limit", "environment steps", better="lower", limit="max_steps")
def steps_or_limit(trace: Trace) -> Value:
    """T of an episode that finished its task; for the others the step limit of the board, also when lost before it.

    None where the world does not say whether a task was finished.
    """
    if success(trace) is None:
        return None
    limit = trace.start.board.get("max_steps")
    return steps(trace) if success(trace) or not isinstance(limit, int) else limit


@metric("outcome.steps_over_lower_bound", better="lower")
def steps_over_lower_bound(trace: Trace) -> Value:
    """Steps of a finished episode / the fewest that the world can prove to be needed: T / `lower_bound` of the board.

    At least 1, and 1 only for an optimal team. None when the task was not finished (the steps are then those of the
    step limit), when the world gives no bound, and when it was changed from outside or given other luck
    (`extension=luck`), after which there is none.
    """
    bound = trace.start.board.get("lower_bound")
    if not success(trace) or not isinstance(bound, int | float) or bound <= 0:
        return None
    if any(stamped.event.changes_world for stamped in trace.events):
        return None
    return len(trace.stamped(StepTaken)) / bound


@metric("outcome.return", "reward", better="higher")
def episode_return(trace: Trace) -> Value:
    """Sum over steps of the mean reward of the agents, undiscounted."""
    return fsum(step.reward for step in trace.of(StepTaken))


def returns(trace: Trace) -> list[float] | None:
    """Return the sum over steps of the reward of each agent, by index; None where all always get the same."""
    steps = list(trace.of(StepTaken))
    if all(step.rewards is None for step in steps):
        return None
    each = ((step.reward,) * len(step.joint) if step.rewards is None else step.rewards for step in steps)
    return [fsum(own) for own in zip(*each, strict=True)]


@metric("outcome.lowest_return", "reward", better="higher")
def lowest_return(trace: Trace) -> Value:
    """Return of the agent that got the least reward, undiscounted; None where all always get the same."""
    return min(returns(trace) or (), default=None)


@metric("outcome.highest_return", "reward", better="higher")
def highest_return(trace: Trace) -> Value:
    """Return of the agent that got the most reward, undiscounted; None where all always get the same."""
    return max(returns(trace) or (), default=None)

"""Where cooperation breaks: the instants that "next failure or interruption" jumps to."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from maeil.plans import PlanStatus
from maeil.stages import Stage
from maeil.trace.events import EpisodeEnd, ForcedReady, PlanChange, StageChange, StepOutcome, ThoughtEnd

_TELLING = {PlanChange, StageChange, ThoughtEnd, ForcedReady, StepOutcome, EpisodeEnd}
_BROKEN = (PlanStatus.FAILED, PlanStatus.TIMED_OUT)


def interruptions(event: Any) -> Iterable[tuple[str, int, str]]:
    """Return the failures and interruptions that an event tells of: what it is, the agent or -1, and the reason."""
    return _found(event) if type(event) in _TELLING else ()


def _found(event: Any) -> Iterator[tuple[str, int, str]]:
    match event:
        case PlanChange(status=status) if status in _BROKEN:
            yield f"plan {status}", event.agent, f"{event.plan}: {event.reason}"
        case PlanChange(status=PlanStatus.COMMITTED, flag=flag) if flag:
            yield flag.replace("_", " "), event.agent, f"{event.plan} was committed in the mind's stead"
        case StageChange(to_stage=Stage.INTERRUPTED):
            yield "interruption", event.agent, event.reason
        case ThoughtEnd(refused=refused) if refused:
            yield "refused thought", event.agent, "; ".join(refused)
        case ForcedReady():
            yield "forced ready", event.agent, "it used up its thoughts of this step"
        case StepOutcome():
            for attempt in event.attempts:
                if not attempt.get("succeeded", True):
                    yield "failed attempt", _first(attempt.get("agents")), _attempt(attempt)
        case EpisodeEnd(outcome="error" | "limit" | "budget"):
            yield f"the episode ends: {event.outcome}", -1, event.reason


def _first(agents: object) -> int:
    return agents[0] if isinstance(agents, list) and agents and type(agents[0]) is int else -1


def _attempt(attempt: Mapping[str, Any]) -> str:
    task, missing = attempt.get("task"), attempt.get("missing")
    name = f"{task.get('kind', '')}:{task.get('target', '')}" if isinstance(task, dict) else "a task"
    lacking = ", ".join(map(str, missing)) if isinstance(missing, list) else ""
    return f"{name}, missing: {lacking}" if lacking else name

"""How the abilities of agents changed (EmCoop, capability change)."""

from __future__ import annotations

from maeil.metrics.registry import Value, metric
from maeil.metrics.statistics import ratio
from maeil.trace.events import CapabilityChange, StepTaken
from maeil.trace.reader import Trace


@metric("capability.gains", "capabilities", better="higher")
def gains(trace: Trace) -> Value:
    """Capabilities gained, counted by agent (EmCoop, Z gains)."""
    return sum(change.gained for change in trace.of(CapabilityChange))


@metric("capability.losses", "capabilities")
def losses(trace: Trace) -> Value:
    """Capabilities lost, counted by agent (EmCoop, Z losses)."""
    return sum(not change.gained for change in trace.of(CapabilityChange))


@metric("capability.gain_rate", "capabilities per environment step", better="higher")
def gain_rate(trace: Trace) -> Value:
    """Capabilities gained / T (EmCoop, Z_gain_rate)."""
    return ratio(sum(change.gained for change in trace.of(CapabilityChange)), len(trace.stamped(StepTaken)))

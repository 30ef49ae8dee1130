"""Failures of teams, by rule: the kinds of MAST (arXiv 2503.13657) that a trace proves without a judge.

| kind | MAST | what is proven |
|---|---|---|
| `repetition` | FM-1.3 step repetition | a failed plan, committed again in the state in which it failed, fails again |
| `termination` | FM-1.5 unaware of termination | a plan for a task that is over |
| `silence` | FM-2.2 fail to ask | waited in vain for others at a task that no message had named |
| `withholding` | FM-2.4 information withholding | knew what a mate's plan lacked, had a turn to say it, and did not |
| `ignored_input` | FM-2.5 ignored other agent's input | read its orders, and committed a plan for something else |
| `mismatch` | FM-2.6 reasoning-action mismatch | said one task, committed a plan for another |

The typed fields of a message (`task`, `asks`) hold its claims and orders. If a message has only text, the last two
kinds need the readings of a judge, or stay unknown. Each rule is a function of `rules` that states its exact
conditions. The rules report only failures that the trace proves: they err on the side of the agents. docs/failures.md
lists what cannot be proven.
"""

from quorum.what_if.failures.history import Reading
from quorum.what_if.failures.rules import OF_WORDS, Failure, FailureKind, Proof, find_failures, text_alone

__all__ = ["OF_WORDS", "Failure", "FailureKind", "Proof", "Reading", "find_failures", "text_alone"]

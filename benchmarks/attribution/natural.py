"""Failures that nobody planted: without a label there is no accuracy, only how far methods and annotators agree."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from benchmarks.attribution.labels import HumanLabel, kappa, written
from benchmarks.attribution.score import Record, share


def agreement(records: Sequence[Record], labels: Sequence[HumanLabel]) -> Iterator[str]:
    """Yield a table: how often each method names an agent, and Cohen's kappa with all methods and annotators.

    Naming nobody is an answer as well. Methods that never name an agent have no column, and methods with several
    equally likely answers have no row.
    """
    said: dict[str, dict[str, str | None]] = {}
    for one in records:
        if len(one.answers) == 1:
            said.setdefault(one.method, {})[one.run] = one.answers[0].agent
    for label in labels:
        said.setdefault(f"annotator {label.annotator}", {})[label.run] = label.agent
    shown = [name for name, agents in said.items() if any(agents.values())]
    yield f"| method | runs | names somebody | {' | '.join(shown)} |"
    yield "|---" * (len(shown) + 3) + "|"
    for name, agents in said.items():
        others = shown[: shown.index(name)] if name in shown else []
        cells = [_agreement(agents, said[other]) for other in others] + [""] * (len(shown) - len(others))
        named = share([agent is not None for agent in agents.values()])
        yield f"| {name} | {len(agents)} | {named} | {' | '.join(cells)} |"


def _agreement(one: dict[str, str | None], other: dict[str, str | None]) -> str:
    return written(kappa([(agent, other[run]) for run, agent in one.items() if run in other]))

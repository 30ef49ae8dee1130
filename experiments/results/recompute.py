"""Computes the metrics of old traces again."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from maeil.errors import MetricError
from maeil.metrics import Value, compute_metrics
from maeil.user_errors import UserError
from quorum.experiments.common.files import write_whole
from quorum.experiments.episode.answering_models import AnsweringModels, answering_models
from quorum.experiments.results.run_folder import read_whole_trace


@dataclass(frozen=True, slots=True)
class Recomputed:
    """The metrics of one trace.

    Attributes:
        run: the folder of the episode or the file of its trace, as it was given.
        outcome: how the episode ended; None when the trace breaks off before the end.
        answerers: the language models that answered in it.
        metrics: by name.
    """

    run: Path
    outcome: str | None
    answering_models: AnsweringModels
    metrics: Mapping[str, Value]

    @property
    def name(self) -> str:
        """Name of the episode's folder, or of the file where that is no trace's usual name."""
        run = self.run.resolve()
        return run.name if run.is_dir() or not run.name.startswith("trace.jsonl") else run.parent.name

    def plain(self) -> dict[str, Any]:
        """Return it as JSON-ready data."""
        return {
            "run": str(self.run),
            "outcome": self.outcome,
            **self.answering_models.plain(),
            "metrics": dict(self.metrics),
        }


def recompute(run: Path) -> Recomputed:
    """Compute the metrics of a trace, whole or as a killed run left it.

    Args:
        run: the folder of an episode, or the file of its trace.

    Raises:
        UserError: there is no trace, or it is damaged, or newer than this version.
    """
    trace = read_whole_trace(run)
    try:
        metrics = compute_metrics(trace)
    except MetricError as error:
        raise UserError(
            f"{run}: damaged: its events contradict each other ({error})",
            "It was changed after it was written; run the episode again. A metric of a plug-in may be wrong itself.",
        ) from error
    outcome = trace.end.outcome if trace.end is not None else None
    return Recomputed(run, outcome, answering_models(trace), metrics)


def recompute_all(runs: Iterable[Path]) -> tuple[list[Recomputed], list[UserError]]:
    """Compute the metrics of many traces; return those that can be had, and what is wrong with the others."""
    done: list[Recomputed] = []
    wrong: list[UserError] = []
    for run in runs:
        try:
            done.append(recompute(run))
        except UserError as error:
            wrong.append(error)
    return done, wrong


def write_metrics(done: Recomputed) -> Path:
    """Replace `metrics.json` beside a trace, whole or not at all.

    Raises:
        UserError: it cannot be written there.
    """
    target = (done.run if done.run.is_dir() else done.run.parent) / "metrics.json"
    write_whole(target, (json.dumps(dict(done.metrics), indent=2, ensure_ascii=False) + "\n").encode())
    return target

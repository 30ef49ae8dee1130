"""Computes the metrics of old traces again."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from maeil.errors import MetricError
from maeil.metrics import METRICS as KNOWN
from maeil.metrics import Value, compute_metrics
from maeil.user_errors import UserError
from quorum.experiments.common.extension_errors import as_extension_error
from quorum.experiments.common.files import write_all
from quorum.experiments.common.run_files import LARGEST_META, META, DamagedFile, RunFiles
from quorum.experiments.episode.answering_models import AnsweringModels, answering_models
from quorum.experiments.results.run_folder import METRICS, RunFolder, contradicts_itself, read_whole_trace

T = TypeVar("T")


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
        if (mistake := as_extension_error(error)) is not None:
            raise mistake from error
        raise contradicts_itself(run, str(error)) from error
    outcome = trace.end.outcome if trace.end is not None else None
    return Recomputed(run, outcome, answering_models(trace), metrics)


def of_all(runs: Iterable[Path], evaluate: Callable[[Path], T]) -> tuple[list[T], list[UserError]]:
    """Evaluate many traces; return what can be had, and what is wrong with the others."""
    done: list[T] = []
    wrong: list[UserError] = []
    for run in runs:
        try:
            done.append(evaluate(run))
        except UserError as error:
            wrong.append(error)
    return done, wrong


def write_metrics(done: Recomputed) -> Path:
    """Replace `metrics.json` next to a trace and its digest in `meta.json`: both or none.

    What was once found out on demand stays there.

    Raises:
        UserError: they cannot be written there.
    """
    folder = done.run if done.run.is_dir() else done.run.parent
    target = folder / METRICS
    metrics = {**done.metrics, **{name: value for name, value in _found(folder) if name not in done.metrics}}
    data = (json.dumps(metrics, indent=2, ensure_ascii=False) + "\n").encode()
    meta = _with_digest(RunFiles(folder), hashlib.sha256(data).hexdigest())
    write_all({target: data} if meta is None else {target: data, folder / META: meta})
    return target


def _found(folder: Path) -> Iterator[tuple[str, Value]]:
    """Return the metrics in the folder that are computed on demand alone; none where its file is missing or damaged."""
    run = RunFolder(folder)
    with suppress(DamagedFile):
        for name, value in (run.metrics() if run.files.names(METRICS) else {}).items():
            if name in KNOWN and KNOWN[name].on_demand:
                yield name, value


def _with_digest(files: RunFiles, digest: str) -> bytes | None:
    """Return `meta.json` with the digest that new metrics have; None where it holds none.

    Raises:
        DamagedFile: it cannot be read.
    """
    if METRICS not in files.digests:
        return None
    meta = json.loads(files.read(META, LARGEST_META) or b"{}")
    meta["files"][METRICS] = digest
    return (json.dumps(meta, indent=2, ensure_ascii=False) + "\n").encode()

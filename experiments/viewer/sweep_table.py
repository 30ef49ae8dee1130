"""A sweep as the page shows it: a line a run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from maeil.user_errors import UserError
from quorum.experiments.episode.episode_folder import PARTIAL
from quorum.experiments.results import Row, read_results
from quorum.experiments.results.results_csv import factor_columns, metric_columns
from quorum.experiments.results.run_folder import runs_inside
from quorum.experiments.viewer.family import branched
from quorum.experiments.viewer.pages import Json

FIRST = (
    "outcome.completion",
    "outcome.steps",
    "outcome.score",
    "communication.messages",
    "decision.overhead",
    "plans.interruptions",
    "plans.coherence",
    "model.usd",
)
"""The metrics that are shown at first; the others can be chosen."""


def sweep_table(folder: Path) -> Json:
    """Return the runs of a folder, a line each; those that cannot be read are named among the problems."""
    name, missing = folder.name, 0
    rows: Sequence[Row] = ()
    try:
        found = read_results(folder)
    except UserError as error:
        problems = [error.message]
    else:
        rows, missing = found.rows, len(found.missing)
        problems = [f"{item.name}: {item.reason}" for item in found.damaged]
        name = found.sweep.name if found.sweep is not None else name
    varying = _varying(rows)
    arms = ["arm"] if any(row.arm for row in rows) else []
    return {
        "name": name,
        "problems": problems,
        "missing": missing,
        "simulated": any(row.simulated for row in rows),
        "factors": [*arms, *varying],
        "implied": _implied(rows, varying) if arms else [],
        "metrics": metric_columns(rows),
        "shown": [name for name in FIRST if any(row.metrics.get(name) for row in rows)],
        "rows": [*_lines(rows, varying, arms), *_others(folder, {row.name for row in rows})],
    }


def _varying(rows: Sequence[Row]) -> list[str]:
    """Return the keys that tell runs apart; of several with the same values the first, as `n` of `n` and `env.n`."""
    found: dict[tuple[str, ...], str] = {}
    for key in factor_columns(rows):
        values = tuple(repr(row.factors.get(key)) for row in rows)
        if len(set(values)) > 1:
            found.setdefault(values, key)
    return list(found.values())


def _implied(rows: Sequence[Row], varying: Sequence[str]) -> list[str]:
    """Return the keys that have at most one value in each arm; a run that failed early may lack it."""
    found: dict[str, dict[str, set[str]]] = {key: {} for key in varying}
    for row in rows:
        for key in varying:
            values = found[key].setdefault(row.arm or "", set())
            if (value := row.factors.get(key)) is not None:
                values.add(repr(value))
    return [key for key, arms in found.items() if all(len(values) <= 1 for values in arms.values())]


def _lines(rows: Sequence[Row], varying: Sequence[str], arms: Sequence[str]) -> Iterator[Json]:
    for row in rows:
        line: Json = {
            "run": row.name,
            "outcome": row.outcome,
            "simulated": row.simulated,
            "remark": row.error or row.reason,
            "factors": [*([row.arm or ""] if arms else []), *(row.factors.get(key) for key in varying)],
            "metrics": row.metrics,
        }
        off = branched(row.folder) if "branch" in row.factors else None
        yield line if off is None else {**line, "off": off}


def _others(folder: Path, known: set[str]) -> Iterator[Json]:
    """Return the runs that have no results: under way, killed, damaged, or repeated."""
    for path in runs_inside(folder):
        if path.name not in known and not path.is_symlink():
            outcome = "unfinished" if PARTIAL in path.name else "not counted"
            line: Json = {
                "run": path.name,
                "outcome": outcome,
                "simulated": False,
                "remark": "",
                "factors": [],
                "metrics": {},
            }
            off = branched(path)
            yield line if off is None else {**line, "off": off}

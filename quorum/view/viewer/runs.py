"""Runs side by side: the table of a sweep, and runs that share a beginning."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from quorum.configuration.origin import Scalar
from quorum.episode.episode_folder import PARTIAL, is_under_way
from quorum.runs import Row, read_results
from quorum.runs.results_folder import factor_columns, metric_columns
from quorum.runs.rows import Damaged
from quorum.runs.run_folder import RunFolder, runs_inside
from quorum.storage.run_files import LARGEST_META, META, DamagedFile, RunFiles
from quorum.view.viewer.pages import Json
from quorum_base.user_errors import UserError

MOST = 1000
"""Maximum number of runs of a family to show."""
_FIGURES = ("outcome.success", "outcome.completion", "outcome.steps", "outcome.score")
_LARGEST = 2**53
"""A browser cannot represent numbers above this exactly."""
_LONGEST = 4000
"""Maximum characters of a change."""


def branched(folder: Path) -> Json | None:
    """Return the origin of a branch; None for other runs, or if `meta.json` cannot be read."""
    try:
        origin = RunFolder(folder).meta().origin
    except DamagedFile:
        return None
    off = origin.to_json() if origin is not None else {}
    if off.get("t", _LARGEST) >= _LARGEST or off["draw"] >= _LARGEST:
        return None
    t_hat = off["t_hat"] if off["t_hat"] is not None and abs(off["t_hat"]) < _LARGEST else None
    change = " ".join((*off["edits"], *off["told"]))
    shown = change if len(change) <= _LONGEST else f"{change[:_LONGEST]}\u2026"
    return {"run": off["run"], "t": off["t"], "t_hat": t_hat, "change": shown, "draw": off["draw"]}


def relatives(root: Path, name: str) -> Mapping[str, Path]:
    """Return the runs of a folder that share a beginning with one of them, by name, including that run."""
    paths = {path.name: path for path in runs_inside(root) if not path.is_symlink()}
    neighbours: defaultdict[str, list[str]] = defaultdict(list)
    for path in paths.values():
        off = branched(path) if _speaks_of_a_branch(path) else None
        if off is not None:
            neighbours[path.name].append(off["run"])
            neighbours[off["run"]].append(path.name)
    found, waiting = {name}, [name]
    while waiting:
        new = set(neighbours[waiting.pop()]) - found
        found |= new
        waiting.extend(new)
    return {key: path for key, path in paths.items() if key in found}


def _speaks_of_a_branch(path: Path) -> bool:
    """Whether `meta.json` may name a branch: most runs of a large sweep do not, and need no parsing for that."""
    with suppress(DamagedFile):
        return b'"branch"' in (RunFiles(path).read(META, LARGEST_META) or b"")
    return False


def family(root: Path, name: str, path: str) -> Json:
    """Return the family of a run, a line each.

    Args:
        root: the folder of the runs.
        name: name of the run.
        path: its folder, as a command names it.
    """
    folders = list(relatives(root, name).values())
    return {"path": path, "runs": list(map(_line, folders[:MOST])), "left_out": max(0, len(folders) - MOST)}


def _line(folder: Path) -> Json:
    row = RunFolder(folder).row()
    if isinstance(row, Damaged):
        return _unread(folder, "under way" if is_under_way(folder) else "unfinished", row.reason)
    return _read(row, (), {key: row.metrics[key] for key in _FIGURES if key in row.metrics})


def _read(row: Row, factors: Sequence[Scalar], metrics: Mapping[str, float | None]) -> Json:
    """Return the line of a run with results."""
    line = {"simulated": row.simulated, "remark": row.error or row.reason, "factors": factors, "metrics": metrics}
    off = branched(row.folder) if row.origin is not None else None
    return {"run": row.name, "outcome": row.outcome, **line, **({} if off is None else {"off": off})}


def _unread(folder: Path, outcome: str, remark: str = "") -> Json:
    """Return the line of a run without results."""
    line = {"simulated": False, "remark": remark, "factors": (), "metrics": {}}
    off = branched(folder)
    return {"run": folder.name, "outcome": outcome, **line, **({} if off is None else {"off": off})}


def parting(one: Path, other: Path) -> Json | None:
    """Return the instant at which two branches of a common run diverge; None if they have no common run.

    Args:
        one: folder of a run; its ancestors are looked up next to it.
        other: folder of the other run.
    """
    ours = dict(_ancestry(one))
    for name, left in _ancestry(other):
        if name in ours:
            instants = [instant for instant in (ours[name], left) if instant is not None]
            first = min(instants, key=lambda it: (it["t"], it["t_hat"] or 0), default=None)
            return None if first is None else {"t": first["t"], "t_hat": first["t_hat"]}
    return None


def _ancestry(folder: Path) -> Iterator[tuple[str, Json | None]]:
    """Yield the run and its ancestors, each with the instant at which the branch leaves it."""
    yield folder.name, None
    seen = {folder.name}
    path: Path | None = folder
    while path is not None and (off := branched(path)) is not None and off["run"] not in seen:
        seen.add(off["run"])
        yield off["run"], off
        path = _beside(folder, off["run"])


def _beside(folder: Path, name: str) -> Path | None:
    """Find a run of this name next to another one. The name is only looked up, and never used as a path."""
    found = (path for path in runs_inside(folder.parent) if path.name == name and not path.is_symlink())
    return next(found, None)


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
"""The metrics that are shown initially; others can be selected."""


def sweep_table(folder: Path) -> Json:
    """Return the runs of a folder, a line each; unreadable ones are listed among the problems."""
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
        "simulated": any(row.simulated and not row.floor for row in rows),
        "factors": [*arms, *varying],
        "implied": _implied(rows, varying) if arms else [],
        "metrics": metric_columns(rows),
        "shown": [name for name in FIRST if any(row.metrics.get(name) for row in rows)],
        "rows": [*_lines(rows, varying, arms), *_others(folder, {row.name for row in rows})],
    }


def _varying(rows: Sequence[Row]) -> list[str]:
    """Return the keys that distinguish runs; of several with the same values the first, as `n` of `n` and `env.n`."""
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
        values = (row.factors.get(key) for key in varying)
        yield _read(row, [*([row.arm or ""] if arms else []), *values], row.metrics)


def _others(folder: Path, known: set[str]) -> Iterator[Json]:
    """Return the runs without results: in progress, killed, damaged, or repeated."""
    for path in runs_inside(folder):
        if path.name not in known and not path.is_symlink():
            yield _unread(path, "unfinished" if PARTIAL in path.name else "not counted")

"""Verifies runs: files against their digests, the hash against the configuration, metrics against the trace."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from multiprocessing import get_context
from pathlib import Path
from typing import Any, TypeVar

import orjson

from maeil.errors import MetricError
from maeil.metrics import METRICS as KNOWN
from maeil.metrics import compute_metrics
from quorum.configuration.cell import Cell, line_of
from quorum.configuration.plugins import load_plugins
from quorum.configuration.schema import validate
from quorum.episode.episode_folder import PARTIAL
from quorum.installation.packages import DISTRIBUTION
from quorum.installation.version import __version__
from quorum.runs.newest import sweeps_hint
from quorum.runs.run_folder import CONFIG, METRICS, RunFolder, is_run, require_folder, runs_inside
from quorum.runs.run_meta import RunMeta
from quorum.runs.sweep_file import Sweep, read_sweep
from quorum.storage.memory_file import MEMORY, MEMORY_BEFORE, read_memory
from quorum.storage.run_files import META, DamagedFile
from quorum_base.user_errors import UserError

T = TypeVar("T")
_MOST_NAMED = 3


@dataclass(frozen=True, slots=True)
class LinePlace:
    """The position of a run in its line.

    Attributes:
        line: key shared by the runs of one line.
        episode: number in it.
        before: digest of the memory that it started with; None for none.
        after: digest of the memory that it left; None if it failed.
    """

    line: str
    episode: int
    before: str | None
    after: str | None


@dataclass(slots=True)
class Verified:
    """The result of verifying a run.

    Attributes:
        name: name of its folder.
        hash: hash of its configuration; empty if it cannot be read.
        outcome: outcome in `meta.json`; None if the run has not ended or it cannot be read.
        unfinished: whether it was never finished, which is not damage.
        problems: the damages; empty for an intact run.
        unverified: what could not be checked, and why.
        metrics_alone: whether only its metrics are damaged, so that they can be recomputed.
        place: its position in its line; None if its team keeps no memory.
    """

    name: str
    hash: str = ""
    outcome: str | None = None
    unfinished: bool = False
    problems: list[str] = field(default_factory=list)
    unverified: list[str] = field(default_factory=list)
    metrics_alone: bool = False
    place: LinePlace | None = None


def verify_run(folder: Path) -> Verified:
    """Read all files of a run, and recompute what can be. Changes nothing."""
    found = Verified(folder.name)
    if folder.is_symlink():
        found.problems.append("it is a link, which is not followed")
        return found
    run = RunFolder(folder)
    try:
        meta = run.meta()
    except DamagedFile as damage:
        found.problems.append(damage.brief)
        return found
    found.hash, found.outcome = meta.hash, meta.outcome
    if PARTIAL in folder.name or meta.outcome is None:
        found.unfinished = True
        return found
    found.problems += [damage.brief for damage in run.damages()]
    _check_configuration(run, meta, found)
    _check_memory(run, meta, found)
    _check_metrics(run, meta, found)
    found.problems = list(dict.fromkeys(found.problems))
    found.metrics_alone = bool(found.problems) and all(problem.startswith(f"{METRICS}:") for problem in found.problems)
    return found


def _check_configuration(run: RunFolder, meta: RunMeta, found: Verified) -> None:
    try:
        if run.files.exists(CONFIG) and orjson.dumps(run.config_yaml()) != orjson.dumps(meta.configuration):
            found.problems.append(f"{CONFIG}: it differs from the configuration in {META}")
    except DamagedFile as damage:
        found.problems.append(damage.brief)
    if meta.configuration.get("seed", meta.seed) != meta.seed:
        found.problems.append(f"{META}: its seed differs from the seed of its configuration")
    try:
        configuration = validate(meta.configuration, recorded=True)
        digest = Cell(configuration, meta.inputs, meta.origin).hash
    except UserError as error:
        reason = str(error).partition("\n")[0]
        found.unverified.append(f"its hash: this version and its plug-ins reject its configuration ({reason})")
        return
    if digest != meta.hash:
        _differs(meta, found, f"{META}: its hash differs from the hash of its configuration")


def _check_metrics(run: RunFolder, meta: RunMeta, found: Verified) -> None:
    if run.trace_name() is None:
        return
    try:
        trace = run.trace()
        if not run.files.exists(METRICS):
            return
        stored, computed = run.metrics(), compute_metrics(trace)
    except DamagedFile as damage:
        found.problems.append(damage.brief)
        return
    except MetricError as error:
        found.problems.append(f"{run.trace_name()}: its events contradict each other ({error})")
        return
    wrong = [
        f"{name} is {stored[name]}, but the trace gives {value}"
        for name, value in computed.items()
        if name in stored and stored[name] != (None if value is None else float(value))
    ]
    if wrong:
        more = f", and {len(wrong) - _MOST_NAMED} more" if len(wrong) > _MOST_NAMED else ""
        _differs(meta, found, f"{METRICS}: {'; '.join(wrong[:_MOST_NAMED])}{more}")
    asked = [name for name in stored if name in KNOWN and KNOWN[name].on_demand]
    for group in dict.fromkeys(KNOWN[name].group for name in asked):
        found.unverified.append(f"{group}.*: the trace does not contain them; `quorum credit` computes them again")
    if unknown := [name for name in stored if name not in computed and name not in asked]:
        found.unverified.append(f"{', '.join(unknown)}: no module registers these metrics: name it with --plugin")


def _check_memory(run: RunFolder, meta: RunMeta, found: Verified) -> None:
    """Check the team's memories at the start and the end against `meta.json`."""
    found.place = _place_of(meta)
    said = (meta.memory.before, meta.memory.after) if meta.memory is not None else (None, None)
    for name, digest in zip((MEMORY_BEFORE, MEMORY), said, strict=True):
        try:
            memory = read_memory(run.path, name)
        except DamagedFile as damage:
            found.problems.append(damage.brief)
            continue
        if (memory.digest if memory is not None else None) != digest:
            found.problems.append(f"{name}: its digest differs from that in {META}")


def _place_of(meta: RunMeta) -> LinePlace | None:
    """Return the position of a run in its line; None if its team keeps no memory, or the position is not recorded.

    A branch is in no line: it starts with the memory of its run, whatever other branches have left.
    """
    episode = meta.configuration.get("episode")
    if meta.origin is not None or meta.memory is None or not isinstance(episode, int):
        return None
    with suppress(TypeError):  # nested more deeply than any composed configuration
        return LinePlace(line_of(meta.configuration, meta.inputs), episode, meta.memory.before, meta.memory.after)
    return None


def _misfits(places: Mapping[str, LinePlace]) -> dict[str, str]:
    """Return the runs that do not fit their predecessor, each with the reason.

    Args:
        places: positions of runs, by name. A run whose predecessor is not among them is not judged.
    """
    names = {(place.line, place.episode): name for name, place in places.items()}
    found = {}
    for name, place in places.items():
        before = names.get((place.line, place.episode - 1))
        if before is not None and place.before != places[before].after:
            found[name] = f"{MEMORY_BEFORE}: it differs from the {MEMORY} of {before}"
    return found


def _differs(meta: RunMeta, found: Verified, problem: str) -> None:
    """Report a difference as damage, unless another version may have computed it differently."""
    if meta.versions.get(DISTRIBUTION) == __version__:
        found.problems.append(problem)
    else:
        found.unverified.append(f"{problem}; this is version {__version__}, and it was run with {meta.code}")


_FEW = 100
"""Up to this number, runs are verified in this process, because starting others takes as long."""


@dataclass(frozen=True, slots=True)
class FolderCheck:
    """The result of verifying the folder of a run or a sweep.

    Attributes:
        folder: as given.
        runs: result for each run, by name.
        missing: names of planned cells without a run.
        advice: what to type or do about damage; empty if there is none.
    """

    folder: Path
    runs: tuple[Verified, ...]
    missing: tuple[str, ...]
    advice: tuple[str, ...]

    @property
    def damaged(self) -> tuple[Verified, ...]:
        """The damaged runs."""
        return tuple(run for run in self.runs if run.problems)

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON-ready data."""
        return {
            "folder": str(self.folder),
            "runs": [{key: value for key, value in asdict(run).items() if key != "place"} for run in self.runs],
            "missing": list(self.missing),
            "advice": list(self.advice),
        }

    def lines(self) -> Iterator[str]:
        """Yield it as text: what cannot be verified, the damage, the totals, and what to do."""
        for reason, number in Counter(reason for run in self.runs for reason in run.unverified).items():
            yield f"not verified ({number}): {reason}"
        for run in self.damaged:
            for problem in run.problems:
                yield f"damaged: {run.name}: {problem}"
        unfinished, damaged = sum(run.unfinished for run in self.runs), len(self.damaged)
        counts = {"whole": len(self.runs) - damaged - unfinished, "damaged": damaged, "unfinished": unfinished}
        counts["not run yet"] = len(self.missing)
        parts = ", ".join(f"{number} {what}" for what, number in counts.items() if number or what == "whole")
        yield f"{self.folder}: {len(self.runs)} run{'' if len(self.runs) == 1 else 's'}: {parts}"
        yield from self.advice


def check_folder(folder: Path, plugins: Sequence[str] = ()) -> FolderCheck:
    """Verify a run, or all runs of a sweep or of a plain folder of runs. Changes nothing.

    Args:
        folder: folder of the run or sweep.
        plugins: modules that register components and metrics; worker processes load them, too.

    Raises:
        UserError: there is no such folder, or it holds no runs.
    """
    require_folder(folder)
    if is_run(folder):
        one = verify_run(folder.resolve())
        return FolderCheck(folder, (one,), (), tuple(_advice(folder.parent, [one], _sweep_of(folder.resolve()))))
    paths = list(runs_inside(folder))
    sweep = read_sweep(folder)
    if not paths and sweep is None:
        raise UserError(f"{folder}: it contains no runs", sweeps_hint(folder))
    runs = {run.name: run for run in each_run(verify_run, paths, plugins)}
    planned = {cell.name: cell.hash for cell in sweep.cells} if sweep is not None else {}
    for name, found in runs.items():
        if found.hash not in ("", planned.get(name, found.hash)):
            found.problems.append(f"it is the run of another cell, with hash {found.hash[:8]}")
    places = {name: found.place for name, found in runs.items() if found.place is not None}
    for name, problem in _misfits(places).items():
        runs[name].problems.append(problem)
    missing = tuple(name for name in planned if name not in runs)
    return FolderCheck(folder, tuple(runs.values()), missing, tuple(_advice(folder, runs.values(), sweep)))


def _sweep_of(run: Path) -> Sweep | None:
    """Return the plan that a run is part of; None if no plan can be read."""
    with suppress(UserError):
        sweep = read_sweep(run.parent)
        if sweep is not None and run.name in {cell.name for cell in sweep.cells}:
            return sweep
    return None


def each_run(look: Callable[[Path], T], paths: Sequence[Path], plugins: Sequence[str]) -> Iterable[T]:
    """Apply a function to many runs, in several processes if that is faster.

    Args:
        look: function of a run's folder.
        paths: the folders.
        plugins: modules that those processes load.
    """
    workers = min(len(os.sched_getaffinity(0)), len(paths) // _FEW)
    if workers < 2:
        return map(look, paths)
    with ProcessPoolExecutor(
        workers, get_context("spawn"), initializer=load_plugins, initargs=(tuple(plugins),)
    ) as processes:
        return list(processes.map(look, paths, chunksize=16))


def _advice(folder: Path, runs: Iterable[Verified], sweep: Sweep | None) -> Iterator[str]:
    damaged = [run for run in runs if run.problems]
    for run in damaged:
        if run.metrics_alone:
            yield f"compute the metrics again: quorum results {folder / run.name} --write"
    if not all(run.metrics_alone for run in damaged):
        if sweep is not None and sweep.command:
            yield f"run the damaged cells again; their remains are set aside: {sweep.command}"
        else:
            yield "run the episode again; quorum view RUN shows the readable part of a damaged one"

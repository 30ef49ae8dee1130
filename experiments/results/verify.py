"""Verifies a run: its files against their digests, its hash against its configuration, metrics against its trace."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import orjson

from maeil.errors import MetricError
from maeil.metrics import METRICS as KNOWN
from maeil.metrics import compute_metrics
from maeil.trace import Trace
from maeil.user_errors import UserError
from quorum.experiments.common.memory_file import MEMORY, MEMORY_BEFORE, read_memory
from quorum.experiments.common.packages import DISTRIBUTION
from quorum.experiments.common.run_files import META, DamagedFile
from quorum.experiments.common.version import __version__
from quorum.experiments.configuration.cell import Cell
from quorum.experiments.configuration.inputs import recorded
from quorum.experiments.configuration.schema import validate
from quorum.experiments.episode.episode_folder import PARTIAL
from quorum.experiments.results.lines import LinePlace, place_of
from quorum.experiments.results.run_folder import CONFIG, METRICS, RunFolder
from quorum.experiments.results.run_meta import RunMeta
from quorum.experiments.results.whole import damages

_MOST_NAMED = 3


@dataclass(slots=True)
class Verified:
    """What was found of a run.

    Attributes:
        name: of its folder.
        hash: of its configuration; empty where it cannot be read.
        outcome: as `meta.json` has it; None where the run has not ended or that cannot be read.
        unfinished: whether it was never finished, which is no damage.
        problems: what is damaged; empty for a run that is whole.
        unverified: what could not be held against anything, and why.
        metrics_alone: whether its metrics are damaged and nothing else, so that they can be computed again.
        place: where it stands in its line; None where its team takes no memory along.
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
    """Read everything that a run left, and compute again what can be. Nothing is changed."""
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
    found.problems += [damage.brief for damage in damages(run, meta)]
    if meta.files is None:
        found.unverified.append(
            f"{META} of versions before 0.10 holds no digests: what was changed inside a file is not found"
        )
    _check_configuration(run, meta, found)
    _check_memory(run, meta, found)
    _check_metrics(run, meta, found)
    found.problems = list(dict.fromkeys(found.problems))
    found.metrics_alone = bool(found.problems) and all(problem.startswith(f"{METRICS}:") for problem in found.problems)
    return found


def _check_configuration(run: RunFolder, meta: RunMeta, found: Verified) -> None:
    if meta.configuration is None:
        found.unverified.append(f"{META} holds no configuration, which an older version left in {CONFIG} alone")
        return
    try:
        if run.files.names(CONFIG) and orjson.dumps(run.config_yaml()) != orjson.dumps(meta.configuration):
            found.problems.append(f"{CONFIG}: it is not the configuration of {META}")
    except DamagedFile as damage:
        found.problems.append(damage.brief)
    if meta.configuration.get("seed", meta.seed) != meta.seed:
        found.problems.append(f"{META}: its seed is not that of its configuration")
    try:
        configuration = validate(meta.configuration, recorded=True)
        branch = meta.branch.branch if meta.branch is not None else None
        digest = Cell(configuration, configuration.plain(), recorded(meta.inputs)(configuration), branch).hash
    except UserError as error:
        reason = str(error).partition("\n")[0]
        found.unverified.append(f"its hash: its configuration is not one of this version and its plug-ins ({reason})")
        return
    if digest != meta.hash:
        _differs(meta, found, f"{META}: its hash is not that of its configuration")


def _check_metrics(run: RunFolder, meta: RunMeta, found: Verified) -> None:
    trace = _trace(run, found)
    if trace is None or not run.files.names(METRICS):
        return
    try:
        stored, computed = run.metrics(), compute_metrics(trace)
    except DamagedFile as damage:
        found.problems.append(damage.brief)
        return
    except MetricError as error:
        found.problems.append(f"{run.trace_name()}: its events contradict each other ({error})")
        return
    wrong = [
        f"{name} is {stored[name]} and the trace gives {value}"
        for name, value in computed.items()
        if name in stored and stored[name] != (None if value is None else float(value))
    ]
    if wrong:
        more = f", and {len(wrong) - _MOST_NAMED} more" if len(wrong) > _MOST_NAMED else ""
        _differs(meta, found, f"{METRICS}: {'; '.join(wrong[:_MOST_NAMED])}{more}")
    asked = [name for name in stored if name in KNOWN and KNOWN[name].on_demand]
    for group in dict.fromkeys(KNOWN[name].group for name in asked):
        found.unverified.append(f"{group}.*: the trace does not tell them; `quorum results --credit` finds them again")
    if unknown := [name for name in stored if name not in computed and name not in asked]:
        found.unverified.append(f"{', '.join(unknown)}: no module registers these metrics: name it with --plugin")


def _check_memory(run: RunFolder, meta: RunMeta, found: Verified) -> None:
    """Hold the memories that the team brought and took along against what `meta.json` says of them."""
    found.place = place_of(meta)
    said = (meta.memory.before, meta.memory.after) if meta.memory is not None else (None, None)
    for name, digest in zip((MEMORY_BEFORE, MEMORY), said, strict=True):
        try:
            memory = read_memory(run.path, name)
        except DamagedFile as damage:
            found.problems.append(damage.brief)
            continue
        if (memory.digest if memory is not None else None) != digest:
            found.problems.append(f"{name}: it is not the memory of which {META} has the digest")


def _trace(run: RunFolder, found: Verified) -> Trace | None:
    if run.trace_name() is None:
        return None
    try:
        return run.trace()
    except DamagedFile as damage:
        found.problems.append(damage.brief)
        return None


def _differs(meta: RunMeta, found: Verified, problem: str) -> None:
    """Take a difference for damage, unless another version may have computed otherwise."""
    if meta.versions.get(DISTRIBUTION) == __version__:
        found.problems.append(problem)
    else:
        found.unverified.append(f"{problem}; this is version {__version__}, and it was run with {meta.code}")

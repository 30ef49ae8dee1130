"""The folder of a run: its contents, and the reasons why files are damaged.

All readers of finished runs (results, comparisons, replays, the viewer, a resumed sweep, checks) read their files here.
A folder may be untrusted: its files are data of limited size, and nothing in them is imported or called.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from difflib import get_close_matches
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar

import orjson
from pydantic import ValidationError

from maeil.errors import NewerTrace, TraceError
from maeil.outcomes import Outcome
from maeil.trace import Event, Stamped, Trace, parse_some, parse_trace, read_event
from maeil.trace.events import EpisodeEnd
from quorum.agents.llm.prices import provider_name
from quorum.configuration.team_label import label_of_factors
from quorum.runs.rows import Damaged, Row, flatten
from quorum.runs.run_meta import RunMeta
from quorum.storage.files import os_errors
from quorum.storage.plain_yaml import NotPlain, parse_yaml
from quorum.storage.run_files import LARGEST_META, META, MIB, DamagedFile, RunFiles
from quorum_base.user_errors import UserError

T = TypeVar("T")

METRICS, CONFIG = "metrics.json", "config.yaml"
ARCHIVE = ".zip"
"""Ending of a file that verbs read like the folder in it."""
TRACES = ("trace.jsonl", "trace.jsonl.gz")
_FILES = (META, CONFIG, *TRACES)
_LARGEST = {META: LARGEST_META, METRICS: 4 * MIB, CONFIG: MIB}
"""Maximum bytes of files that are read as a whole."""
_MOST_NAMED = 5
_NUMBERS = {bool, int, float, type(None)}


class RunFolder:
    """The files of a run. Each is read on demand.

    Args:
        path: path of the folder.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.files = RunFiles(path)
        """Access to all its files."""
        self._meta: RunMeta | None = None

    def meta(self) -> RunMeta:
        """Read `meta.json`.

        Raises:
            DamagedFile: it is missing or damaged.
        """
        if self._meta is None:
            self._meta = self._read_meta()
            self.files.digests = self._meta.files or {}
        return self._meta

    def _read_meta(self) -> RunMeta:
        data = self._read(META)
        try:
            meta = RunMeta.model_validate_json(data)
            orjson.dumps(meta.configuration)  # rejects numbers beyond 64 bits and excessive nesting
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            where = "".join(f"{part}: " for part in [".".join(map(str, first["loc"]))] if part)
            raise self.files.damaged(META, f"{where}{first['msg']}") from error
        except TypeError as error:
            raise self.files.damaged(META, f"configuration: {error}") from error
        return meta

    def _read(self, name: str) -> bytes:
        data = self.files.read(name, _LARGEST[name])
        if data is None:
            raise self.files.damaged(name, "there is no such file")
        return data

    def configuration(self) -> dict[str, Any]:
        """Read the resolved configuration from `meta.json`, or `config.yaml` if that is damaged, without validation.

        Raises:
            DamagedFile: neither can be read.
        """
        try:
            return self.meta().configuration
        except DamagedFile:
            return self.config_yaml()

    def config_yaml(self) -> dict[str, Any]:
        """Read the configuration from `config.yaml`, without validating it.

        Raises:
            DamagedFile: it is missing or damaged.
        """
        text = self._read(CONFIG)
        try:
            data = parse_yaml(text)
        except NotPlain as error:
            raise self.files.damaged(CONFIG, f"damaged: {error}") from error
        if not isinstance(data, dict):
            raise self.files.damaged(CONFIG, "damaged: it contains no configuration")
        return {key: value for key, value in data.items() if key != "hash"}

    def metrics(self) -> dict[str, float | None]:
        """Read `metrics.json`; booleans are 0 and 1, None means undefined.

        Raises:
            DamagedFile: it is missing or damaged.
        """
        text = self._read(METRICS)
        try:
            data = orjson.loads(text)
        except orjson.JSONDecodeError as error:
            raise self.files.damaged(METRICS, f"damaged: {error}") from error
        if not isinstance(data, dict) or not data:
            raise self.files.damaged(METRICS, "damaged: it contains no metrics")
        if not _NUMBERS.issuperset(map(type, data.values())):
            name = next(name for name, value in data.items() if type(value) not in _NUMBERS)
            raise self.files.damaged(METRICS, f"damaged: {name} is not a number")
        return {name: None if value is None else float(value) for name, value in data.items()}

    def trace_name(self) -> str | None:
        """Return the name of its trace file; None if there is none."""
        return next((name for name in TRACES if self.files.exists(name)), None)

    def require_trace(self) -> str:
        """Return the name of its trace file.

        Raises:
            DamagedFile: there is none.
        """
        name = self.trace_name()
        if name is None:
            raise self.files.damaged(TRACES[0], "there is no such file")
        return name

    def trace(self) -> Trace:
        """Read a trace that may break off at its end, but has no other gaps.

        Raises:
            DamagedFile: there is none, or it is damaged, or newer than this version.
        """
        return _parsed(self.files, self.require_trace(), parse_trace)

    def whole_trace(self) -> Trace:
        """Read the trace of an episode that has ended.

        Raises:
            DamagedFile: see `trace`, or it breaks off.
        """
        trace = self.trace()
        if not trace.whole:
            raise self.files.damaged(self.trace_name() or TRACES[0], "it breaks off before the end of the episode")
        return trace

    def some_events(self, *types: type[Event]) -> list[Stamped]:
        """Read the first, the last, and the events of some types of a finished episode; faster than the whole trace.

        Raises:
            DamagedFile: see `whole_trace`.
        """
        return _parsed(self.files, self.require_trace(), lambda lines: parse_some(lines, *types))

    def row(self) -> Row | Damaged:
        """Return the run's row of results, without reading its trace."""
        if self.path.is_symlink():
            return Damaged(self.path.name, "it is a link, which is not followed")
        try:
            meta = self.meta()
            unscored = meta.outcome in (None, Outcome.ERROR) and not self.files.exists(METRICS)
            metrics = {} if unscored else self.metrics()
        except DamagedFile as damage:
            return Damaged(self.path.name, damage.brief)
        asked = meta.models or meta.outcome == Outcome.ERROR
        used = {key: own for key, own in meta.configuration.items() if asked or key not in ("llm", "budget")}
        factors = flatten(used)
        if (team := label_of_factors(factors)) is not None:
            factors["members"] = team
        if meta.origin is not None:
            factors |= meta.origin.factors
        return Row(
            folder=self.path,
            name=self.path.name,
            hash=meta.hash,
            seed=meta.seed,
            arm=None,
            outcome=meta.outcome or "unfinished",
            reason=meta.reason,
            error=meta.error.text if meta.error is not None else "",
            version=str(meta.code),
            inputs=_shared(tuple(meta.inputs.items())),
            unused=meta.unused,
            packages=_shared(tuple(meta.versions.items())),
            start=meta.start,
            providers=providers_of(meta.configuration) if meta.models else (),
            models=tuple(meta.models),
            fallbacks=tuple(meta.fallbacks),
            fingerprints=tuple(meta.fingerprints),
            simulated=meta.simulated,
            factors=factors,
            metrics=metrics,
            origin=meta.origin,
        )

    def check_whole(self) -> RunMeta:
        """Read every byte of all files of a finished run, and return its `meta.json`.

        Raises:
            DamagedFile: the first damage found; see `damages`.
        """
        if self.path.is_symlink():
            raise self.files.damaged(META, "not read: its folder is a link, which is not followed")
        for damage in self.damages():
            raise damage
        return self.meta()

    def damages(self) -> Iterator[DamagedFile]:
        """Read all files, check each against its digest, and yield the damages.

        Raises:
            DamagedFile: `meta.json` cannot be read.
        """
        meta = self.meta()
        if meta.outcome is None or meta.end is None:
            yield self.files.damaged(META, "the run has not ended")
            return
        needed = () if meta.outcome == Outcome.ERROR else (CONFIG, TRACES[0], METRICS)
        for name in dict.fromkeys((*needed, *(meta.files or ()))):
            try:
                self._check_file(meta, name)
            except DamagedFile as damage:
                yield damage

    def trace_damage(self) -> str:
        """Describe the damage of an existing trace; empty if there is none."""
        try:
            if self.trace_name() is not None:
                self._check_file(self.meta(), TRACES[0])
        except DamagedFile as damage:
            return damage.brief
        return ""

    def _check_file(self, meta: RunMeta, name: str) -> None:
        if name not in (meta.files or ()):
            raise self.files.damaged(META, f"damaged: it contains no digest of {name}")
        present = self.trace_name() if name == TRACES[0] else name  # a trace may have been compressed since
        end = self.files.verify(present or name)
        if name == TRACES[0] and meta.outcome != Outcome.ERROR:
            self._check_end(meta, end)

    def _check_end(self, meta: RunMeta, end: bytes) -> None:
        """Check that the last line of a trace is the end of the episode recorded in `meta.json`."""
        try:
            event = read_event(end.rstrip(b"\n").rpartition(b"\n")[2]).event
        except (ValueError, RecursionError):
            event = None
        if not isinstance(event, EpisodeEnd):
            raise self.files.damaged(TRACES[0], "damaged: it breaks off before the end of the episode")
        if event.outcome is not meta.outcome:
            ends = f"damaged: it ends as '{event.outcome}', but {META} says '{meta.outcome}'"
            raise self.files.damaged(TRACES[0], ends)


@lru_cache(maxsize=256)
def _shared(texts: tuple[tuple[str, str], ...]) -> Mapping[str, str]:
    """Return a mapping of texts, shared by all runs that have the same packages or inputs."""
    return dict(texts)


def is_run(folder: Path) -> bool:
    """Whether a folder looks like that of a run, complete or not."""
    return any(os.path.lexists(folder / name) for name in _FILES)


def runs_inside(folder: Path) -> Iterator[Path]:
    """Find the runs in a folder, by name; includes links to runs, although they are not followed.

    Args:
        folder: folder of a sweep or of any runs.

    Raises:
        UserError: its contents cannot be listed.
    """
    with os_errors(f"{folder}: cannot be read"):
        names = sorted(os.listdir(folder))
    for name in names:
        path = folder / name
        if path.is_dir() and is_run(path):
            yield path


def runs_of(folders: Iterable[Path]) -> list[Path]:
    """Return the runs in folders, and folders that contain none; follows a link only if the user named it."""
    found: list[Path] = []
    for folder in folders:
        inside = [] if not folder.is_dir() or is_run(folder) else runs_inside(folder)
        found += [run for run in inside if not run.is_symlink()] or [folder]
    return found


def require_folder(folder: Path) -> None:
    """Check that a folder exists.

    Raises:
        UserError: it does not exist, or is a file.
    """
    if folder.is_dir():
        return
    if folder.exists():
        raise UserError(f"{folder}: it is a file", f"Give the folder of a run or of a sweep: {folder.parent}.")
    raise no_such_folder(folder)


def no_such_folder(folder: Path) -> UserError:
    """Return the error for a missing folder or archive, with the nearest one there, or a few of them."""
    here = sorted(path for path in folder.parent.glob("[!.]*") if path.is_dir() or path.suffix == ARCHIVE)
    near = get_close_matches(folder.name, [path.name for path in here], n=1)
    hint = "Give the folder of a run or of a sweep."
    if here:
        some = ", ".join(map(str, here[:_MOST_NAMED]))
        hint = f"Did you mean {folder.with_name(near[0])}?" if near else f"Some that exist: {some}"
    return UserError(f"{folder}: there is no such {'file' if folder.suffix == ARCHIVE else 'folder'}", hint)


def contradicts_itself(run: Path, why: str) -> UserError:
    """Return the error for a trace whose events contradict each other."""
    return UserError(
        f"{run}: damaged: its events contradict each other ({why})",
        "It was changed after it was written; run the episode again.",
    )


def read_whole_trace(run: Path) -> Trace:
    """Read a trace that may break off at its end, but has no other gaps.

    Args:
        run: the folder of an episode, or its trace file, for which no digest is checked.

    Raises:
        UserError: there is none, or it is damaged, or newer than this version.
    """
    if not run.is_dir():
        files = RunFiles(run.parent)
        if not files.exists(run.name):
            raise no_such_folder(run)
        return _parsed(files, run.name, parse_trace)
    folder = RunFolder(run)
    if folder.trace_name() is None:
        inside = any(run.glob("*/trace.jsonl*"))
        hint = f"It contains runs, and is not a run itself: give {run / '*'}." if inside else ""
        raise UserError(f"{run}: no trace.jsonl there", hint)
    return folder.trace()


def _parsed(files: RunFiles, name: str, parse: Callable[[Iterator[bytes]], T]) -> T:
    try:
        return parse(files.lines(name))
    except NewerTrace as error:
        raise files.damaged(name, str(error)) from error
    except TraceError as error:
        raise files.damaged(name, f"damaged: {error}") from error
    except FileNotFoundError as error:
        raise files.damaged(name, "there is no such file") from error


def providers_of(configuration: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the distinct providers of all models of a configuration, which may be untrusted or of any version.

    A fallback is listed only where it has answered.
    """
    return tuple(dict.fromkeys(map(provider_of, models_of(configuration))))


def models_of(configuration: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield the values of each model of a configuration: the common one, and those of single agents and roles."""
    llm = configuration.get("llm")
    if not isinstance(llm, Mapping):
        return
    groups = [found for found in (llm.get("agents"), llm.get("roles")) if isinstance(found, Mapping)]
    for values in ({}, *(values for group in groups for values in group.values())):
        if isinstance(values, Mapping):
            yield {**llm, **values}


def provider_of(values: Mapping[str, Any]) -> str:
    """Return the name of a model's provider; see `quorum.agents.llm.prices.provider_name`."""
    name, model, address = (str(values.get(key) or "") for key in ("name", "model", "base_url"))
    try:
        return provider_name(name, model, address or None)
    except ValueError:  # not a valid address
        return name

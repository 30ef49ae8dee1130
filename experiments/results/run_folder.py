"""The folder of a run: what is there, and what is damaged and why.

All readers of finished runs (results, comparisons, replays, the viewer, a resumed sweep) read their files here.
A folder may come from a stranger: its files are data of bounded size, and nothing in them is imported or called.
"""

from __future__ import annotations

import os
import stat
import zlib
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson
import yaml
from pydantic import BaseModel, ConfigDict, ValidationError

from maeil.errors import TraceError
from maeil.trace import Trace, read_trace
from maeil.user_errors import UserError, nearest
from quorum.experiments.common.files import yaml_problem
from quorum.experiments.common.packages import DISTRIBUTION
from quorum.experiments.common.provenance import CodeVersion
from quorum.experiments.common.sanitize import sanitize
from quorum.experiments.results.rows import Damaged, Row, flatten

LARGEST = 1 << 30
"""Bytes that are read of one file, and made of a compressed one."""
TRACES = ("trace.jsonl", "trace.jsonl.gz")
_FILES = ("meta.json", "config.yaml", *TRACES)
_NUMBERS = {bool, int, float, type(None)}
_LONGEST_REASON = 300


class DamagedFile(UserError):
    """A file of a run cannot be read.

    Attributes:
        brief: its name, and why: what is said where the folder is known.
    """

    def __init__(self, folder: Path, name: str, reason: str) -> None:
        self.brief = f"{name}: {sanitize(reason, _LONGEST_REASON)}"
        super().__init__(f"{folder}{os.sep}{self.brief}")


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore", strict=True)


class _Error(_Part):
    class_: str
    message: str

    model_config = ConfigDict(alias_generator=lambda name: name.removesuffix("_"))


class _Commit(_Part):
    commit: str
    changed: bool


class RunMeta(_Part):
    """`meta.json`."""

    hash: str
    """Of the configuration."""
    seed: int
    """Names the board."""
    start: str = ""
    """When the episode began, ISO 8601."""
    end: str | None = None
    """When it ended; None while it is under way."""
    outcome: str | None
    """`completed`, `limit`, `budget` or `error`; None while it is under way."""
    reason: str = ""
    """Why it was ended before its time."""
    error: _Error | None = None
    """What it failed with."""
    versions: Mapping[str, str] = {}
    """Of Python and of every package that it ran with."""
    git: _Commit | None = None
    """The commit of the checkout that it ran from."""
    models: list[str] = []
    """The language models that answered."""
    simulated: bool = False
    """Whether one of them was simulated."""
    configuration: dict[str, Any] | None = None
    """The resolved configuration; None in the folders of older versions, which have it in `config.yaml` alone."""
    inputs: Mapping[str, str] = {}
    """Digests of what decided beside the configuration: templates of prompts, plug-ins; older versions kept none."""

    @property
    def code(self) -> CodeVersion:
        """The code that it ran with."""
        version = self.versions.get(DISTRIBUTION, "unknown")
        return CodeVersion(version, self.git.commit, self.git.changed) if self.git else CodeVersion(version)


@dataclass(frozen=True, slots=True)
class RunFolder:
    """The files of a run. Each is read when it is asked for.

    Attributes:
        path: of the folder.
        follow_links: whether a link among the files is followed; where it is not, the file counts as damaged.
    """

    path: Path
    follow_links: bool = True

    def read(self, name: str) -> bytes | None:
        """Return the content of a file; None where there is none.

        Raises:
            DamagedFile: it is no file, larger than `LARGEST`, closed to us, or a link that is not followed.
        """
        file = self.path / name
        flags = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC
        try:
            handle = os.open(file, flags if self.follow_links else flags | os.O_NOFOLLOW)
        except FileNotFoundError:
            return None
        except OSError as error:
            linked = not self.follow_links and file.is_symlink()
            reason = "it is a link, which is not followed" if linked else error.strerror
            raise DamagedFile(self.path, name, f"not read: {reason}") from error
        try:
            status = os.fstat(handle)
            if not stat.S_ISREG(status.st_mode):
                raise DamagedFile(self.path, name, "not read: it is no file")
            if status.st_size > LARGEST:
                raise DamagedFile(self.path, name, f"not read: it is larger than {LARGEST >> 20} MiB")
            with open(handle, "rb", closefd=False) as opened:
                return opened.read(status.st_size)
        except OSError as error:
            raise DamagedFile(self.path, name, f"not read: {error.strerror}") from error
        finally:
            os.close(handle)

    def _needed(self, name: str) -> bytes:
        data = self.read(name)
        if data is None:
            raise DamagedFile(self.path, name, "there is no such file")
        return data

    def meta(self) -> RunMeta:
        """Read `meta.json`.

        Raises:
            DamagedFile: it is missing or damaged.
        """
        try:
            return RunMeta.model_validate_json(self._needed("meta.json"))
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            where = "".join(f"{part}: " for part in [".".join(map(str, first["loc"]))] if part)
            raise DamagedFile(self.path, "meta.json", f"{where}{first['msg']}") from error

    def configuration(self) -> dict[str, Any]:
        """Read the resolved configuration: that of `meta.json`, else `config.yaml`. Nothing in it is checked.

        Raises:
            DamagedFile: neither has one that can be read.
        """
        with suppress(DamagedFile):
            found = self.meta().configuration
            if found is not None:
                return found
        return self._config_yaml()

    def _config_yaml(self) -> dict[str, Any]:
        try:
            # libyaml's loader would be faster; deep nesting makes it crash the process
            data = yaml.safe_load(self._needed("config.yaml"))
            orjson.dumps(data)  # what a configuration holds, JSON can hold
        except (yaml.YAMLError, TypeError, ValueError, RecursionError) as error:
            raise DamagedFile(self.path, "config.yaml", f"damaged: {yaml_problem(error)}") from error
        if not isinstance(data, dict):
            raise DamagedFile(self.path, "config.yaml", "damaged: it holds no configuration")
        return {key: value for key, value in data.items() if key != "hash"}

    def metrics(self) -> dict[str, float | None]:
        """Read `metrics.json`; booleans are 0 and 1, None is not defined.

        Raises:
            DamagedFile: it is missing or damaged.
        """
        try:
            data = orjson.loads(self._needed("metrics.json"))
        except orjson.JSONDecodeError as error:
            raise DamagedFile(self.path, "metrics.json", f"damaged: {error}") from error
        if not isinstance(data, dict):
            raise DamagedFile(self.path, "metrics.json", "damaged: it holds no metrics")
        for name, value in data.items():
            if type(value) not in _NUMBERS:
                raise DamagedFile(self.path, "metrics.json", f"damaged: {name} is no number")
        return {_present_name(name): None if value is None else float(value) for name, value in data.items()}

    def row(self) -> Row | Damaged:
        """Return what results know of the run; its trace is not read."""
        try:
            meta = self.meta()
            configuration = meta.configuration if meta.configuration is not None else self._config_yaml()
            unscored = meta.outcome in (None, "error") and not (self.path / "metrics.json").exists()
            metrics = {} if unscored else self.metrics()
        except DamagedFile as damage:
            return Damaged(self.path.name, damage.brief)
        factors = flatten(configuration)
        if not meta.models and meta.outcome != "error":
            factors = {key: value for key, value in factors.items() if key.partition(".")[0] not in ("llm", "budget")}
        return Row(
            folder=self.path,
            name=self.path.name,
            hash=meta.hash,
            seed=meta.seed,
            arm=None,
            outcome=meta.outcome or "unfinished",
            reason=meta.reason,
            error=f"{meta.error.class_}: {meta.error.message}" if meta.error is not None else "",
            version=str(meta.code),
            inputs=meta.inputs,
            packages=meta.versions,
            start=meta.start,
            models=tuple(meta.models),
            simulated=meta.simulated,
            factors=factors,
            metrics=metrics,
        )


def is_run(folder: Path) -> bool:
    """Whether a folder looks like that of a run, whole or not."""
    return any((folder / name).exists() for name in _FILES)


def runs_inside(folder: Path, *, follow_links: bool = True) -> Iterator[Path]:
    """Find the folders of runs in a folder, by name.

    Args:
        folder: to look into.
        follow_links: whether a link to a folder counts as one.

    Raises:
        OSError: it cannot be looked into.
    """
    for path in sorted(folder.iterdir()):
        if path.is_dir() and (follow_links or not path.is_symlink()) and is_run(path):
            yield path


def no_such_folder(folder: Path) -> UserError:
    """Make the error that says so, with the names that are nearest."""
    names = sorted(path.name for path in folder.parent.glob("*") if path.is_dir()) if folder.name else []
    return UserError(f"{folder}: there is no such folder", nearest(folder.name, names))


def read_whole_trace(run: Path) -> Trace:
    """Read a trace of which no event is missing but at its end.

    Args:
        run: the folder of an episode, or the file of its trace.

    Raises:
        UserError: there is none, or it is damaged, or newer than this version.
    """
    try:
        trace = read_trace(run)
    except TraceError as error:
        inside = run.is_dir() and any(run.glob("*/trace.jsonl*"))
        hint = f"It holds runs, and is none itself: give {run / '*'}." if inside else ""
        raise UserError(str(error), hint) from error
    except zlib.error as error:
        raise UserError(f"{run}: damaged: {error}") from error
    except OSError as error:
        raise UserError(f"{run}: cannot be read: {error.strerror or error}") from error
    for number, stamped in enumerate(trace.events):
        if stamped.seq != number:
            raise UserError(f"{run}: damaged: event {number} is missing or not in its place, {stamped.seq} is there")
    return trace


def _present_name(metric: str) -> str:
    """Return the present name of a metric: `coop2.*` was `compat.*` before 0.9, with the same formulas."""
    return f"coop2.{metric.removeprefix('compat.')}" if metric.startswith("compat.") else metric

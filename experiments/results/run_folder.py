"""Reads the folder of one run."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import orjson
import yaml
from pydantic import BaseModel, ConfigDict, ValidationError

from quorum.experiments.common.packages import DISTRIBUTION
from quorum.experiments.common.provenance import CodeVersion
from quorum.experiments.results.factors import flatten
from quorum.experiments.results.rows import Damaged, Row

_NUMBERS = {bool, int, float, type(None)}
_FILES = ("meta.json", "config.yaml", "trace.jsonl", "trace.jsonl.gz")


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore", strict=True)


class _Error(_Part):
    class_: str
    message: str

    model_config = ConfigDict(alias_generator=lambda name: name.removesuffix("_"))


class _Commit(_Part):
    commit: str
    changed: bool


class _Meta(_Part):
    """`meta.json`, as far as results need it."""

    hash: str
    seed: int
    start: str = ""
    outcome: str | None
    reason: str = ""
    error: _Error | None = None
    versions: Mapping[str, str] = {}
    git: _Commit | None = None
    models: list[str] = []
    simulated: bool = False
    configuration: dict[str, Any] | None = None


class _Wrong(Exception):
    """The folder cannot be read; says why."""


def is_run(folder: Path) -> bool:
    """Whether a folder looks like that of a run, whole or not."""
    return any((folder / name).exists() for name in _FILES)


def read_run(folder: Path) -> Row | Damaged:
    """Read what is known of a run, without its trace."""
    try:
        meta = _meta(folder)
        configuration = meta.configuration if meta.configuration is not None else _configuration(folder)
        metrics = _metrics(folder, needed=meta.outcome not in (None, "error"))
    except _Wrong as wrong:
        return Damaged(folder.name, str(wrong))
    factors = flatten(configuration)
    if not meta.models and meta.outcome != "error":
        factors = {key: value for key, value in factors.items() if key.partition(".")[0] not in ("llm", "budget")}
    return Row(
        folder=folder,
        name=folder.name,
        hash=meta.hash,
        seed=meta.seed,
        arm=None,
        outcome=meta.outcome or "unfinished",
        reason=meta.reason,
        error=f"{meta.error.class_}: {meta.error.message}" if meta.error is not None else "",
        version=_version(meta),
        packages=meta.versions,
        start=meta.start,
        models=tuple(meta.models),
        simulated=meta.simulated,
        factors=factors,
        metrics=metrics,
    )


def _meta(folder: Path) -> _Meta:
    try:
        return _Meta.model_validate_json(_bytes(folder / "meta.json"))
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        raise _Wrong(f"meta.json: {where}: {first['msg']}" if where else f"meta.json: {first['msg']}") from error


def _configuration(folder: Path) -> dict[str, Any]:
    """Read `config.yaml`: folders that older versions left have the configuration there alone."""
    try:
        data = yaml.safe_load(_bytes(folder / "config.yaml"))
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise _Wrong(f"config.yaml: {str(error).splitlines()[0]}") from error
    if not isinstance(data, dict):
        raise _Wrong("config.yaml: it holds no configuration")
    return {key: value for key, value in data.items() if key != "hash"}


def _metrics(folder: Path, *, needed: bool) -> dict[str, float | None]:
    file = folder / "metrics.json"
    if not needed and not file.exists():
        return {}
    try:
        data = orjson.loads(_bytes(file))
    except orjson.JSONDecodeError as error:
        raise _Wrong(f"metrics.json: {error}") from error
    if not isinstance(data, dict):
        raise _Wrong("metrics.json: it holds no metrics")
    for name, value in data.items():
        if type(value) not in _NUMBERS:
            raise _Wrong(f"metrics.json: {name} is no number")
    return {_present_name(name): None if value is None else float(value) for name, value in data.items()}


def _present_name(metric: str) -> str:
    """Return the present name of a metric: `coop2.*` was `compat.*` before 0.9, with the same formulas."""
    return f"coop2.{metric.removeprefix('compat.')}" if metric.startswith("compat.") else metric


def _bytes(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise _Wrong(f"{file.name}: {error.strerror or error}") from error


def _version(meta: _Meta) -> str:
    version = meta.versions.get(DISTRIBUTION, "unknown")
    return str(
        CodeVersion(version, meta.git.commit, meta.git.changed) if meta.git is not None else CodeVersion(version)
    )

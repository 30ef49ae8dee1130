"""The disclosure sheet of a study: models, requests, runs that count, cost, and place.

The sheet is read entirely from the folder of the study, so that anyone with the folder gets the same sheet. It contains
no local paths and no keys: it lists selected model values by name and errors by class, and removes paths from texts.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from datetime import datetime
from math import fsum
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import orjson

from quorum.agents.llm.recording import unfolded
from quorum.agents.llm.spending import Spent
from quorum.comparison.report import templates
from quorum.configuration.secrets import refuse_secrets
from quorum.display.sanitize import sanitize
from quorum.episode.call_ledger import CALLS
from quorum.installation.packages import DISTRIBUTION
from quorum.installation.version import __version__
from quorum.runs import Results, Row, read_results
from quorum.runs.finished import dropped_attempts, read_spent
from quorum.runs.run_folder import RunFolder, models_of, provider_of
from quorum.runs.run_meta import RunMeta
from quorum.storage.files import write_all
from quorum.storage.run_files import MIB, RunFiles
from quorum_base.digests import digest
from quorum_base.user_errors import UserError

STUDY, SHEET, PAGE = "study.json", "sheet.json", "sheet.html"
SCHEMA = 1
WRITTEN_BY = "written_by"
"""The only field of a sheet that does not depend on the runs: the version that wrote it."""
LARGEST = 64 * MIB
"""Maximum size of `study.json` and of `sheet.json`, in bytes."""
_PLUGINS = ("package ", "library ")
_OF_A_MODEL = (
    "temperature", "top_p", "max_tokens", "max_tokens_per_agent", "effort", "thinking_tokens", "sampling_seed", "stop",
    "structured", "grounded_schema", "longest_text", "longest_list", "service_tier", "calibrated_to", "seed",
    "malformed", "invalid", "poor", "wasted", "refusal", "prose",
)  # fmt: skip
"""Values that determine how a model answers, including those of the simulated model."""
_PATH = re.compile(
    r"""(?:^|(?<=[\s'"=(\[,;]))(?:~[^\s/\\]*|(?:file:)?(?:[A-Za-z]:)?[/\\][^\s'",;)\]/\\]*)[/\\][^\s'",;)\]]*"""
)
_HOME = re.compile(r"(?:^|(?<==))(?:~[^\s/]*/|[A-Za-z]:\\|/).*", re.DOTALL)
"""A whole value that is a path, possibly with spaces."""


Sheet = Mapping[str, Any]
"""The content of `sheet.json`: plain data without local paths; `sheet_of` documents each field."""


def read_study(folder: Path) -> Mapping[str, Any]:
    """Read `study.json` without checking its content.

    Raises:
        UserError: it is missing, or is not a JSON object.
    """
    files = RunFiles(folder)
    try:
        found = orjson.loads(files.read(STUDY, LARGEST) or b"null")
    except orjson.JSONDecodeError as error:
        raise files.damaged(STUDY, f"damaged: {error}") from error
    if not isinstance(found, dict):
        hint = "Give the folder of a study: quorum study makes one."
        raise files.damaged(STUDY, "it is missing, or holds no study", hint)
    return found


def write_sheet(folder: Path) -> Sheet:
    """Write the sheet of a study as JSON and as a page, and return it.

    Raises:
        UserError: the folder is not a study, a run is damaged, or nothing can be written there.
    """
    sheet = sheet_of(read_results(folder), read_study(folder))
    refuse_secrets(sheet)
    write_all(folder, {SHEET: as_json(sheet), PAGE: as_page(sheet)})
    return sheet


def as_json(sheet: Sheet) -> bytes:
    """Return the content of `sheet.json`."""
    return orjson.dumps(sheet, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)


def as_page(sheet: Sheet) -> bytes:
    """Return the content of `sheet.html`: one file that loads nothing and escapes all outside content."""
    page = templates("quorum.study").get_template("sheet.html.jinja")
    return page.render(sheet=sheet, leaves=_leaves, shown=_text).encode()


def sheet_of(results: Results, study: Mapping[str, Any]) -> Sheet:
    """Make the sheet of a study.

    | field | content |
    |---|---|
    | `schema` | version of these fields |
    | `written_by` | version of Quorum |
    | `study` | content of `study.json`: question, metric, design, stopping and findings |
    | `simulated` | whether a simulated model answered, so that no result applies to a real one |
    | `asked` | the models as configured: provider, model, address, and values that determine how they answer |
    | `answering` | the models that answered: calls, fingerprints of the service's builds, values that were not sent |
    | `fallbacks` | the models that replaced others |
    | `templates` | digests of the prompt templates, by name |
    | `system_messages` | number of calls that began with a system message, by its digest |
    | `files` | digests of other input files |
    | `plugins` | digests of plug-ins, and versions of what they import |
    | `packages` | versions of Python and of all packages |
    | `boards`, `draws` | seeds, and sample numbers of a board |
    | `arms` | planned cells, runs that have ended, and those of them that count (`pooled`) |
    | `left_out` | runs that do not count, with the reason |
    | `missing`, `unfinished` | planned cells that were not run; runs that never ended |
    | `cost` | cost of all runs; `usd` is null if a price is unknown; `repeated_*`: discarded attempts |
    | `place` | where and when the runs were made: code with its commit, operating systems and architectures |

    Args:
        results: all its runs.
        study: content of `study.json`.

    Raises:
        DamagedFile: the calls of a run cannot be read.
    """
    rows = list({row.name: row for row in results.rows}.values())  # a cell of two arms is one run
    folders = [RunFolder(row.folder) for row in rows]
    metas = [folder.meta() for folder in folders]
    asked = [model for row, meta in zip(rows, metas, strict=True) if row.models for model in _asked(meta.configuration)]
    calls = _Calls()
    for folder in folders:
        calls.read(folder.files)
    inputs = _together(row.inputs for row in rows)
    sheet = {
        "schema": SCHEMA,
        "written_by": __version__,
        "study": study,
        "simulated": any(row.simulated and not row.floor for row in rows),
        "asked": list({orjson.dumps(model): model for model in asked}.values()),
        "answering": [calls.models[who] for who in sorted(calls.models)],
        "fallbacks": {name for row in rows for name in row.fallbacks},
        "templates": {name: found for name, found in inputs.items() if name.startswith("prompts")},
        "system_messages": dict(sorted(calls.system.items())),
        "files": {name: found for name, found in inputs.items() if not name.startswith(("prompts", *_PLUGINS))},
        "plugins": {name: found for name, found in inputs.items() if name.startswith(_PLUGINS)},
        "packages": _together({name: v for name, v in row.packages.items() if name != DISTRIBUTION} for row in rows),
        "boards": {row.seed for row in rows},
        "draws": {draw for row in rows if isinstance(draw := row.factors.get("draw", 0), int)},
        "arms": list(_arms(results)),
        "left_out": list(_left_out(results)),
        "missing": len(results.missing),
        "unfinished": results.unfinished,
        "cost": _cost(rows, dropped_attempts(results.folder), metas),
        "place": {
            "first_start": min((meta.start for meta in metas), default=""),
            "last_end": max((meta.end or "" for meta in metas), default=""),
            "code": {row.version for row in rows},
            "machines": set(filter(None, map(_machine, metas))),
        },
    }
    return {name: _without_paths(value) for name, value in sheet.items()}


class _Calls:
    """Data from the calls of all runs: digests of system messages, and the models that answered."""

    def __init__(self) -> None:
        self.system: Counter[str] = Counter()
        self.models: dict[tuple[str, bool], dict[str, Any]] = {}

    def read(self, files: RunFiles) -> None:
        """Read the calls of a run, if it has any.

        Raises:
            DamagedFile: they cannot be read.
        """
        try:
            for call in unfolded(files.lines(CALLS)) if files.exists(CALLS) else ():
                self._take(call)
        except (ValueError, LookupError, TypeError, AttributeError) as error:
            raise files.damaged(CALLS, f"damaged: {error!r}") from error

    def _take(self, call: Mapping[str, Any]) -> None:
        system = [message["content"] for message in call["request"]["messages"] if message["role"] == "system"]
        if system:
            self.system[digest("\n".join(system).encode())] += 1
        reply = call.get("reply") or call["failure"].get("answer", {}).get("record")
        if reply is None:
            return
        who = str(reply["model"]), reply["simulated"] is True
        new = {"model": who[0], "simulated": who[1], "calls": 0, "fingerprints": set(), "not_sent": set()}
        model = self.models.setdefault(who, new)
        model["calls"] += 1
        model["not_sent"].update(map(str, reply["not_sent"]))
        if fingerprint := reply["wall"].get("fingerprint"):
            model["fingerprints"].add(str(fingerprint))


def _asked(configuration: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    for values in models_of(configuration):
        yield {
            "provider": provider_of(values),
            "model": values.get("model") or "",
            "address": _address(str(values.get("base_url") or "")),
            "values": {key: values[key] for key in _OF_A_MODEL if values.get(key) not in (None, "")},
        }


def _address(text: str) -> str:
    """Return an address without user, password and query."""
    parts = urlsplit(text)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}" if parts.netloc else ""


def _arms(results: Results) -> Iterator[Mapping[str, Any]]:
    sweep = results.sweep
    planned = Counter(cell.arm or "" for cell in sweep.cells) if sweep is not None else Counter[str]()
    words = sweep.arms if sweep is not None else {}
    for arm in dict.fromkeys((*planned, *(row.arm or "" for row in results.rows))):
        rows = [row for row in results.rows if (row.arm or "") == arm]
        yield {
            "arm": arm,
            "words": words.get(arm, ()),
            "planned": planned[arm],
            "run": len(rows),
            "pooled": sum(row.pooled for row in rows),
            "simulated": any(row.simulated for row in rows),
        }


def _left_out(results: Results) -> Iterator[Mapping[str, str]]:
    """Yield the runs that do not count; errors by class, since their messages may contain anything."""
    for row in results.rows:
        if not row.pooled:
            error = RunFolder(row.folder).meta().error
            reason = f"{row.outcome}: {error.class_}" if error is not None else row.outcome
            yield {"run": row.name, "arm": row.arm or "", "reason": reason}
    for run in results.damaged:
        yield {"run": run.name, "arm": "", "reason": f"damaged: {run.reason}"}


def _cost(rows: Iterable[Row], repeated: Mapping[str, Spent], metas: Iterable[RunMeta]) -> Mapping[str, float | None]:
    spent = sum((read_spent(row.folder) for row in rows), Spent())
    again = sum(repeated.values(), Spent())
    return {
        "answers": spent.answers,
        "cached": spent.cached,
        "tokens": spent.tokens,
        "usd": None if spent.unpriced else round(spent.usd, 9),
        "repeated_cells": len(repeated),
        "repeated_answers": again.answers,
        "repeated_tokens": again.tokens,
        "wall_seconds": round(fsum(map(_seconds, metas)), 3),
    }


def _seconds(meta: RunMeta) -> float:
    with suppress(ValueError, TypeError):
        return (datetime.fromisoformat(meta.end or "") - datetime.fromisoformat(meta.start)).total_seconds()
    return 0.0


def _machine(meta: RunMeta) -> str:
    return ", ".join(str(meta.machine[key]) for key in ("system", "architecture") if key in meta.machine)


def _together(found: Iterable[Mapping[str, str]]) -> Mapping[str, Collection[str]]:
    """Return every value of each name."""
    pairs = {pair for mapping in found for pair in mapping.items()}
    return {name: {value for own, value in pairs if own == name} for name in sorted(dict(pairs))}


def _shown(text: object) -> str:
    return sanitize(_PATH.sub("[path]", str(text)))


def _without_paths(value: Any) -> Any:
    """Replace every local path in JSON-ready data with `[path]`, and every set with a sorted list."""
    match value:
        case str():
            return _shown(_HOME.sub("[path]", value) if _HOME.search(value) else value)
        case Mapping():
            return {_shown(key): _without_paths(own) for key, own in value.items()}
        case list() | tuple():
            return [_without_paths(own) for own in value]
        case set():
            return sorted({_without_paths(own) for own in value})
    return value


def _leaves(value: Any, key: str = "") -> Iterator[tuple[str, str]]:
    """Yield the leaves of nested data with dotted keys; a list of plain values is one leaf."""
    if isinstance(value, Mapping) and value:
        for name, own in value.items():
            yield from _leaves(own, f"{key}.{name}" if key else str(name))
    elif isinstance(value, list) and any(isinstance(own, dict | list) for own in value):
        yield from _leaves(dict(enumerate(value)), key)
    else:
        yield key, _text(value)


def _text(value: Any) -> str:
    match value:
        case Mapping():
            return _text([f"{key}={_text(own)}" for key, own in value.items()])
        case list() | tuple():
            return ", ".join(map(_text, value)) or "-"
        case bool():
            return "yes" if value else "no"
    return "-" if value in (None, "") else str(value)


def differing_fields(stored: bytes, sheet: Sheet) -> list[str]:
    """Return the fields of a stored sheet that do not follow from its runs.

    Raises:
        UserError: it is not a sheet, or one of another version.
    """
    try:
        found = orjson.loads(stored)
        schema = found["schema"]
    except (ValueError, LookupError, TypeError) as error:
        raise UserError(f"{SHEET}: damaged: {error}") from error
    if schema != SCHEMA:
        raise UserError(f"{SHEET}: it has the schema {schema!r}, and this version reads {SCHEMA}")
    made = orjson.loads(as_json(sheet))
    return sorted(key for key in {**made, **found} if key != WRITTEN_BY and made.get(key) != found.get(key))

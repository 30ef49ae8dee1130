"""The disclosure sheet of a study: who answered, what was asked, which runs count, what it cost, and where it ran.

All of it is read from the folder of the study, so that anybody who has the folder gets the same sheet. It names no path
of a machine and no key: values of models are picked by name, errors by their class, and paths are left out of texts.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import datetime
from math import fsum
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import orjson

from maeil.digests import digest
from maeil.user_errors import UserError
from quorum.agents.llm.recording import Unfolding
from quorum.agents.llm.spending import Spent
from quorum.experiments.common.files import write_all
from quorum.experiments.common.packages import DISTRIBUTION
from quorum.experiments.common.run_files import MIB, RunFiles
from quorum.experiments.common.sanitize import sanitize
from quorum.experiments.common.version import __version__
from quorum.experiments.compare.report import templates
from quorum.experiments.configuration.secrets import refuse_secrets
from quorum.experiments.episode.call_books import CALLS
from quorum.experiments.results import Results, Row, read_results
from quorum.experiments.results.finished import dropped_attempts, read_spent
from quorum.experiments.results.run_folder import RunFolder, providers_of
from quorum.experiments.results.run_meta import RunMeta

STUDY, SHEET, PAGE = "study.json", "sheet.json", "sheet.html"
SCHEMA = 1
WRITTEN_BY = "written_by"
"""The one field of a sheet that the runs do not decide: the version that wrote it."""
LARGEST = 64 * MIB
"""Bytes of `study.json` and of `sheet.json`, at most."""
_PLUGINS = ("package ", "library ")
_OF_A_MODEL = (
    "temperature", "top_p", "max_tokens", "max_tokens_per_agent", "effort", "thinking_tokens", "sampling_seed", "stop",
    "structured", "grounded_schema", "service_tier", "calibrated_to", "seed", "malformed", "invalid", "poor",
    "crowding", "refusal", "prose",
)  # fmt: skip
"""Values that decide how a model answers; those of the simulated model among them."""
_PATH = re.compile(
    r"""(?:^|(?<=[\s'"=(\[,;]))(?:~[^\s/\\]*|(?:file:)?(?:[A-Za-z]:)?[/\\][^\s'",;)\]/\\]*)[/\\][^\s'",;)\]]*"""
)
_HOME = re.compile(r"(?:^|(?<==))(?:~[^\s/]*/|[A-Za-z]:\\|/).*", re.DOTALL)
"""A whole value that is a path, be there spaces in it."""


@dataclass(frozen=True, slots=True)
class AskedModel:
    """A language model as it was configured.

    Attributes:
        provider: as tables name it.
        model: as the configuration names it; empty where it has no name.
        address: without user, password and query; empty where the provider knows it.
        values: how its answers are drawn.
    """

    provider: str
    model: str
    address: str
    values: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class AnsweringModel:
    """A language model that answered.

    Attributes:
        model: as the service names it.
        simulated: whether rules answered in its place.
        calls: that it answered.
        fingerprints: of the builds of the service, where it sends them.
        not_sent: values of the configuration that it does not take.
    """

    model: str
    simulated: bool
    calls: int
    fingerprints: tuple[str, ...]
    not_sent: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ArmRuns:
    """The runs of an arm.

    Attributes:
        arm: its name; empty for runs of no arm.
        words: what it sets.
        planned: cells.
        run: those that have ended.
        pooled: those of them that count.
        simulated: whether a simulated model answered in one.
    """

    arm: str
    words: tuple[str, ...]
    planned: int
    run: int
    pooled: int
    simulated: bool


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A run that does not count, and why."""

    run: str
    arm: str
    reason: str


@dataclass(frozen=True, slots=True)
class Cost:
    """What the runs took.

    Attributes:
        answers: of language models, those to repairs included.
        cached: answers that came from the cache of the harness.
        tokens: read and written.
        usd: money; None where a price is unknown.
        repeated_cells: cells of which an attempt was put aside.
        repeated_answers: answers in those attempts.
        repeated_tokens: tokens of those.
        wall_seconds: the times of all runs together.
    """

    answers: int
    cached: int
    tokens: int
    usd: float | None
    repeated_cells: int
    repeated_answers: int
    repeated_tokens: int
    wall_seconds: float


@dataclass(frozen=True, slots=True)
class Place:
    """Where and when the runs were made.

    Attributes:
        first_start: of a run, ISO 8601; empty where there is none.
        last_end: of a run.
        code: versions of Quorum, with the commit of a checkout.
        machines: operating systems and architectures.
    """

    first_start: str
    last_end: str
    code: tuple[str, ...]
    machines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Sheet:
    """What a study discloses.

    Attributes:
        schema: version of these fields.
        written_by: version of Quorum.
        study: what `study.json` states: question, metric, design, stopping and findings.
        simulated: whether a simulated model answered, so that no result says anything of a real one.
        asked: the models as they were configured.
        answering: those that answered.
        fallbacks: those that stood in for others.
        templates: digests of the templates of prompts, by their names.
        system_messages: number of calls that began with a system message, by its digest.
        files: digests of other files that decided.
        plugins: digests of plug-ins, and versions of what they import.
        packages: versions of Python and of all packages.
        boards: seeds.
        draws: numbers of samples of a board.
        arms: with their runs.
        left_out: runs that do not count.
        missing: planned cells that were not run.
        unfinished: runs that never ended.
        cost: of all runs.
        place: of all runs.
    """

    schema: int
    written_by: str
    study: Mapping[str, Any]
    simulated: bool
    asked: tuple[AskedModel, ...]
    answering: tuple[AnsweringModel, ...]
    fallbacks: tuple[str, ...]
    templates: Mapping[str, tuple[str, ...]]
    system_messages: Mapping[str, int]
    files: Mapping[str, tuple[str, ...]]
    plugins: Mapping[str, tuple[str, ...]]
    packages: Mapping[str, tuple[str, ...]]
    boards: tuple[int, ...]
    draws: tuple[int, ...]
    arms: tuple[ArmRuns, ...]
    left_out: tuple[LeftOut, ...]
    missing: int
    unfinished: int
    cost: Cost
    place: Place

    def data(self) -> bytes:
        """Return the content of `sheet.json`."""
        return orjson.dumps(asdict(self), option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)

    def page(self) -> bytes:
        """Return the content of `sheet.html`: one file that loads nothing; whatever others wrote is escaped."""
        page = templates("quorum.experiments.study").get_template("sheet.html.jinja")
        return page.render(sheet=asdict(self), leaves=_leaves, shown=_text).encode()


def read_study(folder: Path) -> Mapping[str, Any]:
    """Read `study.json`. Nothing in it is checked.

    Raises:
        UserError: it is missing, or holds no JSON object.
    """
    files = RunFiles(folder)
    data = files.read(STUDY, LARGEST)
    try:
        found = orjson.loads(data) if data is not None else None
    except orjson.JSONDecodeError as error:
        raise files.damaged(STUDY, f"damaged: {error}") from error
    if not isinstance(found, dict):
        reason = "there is no such file" if data is None else "damaged: it holds no study"
        raise files.damaged(STUDY, reason, "Give the folder of a study: quorum study makes one.")
    return found


def write_sheet(folder: Path) -> Sheet:
    """Write the sheet of a study as JSON and as a page, and return it.

    Raises:
        UserError: it is no study, a run is damaged, or nothing can be written there.
    """
    sheet = sheet_of(read_results(folder), read_study(folder))
    refuse_secrets(asdict(sheet))
    write_all(folder, {SHEET: sheet.data(), PAGE: sheet.page()})
    return sheet


def sheet_of(results: Results, study: Mapping[str, Any]) -> Sheet:
    """Make the sheet of a study.

    Args:
        results: all its runs.
        study: what `study.json` holds.

    Raises:
        DamagedFile: the calls of a run cannot be read.
    """
    rows = list({row.name: row for row in results.rows}.values())  # a cell of two arms is one run
    folders = {row.name: RunFolder(row.folder) for row in rows}
    metas = {name: folder.meta() for name, folder in folders.items()}
    calls = _Calls()
    for folder in folders.values():
        calls.read(folder.files)
    inputs = _together(row.inputs for row in rows)
    return Sheet(
        schema=SCHEMA,
        written_by=__version__,
        study=_without_paths(study),
        simulated=any(row.simulated for row in rows),
        asked=tuple(_asked(folders[row.name].configuration() for row in rows if row.models)),
        answering=tuple(calls.models()),
        fallbacks=tuple(sorted({_shown(name) for row in rows for name in row.fallbacks})),
        templates={name: found for name, found in inputs.items() if name.startswith("prompts")},
        system_messages=dict(sorted(calls.system.items())),
        files={name: found for name, found in inputs.items() if not name.startswith(("prompts", *_PLUGINS))},
        plugins={name: found for name, found in inputs.items() if name.startswith(_PLUGINS)},
        packages=_together({name: v for name, v in row.packages.items() if name != DISTRIBUTION} for row in rows),
        boards=tuple(sorted({row.seed for row in rows})),
        draws=tuple(sorted({draw for row in rows if isinstance(draw := row.factors.get("draw", 0), int)})),
        arms=tuple(_arms(results)),
        left_out=tuple(_left_out(results, metas)),
        missing=len(results.missing),
        unfinished=results.unfinished,
        cost=_cost(results.folder, rows, metas.values()),
        place=_place(rows, metas.values()),
    )


class _Calls:
    """What is read from the calls of all runs."""

    def __init__(self) -> None:
        self.system: Counter[str] = Counter()
        self._answers: Counter[tuple[str, bool]] = Counter()
        self._fingerprints: set[tuple[str, bool, str]] = set()
        self._not_sent: set[tuple[str, bool, str]] = set()

    def read(self, files: RunFiles) -> None:
        """Take in the calls of a run, if it has any.

        Raises:
            DamagedFile: they cannot be read.
        """
        reader = Unfolding()
        try:
            for line in files.lines(CALLS) if files.names(CALLS) else ():
                self._take(reader.whole(reader.read(line)))
        except (ValueError, LookupError, TypeError, AttributeError) as error:
            raise files.damaged(CALLS, f"damaged: {error!r}") from error

    def _take(self, call: Mapping[str, Any]) -> None:
        system = [message["content"] for message in call["request"]["messages"] if message["role"] == "system"]
        if system:
            self.system[digest("\n".join(system).encode())] += 1
        reply = call.get("reply") or call["failure"].get("answer", {}).get("record")
        if reply is None:
            return
        who = _shown(reply["model"]), reply["simulated"] is True
        self._answers[who] += 1
        self._not_sent |= {(*who, _shown(name)) for name in reply["not_sent"]}
        if fingerprint := reply["wall"].get("fingerprint"):
            self._fingerprints.add((*who, _shown(fingerprint)))

    def models(self) -> Iterator[AnsweringModel]:
        """Return the models that answered, by name."""
        for (model, simulated), answers in sorted(self._answers.items()):
            own = [
                tuple(sorted(text for *who, text in found if who == [model, simulated]))
                for found in (self._fingerprints, self._not_sent)
            ]
            yield AnsweringModel(model, simulated, answers, *own)


def _asked(configurations: Iterable[Mapping[str, Any]]) -> Iterator[AskedModel]:
    """Yield each model of some configurations once."""
    seen = set()
    for configuration in configurations:
        llm = configuration.get("llm")
        if not isinstance(llm, Mapping):
            continue
        groups = [group for group in (llm.get("agents"), llm.get("roles")) if isinstance(group, Mapping)]
        for own in ({}, *(values for group in groups for values in group.values() if isinstance(values, Mapping))):
            values = {**llm, **own}
            (provider, *_) = providers_of({"llm": {**values, "agents": {}, "roles": {}}})
            drawn = {key: _without_paths(values[key]) for key in _OF_A_MODEL if values.get(key) not in (None, "")}
            address = _address(str(values.get("base_url") or ""))
            model = AskedModel(_shown(provider), _shown(values.get("model") or ""), address, drawn)
            if (key := orjson.dumps(asdict(model))) not in seen:
                seen.add(key)
                yield model


def _address(text: str) -> str:
    parts = urlsplit(text)
    return _shown(f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}") if parts.netloc else ""


def _arms(results: Results) -> Iterator[ArmRuns]:
    sweep = results.sweep
    planned = Counter(cell.arm or "" for cell in sweep.cells) if sweep is not None else Counter[str]()
    words = sweep.arms if sweep is not None else {}
    for arm in dict.fromkeys((*planned, *(row.arm or "" for row in results.rows))):
        rows = [row for row in results.rows if (row.arm or "") == arm]
        counts = planned[arm], len(rows), sum(row.pooled for row in rows)
        own = tuple(_without_paths(word) for word in words.get(arm, ()))
        yield ArmRuns(_shown(arm), own, *counts, any(row.simulated for row in rows))


def _left_out(results: Results, metas: Mapping[str, RunMeta]) -> Iterator[LeftOut]:
    for row in results.rows:
        if not row.pooled:
            error = metas[row.name].error
            reason = f"{row.outcome}: {error.class_}" if error is not None else row.outcome
            yield LeftOut(_shown(row.name), _shown(row.arm or ""), _shown(reason))
    for run in results.damaged:
        yield LeftOut(_shown(run.name), "", _shown(f"damaged: {run.reason}"))


def _cost(folder: Path, rows: Iterable[Row], metas: Iterable[RunMeta]) -> Cost:
    spent = sum((read_spent(row.folder) for row in rows), Spent())
    repeated = dropped_attempts(folder)
    again = sum(repeated.values(), Spent())
    return Cost(
        answers=spent.answers,
        cached=spent.cached,
        tokens=spent.tokens,
        usd=None if spent.unpriced else round(spent.usd, 9),
        repeated_cells=len(repeated),
        repeated_answers=again.answers,
        repeated_tokens=again.tokens,
        wall_seconds=round(fsum(map(_seconds, metas)), 3),
    )


def _seconds(meta: RunMeta) -> float:
    with suppress(ValueError, TypeError):
        return (datetime.fromisoformat(meta.end or "") - datetime.fromisoformat(meta.start)).total_seconds()
    return 0.0


def _place(rows: Collection[Row], metas: Collection[RunMeta]) -> Place:
    machines = [[str(meta.machine[key]) for key in ("system", "architecture") if key in meta.machine] for meta in metas]
    return Place(
        first_start=_shown(min((meta.start for meta in metas), default="")),
        last_end=_shown(max((meta.end or "" for meta in metas), default="")),
        code=tuple(sorted({_shown(row.version) for row in rows})),
        machines=tuple(sorted({_shown(", ".join(machine)) for machine in machines if machine})),
    )


def _together(found: Iterable[Mapping[str, str]]) -> dict[str, tuple[str, ...]]:
    """Return every value of each name."""
    pairs = sorted({pair for mapping in found for pair in mapping.items()})
    names = dict.fromkeys(name for name, _ in pairs)
    return {_shown(name): tuple(_shown(value) for own, value in pairs if own == name) for name in names}


def _shown(text: object) -> str:
    return sanitize(_PATH.sub("[path]", str(text)))


def _without_paths(value: Any) -> Any:
    """Return JSON-ready data in which `[path]` stands for every path of a machine, and no address has a password."""
    match value:
        case str():
            return _shown(_HOME.sub("[path]", value) if _HOME.search(value) else value)
        case Mapping():
            return {_shown(key): _without_paths(own) for key, own in value.items()}
        case list() | tuple():
            return [_without_paths(own) for own in value]
    return value


def _leaves(value: Any, key: str = "") -> Iterator[tuple[str, str]]:
    """Yield what data holds, with dotted keys; a list of plain values is one."""
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
    """Return the fields of a stored sheet that its runs do not give.

    Raises:
        UserError: it is no sheet, or one of another version.
    """
    try:
        found = orjson.loads(stored)
        schema = found["schema"]
    except (ValueError, LookupError, TypeError) as error:
        raise UserError(f"{SHEET}: damaged: {error}") from error
    if schema != SCHEMA:
        raise UserError(f"{SHEET}: it has the schema {schema!r}, and this version reads {SCHEMA}")
    made = orjson.loads(sheet.data())
    return sorted(key for key in {**made, **found} if key != WRITTEN_BY and made.get(key) != found.get(key))

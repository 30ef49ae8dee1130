"""Read an episode for the page: its lanes, pictures and calls, its failures, and the verdict of `quorum blame`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

import msgspec

from maeil.trace import Stamped, Trace
from maeil.trace.explanation import explain_failure
from quorum.episode.episode_folder import is_under_way
from quorum.installation.hooks import hook
from quorum.runs.rows import Damaged
from quorum.runs.run_folder import RunFolder
from quorum.storage.run_files import MIB, DamagedFile
from quorum.view.viewer import pages
from quorum.view.viewer.calls import Calls
from quorum.view.viewer.film import film_pages
from quorum.view.viewer.lanes import LaneBuilder
from quorum.view.viewer.lenient_reader import LenientReading
from quorum.view.viewer.pages import WHOLE, Json, MadePages, Pages
from quorum.view.viewer.replayed import Script
from quorum.view.viewer.runs import branched
from quorum.view.viewer.ways import way_pages

BLAME = "blame.json"
_LARGEST = 4 * MIB
_MOST = 100
"""Maximum number of decisions to show in addition to that of the verdict."""
_MOST_BELIEFS = 10_000
_SHORT, _LONG = 200, 4000
"""Maximum characters of a name and of a reason."""

_Number = Annotated[int, msgspec.Meta(ge=0, lt=2**53)]
"""An integer that a browser represents exactly."""


class _Decision(msgspec.Struct, kw_only=True):
    agent: str | None = None
    t: _Number | None = None
    t_hat: float | None = None
    kind: str = ""

    def to_json(self, names: Sequence[str]) -> Json:
        """Return it in the format of the page."""
        agent = names.index(self.agent) if self.agent in names else -1
        who = (self.agent or "")[:_SHORT]
        return {"agent": agent, "who": who, "t": self.t, "t_hat": self.t_hat, "kind": self.kind[:_SHORT]}


class _Tally(msgspec.Struct):
    wins: _Number


class _Cause(_Decision, kw_only=True):
    corrected: _Tally


class _Verdict(_Decision, kw_only=True):
    method: str = ""
    probability: float | None = None
    causes: list[_Cause] = msgspec.field(default_factory=list)
    reruns: _Number = 0
    calls: _Number = 0
    reason: str = ""


class _File(msgspec.Struct):
    verdict: _Verdict


def read_verdict(folder: RunFolder, names: Sequence[str]) -> Json | None:
    """Read the verdict of a run; None if there is none.

    Args:
        folder: folder of the run.
        names: names of its participants, in order.

    Raises:
        ValueError: the file is not such a verdict.
        DamagedFile: it cannot be read.
    """
    data = folder.files.read(BLAME, _LARGEST)
    if data is None:
        return None
    try:
        found = msgspec.json.decode(data, type=_File)
    except (msgspec.MsgspecError, RecursionError) as error:
        raise ValueError(f"{BLAME}: {error}") from error
    verdict = found.verdict
    own = verdict.to_json(names)
    flips = [cause.to_json(names) for cause in verdict.causes if cause.corrected.wins]
    others = [flip for flip in flips if any(flip[key] != own[key] for key in ("who", "t", "t_hat"))]
    return {
        **own,
        "method": verdict.method[:_SHORT],
        "probability": verdict.probability,
        "reruns": verdict.reruns,
        "calls": verdict.calls,
        "reason": verdict.reason[:_LONG],
        "flips": others[:_MOST],
    }


@dataclass(frozen=True)
class Episode:
    """An episode, read.

    Attributes:
        folder: folder of the run.
        overview: facts about the whole episode.
        pages: its events, in ranges of steps.
        film: its pictures, in the same pages; replaying an episode takes longer than reading it.
        ways: where its actions lead, in the same pages; needs a separate replay.
        calls: its calls of language models.
    """

    folder: RunFolder
    overview: Json
    pages: Pages
    film: MadePages
    ways: MadePages
    calls: Calls


def read_episode(path: Path, tell: Callable[[float], None] = lambda _: None) -> Episode:
    """Read the folder of a run in any state; `overview["problems"]` lists what is wrong with it.

    The trace is read once, event by event, and kept in compressed form.

    Args:
        path: path of the folder.
        tell: called now and then with the share of the trace that has been read, from 0 to 1.
    """
    under_way = is_under_way(path)  # checked first: anything written while reading is read the next time
    folder = RunFolder(path)
    reading, calls, script = LenientReading(folder), Calls(folder), Script()
    name = folder.trace_name()
    size = folder.files.size(name) if name is not None else 0
    builder = LaneBuilder(calls, pages.PAGE if size > pages.WHOLE else pages.WHOLE)
    events: list[Stamped] = []
    beliefs: list[Json] = []
    read = reported = 0
    for stamped, line in reading.events():
        read += len(line)
        if read - reported >= MIB:
            reported = read
            tell(min(1.0, read / size))
        builder.take(stamped, len(line))
        if reading.missing is None:
            script.take(stamped, line)
        events.append(stamped)
        if stamped.event.kind == "belief" and len(beliefs) < _MOST_BELIEFS:
            belief: Any = stamped.event
            beliefs.append({"t": stamped.t, "t_hat": stamped.t_hat, **asdict(belief)})
        if read > WHOLE:
            events.clear()  # skip the search for failures in a very long episode
    builder.finish()
    script.finish()
    problems = [*reading.problems(under_way=under_way), *calls.problems]
    if builder.left_out:
        problems.append(
            f"{builder.left_out} events are left out, because their step has more than {pages.FULL // MIB} MiB of them."
        )
    if reading.start is not None and not builder.ended and not under_way:
        problems.append("The trace has no end: the run was stopped, or is still under way.")
    failures: list[Json] | None = None
    why: list[Json] = []
    try:
        if read <= WHOLE:
            trace = Trace(tuple(events))
            why = [sentence.to_json() for sentence in explain_failure(trace)] if events else []
            if (failures_of_trace := hook("failures_of_trace")) is not None:
                failures = failures_of_trace(trace) if events else []
    except Exception as error:  # an untrusted trace may contain anything
        problems.append(f"Failures cannot be detected: the events contradict each other ({type(error).__name__}).")
    events.clear()
    verdict: Json | None = None
    try:
        start = reading.start
        verdict = read_verdict(folder, (*start.agents, *start.coordinators) if start is not None else ())
    except (DamagedFile, ValueError) as error:
        reason = error.brief if isinstance(error, DamagedFile) else str(error)
        problems.append(f"The result of quorum blame cannot be read: {reason[:500]}")
    overview: Json = {
        **_head(folder, reading, problems, simulated=builder.simulated),
        "steps": builder.steps,
        "pages": builder.pages.firsts,
        "breaks": sorted(builder.breaks),
        "failures": failures,
        "why": why,
        "verdict": verdict,
        "beliefs": beliefs,
        "scores": builder.scores,
        "traffic": builder.traffic.rows(),
        "calls": len(calls),
        "size": size,
        "under_way": under_way,
    }
    world = reading.start.world if reading.start is not None else None
    film = film_pages(folder, world, script, builder.pages.firsts, builder.used)
    ways = way_pages(folder, world, script, builder.pages.firsts)
    return Episode(folder, overview, builder.pages, MadePages(film), MadePages(ways), calls)


def _head(folder: RunFolder, reading: LenientReading, problems: list[str], *, simulated: bool) -> Json:
    start = reading.start
    head: Json = {
        "name": folder.path.name,
        "off": branched(folder.path),
        "problems": problems,
        "agents": start.agents if start else (),
        "coordinators": start.coordinators if start else (),
    }
    facts: dict[str, Any] = {}
    if start is not None:
        facts.update(world=start.environment, topology=start.topology, seed=start.seed, clock=start.clock)
    row = folder.row()
    if isinstance(row, Damaged):
        problems.append(f"The configuration and the result of the run cannot be read: {row.reason}")
        unknown: Json = {"minds": {}, "simulated": simulated, "metrics": {}, "configuration": {}}
        return {**head, "facts": facts, **unknown}
    facts.update(outcome=row.outcome, reason=row.reason, error=row.error, version=row.version, start=row.start)
    facts.update(team=row.factors.get("members", ""), models=", ".join(row.models))
    return {
        **head,
        "facts": {key: value for key, value in facts.items() if value not in ("", None)},
        "minds": folder.meta().minds,
        "simulated": simulated or row.simulated,
        "metrics": row.metrics,
        "configuration": row.factors,
    }

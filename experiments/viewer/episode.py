"""An episode as the page shows it: lanes, messages, plans and interruptions, made of its folder alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from quorum.experiments.common.run_files import MIB, DamagedFile
from quorum.experiments.episode.episode_folder import is_under_way
from quorum.experiments.results.rows import Damaged
from quorum.experiments.results.run_folder import RunFolder
from quorum.experiments.viewer import pages
from quorum.experiments.viewer.blame import read_verdict
from quorum.experiments.viewer.calls import CallQueue, Calls
from quorum.experiments.viewer.failures import FailureSearch
from quorum.experiments.viewer.family import branched
from quorum.experiments.viewer.film import Film
from quorum.experiments.viewer.lanes import LaneBuilder
from quorum.experiments.viewer.lenient_reader import LenientReading
from quorum.experiments.viewer.pages import Json, Pages
from quorum.experiments.viewer.script import Script
from quorum.experiments.viewer.way_pages import WayPages


@dataclass(frozen=True)
class Episode:
    """An episode, read.

    Attributes:
        folder: of the run.
        overview: what is known of it as a whole.
        pages: what happened, in runs of steps.
        film: its pictures, by the same pages; to replay an episode takes longer than to read it.
        ways: where its actions lead, by the same pages; a replay of their own.
        calls: its calls of language models.
    """

    folder: RunFolder
    overview: Json
    pages: Pages
    film: Film
    ways: WayPages
    calls: Calls


def read_episode(path: Path, tell: Callable[[float], None] = lambda _: None) -> Episode:
    """Read the folder of a run, whatever state it is in; what is wrong with it stands in `overview["problems"]`.

    The trace is read once, event by event: what there is of it afterwards is packed.

    Args:
        path: of the folder.
        tell: called now and then with the share of the trace that has been read, from 0 to 1.
    """
    under_way = is_under_way(path)  # asked first: what is written while it is read is read the next time
    folder = RunFolder(path)
    reading, calls, script = LenientReading(folder), Calls(folder), Script()
    name = folder.trace_name()
    size = folder.files.size(name) if name is not None else 0
    builder = LaneBuilder(CallQueue(calls), pages.PAGE if size > pages.WHOLE else pages.WHOLE)
    search = FailureSearch()
    read = told = 0
    for stamped, line in reading.events():
        read += len(line)
        if read - told >= MIB:
            told = read
            tell(min(1.0, read / size))
        builder.take(stamped, len(line))
        script.take(stamped, line)
        search.take(stamped, len(line))
    builder.finish()
    script.finish()
    problems = [*reading.problems(under_way=under_way), *calls.problems]
    if builder.left_out:
        problems.append(
            f"{builder.left_out} events are left out: their step has more than {pages.FULL // MIB} MiB of them."
        )
    if reading.start is not None and not builder.ended and not under_way:
        problems.append("The trace has no end: the run was stopped, or is still under way.")
    failures = search.found()
    if search.problem:
        problems.append(search.problem)
    verdict: Json | None = None
    try:
        start = reading.start
        verdict = read_verdict(folder, (*start.agents, *start.coordinators) if start is not None else ())
    except (DamagedFile, ValueError) as error:
        reason = error.brief if isinstance(error, DamagedFile) else str(error)
        problems.append(f"What was found of who made it fail cannot be read: {reason[:500]}")
    overview: Json = {
        **_head(folder, reading, problems, simulated=builder.simulated),
        "steps": builder.steps,
        "pages": builder.pages.firsts,
        "breaks": sorted(builder.breaks),
        "failures": failures,
        "verdict": verdict,
        "scores": builder.scores,
        "traffic": builder.traffic.rows(),
        "calls": len(calls),
        "size": size,
        "under_way": under_way,
    }
    film = Film(folder, script, builder.pages.firsts, builder.used)
    ways = WayPages(folder, script, builder.pages.firsts)
    return Episode(folder, overview, builder.pages, film, ways, calls)


def _head(folder: RunFolder, reading: LenientReading, problems: list[str], *, simulated: bool) -> Json:
    start = reading.start
    head: Json = {
        "name": folder.path.name,
        "off": branched(folder.path),
        "problems": problems,
        "agents": list(start.agents) if start else [],
        "coordinators": list(start.coordinators) if start else [],
        "minds": {},
        "facts": {},
        "simulated": simulated,
        "metrics": {},
        "configuration": {},
    }
    facts: dict[str, Any] = {}
    if start is not None:
        facts.update(world=start.world, topology=start.topology, seed=start.seed, clock=start.clock)
    row = folder.row()
    if isinstance(row, Damaged):
        problems.append(f"What is known of the run as a whole cannot be read: {row.reason}")
        return {**head, "facts": facts}
    facts.update(outcome=row.outcome, reason=row.reason, error=row.error, version=row.version, start=row.start)
    facts.update(team=row.factors.get("members", ""), models=", ".join(row.models))
    return {
        **head,
        "minds": folder.meta().minds,
        "simulated": simulated or row.simulated,
        "facts": {key: value for key, value in facts.items() if value not in ("", None)},
        "metrics": row.metrics,
        "configuration": row.factors,
    }

"""Whether what a run left is whole: every byte of it as it was written, down to the end of the episode."""

from __future__ import annotations

from collections.abc import Iterator

from maeil.trace import read_event
from maeil.trace.events import EpisodeEnd
from quorum.experiments.common.run_files import META, DamagedFile
from quorum.experiments.episode.call_books import CALLS
from quorum.experiments.results.run_folder import CONFIG, METRICS, TRACES, RunFolder
from quorum.experiments.results.run_meta import RunMeta

_SCORED = (CONFIG, TRACES[0], METRICS)
"""What an episode that did not fail has left."""


def check_whole(run: RunFolder) -> RunMeta:
    """Read all files of a run that has ended, and return its `meta.json`.

    Raises:
        DamagedFile: what is wrong, first of all; see `damages`.
    """
    if run.path.is_symlink():
        raise run.files.damaged(META, "not read: its folder is a link, which is not followed")
    meta = run.meta()
    for damage in damages(run, meta):
        raise damage
    return meta


def damages(run: RunFolder, meta: RunMeta) -> Iterator[DamagedFile]:
    """Read all files of a run, and say of each what is wrong with it.

    Each is held against its digest. Versions before 0.10 left none: of their files the form is looked at, and that they
    end as they must. So one that is empty or cut off is found, and one that was changed inside is not.
    """
    if meta.outcome is None or meta.end is None:
        yield run.files.damaged(META, "the run has not ended")
        return
    needed = () if meta.outcome == "error" else _SCORED
    for name in dict.fromkeys((*needed, *(meta.files or _left_by_older_versions(run, meta)))):
        try:
            _check_file(run, meta, name)
        except DamagedFile as damage:
            yield damage


def trace_damage(run: RunFolder) -> str:
    """Say what is wrong with the trace of a run that has one; empty for nothing."""
    try:
        if run.trace_name() is not None:
            _check_file(run, run.meta(), TRACES[0])
    except DamagedFile as damage:
        return damage.brief
    return ""


def _left_by_older_versions(run: RunFolder, meta: RunMeta) -> list[str]:
    """Return what must be there although no digest says so."""
    return [CALLS] if meta.models or run.files.names(CALLS) else []


def _check_file(run: RunFolder, meta: RunMeta, name: str) -> None:
    if meta.files is not None and name not in meta.files:
        raise run.files.damaged(META, f"damaged: it holds no digest of {name}")
    end = run.files.verify(_present(run, name))
    if meta.files is None and not end.endswith(b"\n"):
        raise run.files.damaged(name, "damaged: it is empty" if not end else "damaged: it is cut off")
    if name == TRACES[0] and meta.outcome != "error":
        _check_end(run, meta, end)
    if name == METRICS and meta.files is None:
        run.metrics()


def _present(run: RunFolder, name: str) -> str:
    """Return the name under which a file is there: a trace may have been compressed since."""
    return (run.trace_name() or name) if name == TRACES[0] else name


def _check_end(run: RunFolder, meta: RunMeta, end: bytes) -> None:
    """Make sure that the last line of a trace is the end of the episode, as `meta.json` has it."""
    try:
        event = read_event(end.rstrip(b"\n").rpartition(b"\n")[2]).event
    except (ValueError, RecursionError):
        event = None
    if not isinstance(event, EpisodeEnd):
        raise run.files.damaged(TRACES[0], "damaged: it breaks off before the end of the episode")
    if event.outcome != meta.outcome:
        raise run.files.damaged(TRACES[0], f"damaged: it ends as {event.outcome!r}, and {META} says {meta.outcome!r}")

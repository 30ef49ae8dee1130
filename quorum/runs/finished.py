"""The facts about a finished cell, read from its folder."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from maeil.outcomes import Outcome
from quorum.agents.llm import errors
from quorum.agents.llm.prices import BATCH
from quorum.agents.llm.spending import Spent
from quorum.agents.simulated import FLOORS
from quorum.episode.call_ledger import CALLS, RECORDED
from quorum.installation.provenance import CodeVersion
from quorum.runs.run_folder import METRICS, RunFolder
from quorum.storage.run_files import META, DamagedFile, RunFiles
from quorum_base.inside import list_inside


@dataclass(frozen=True, slots=True)
class FinishedCell:
    """A finished cell.

    Attributes:
        name: name of its folder.
        hash: hash of its configuration.
        outcome: how it ended.
        reason: why it ended early; empty if it did not.
        seconds: wall time.
        spent: usage of its calls; for a branch, only its own calls, without the prefix that another run paid for.
        simulated: whether a simulated model answered, so that the cost is fictitious.
        code: version of the code that ran it.
        completion: share of the goals reached; None if the episode does not report it.
        memory_before: digest of the team's memory at the start; None if there was none.
        memory_after: digest of the team's memory at the end; None if there was none.
    """

    name: str
    hash: str
    outcome: Outcome
    reason: str
    seconds: float
    spent: Spent
    simulated: bool
    code: CodeVersion
    completion: float | None = None
    memory_before: str | None = None
    memory_after: str | None = None

    @property
    def failed(self) -> bool:
        """Whether it ended with an error."""
        return self.outcome == Outcome.ERROR


def read_finished(folder: Path) -> FinishedCell | None:
    """Read a finished cell; None if the folder is missing, unfinished or damaged."""
    try:
        return finished_cell(folder)
    except DamagedFile:
        return None


def finished_cell(folder: Path) -> FinishedCell:
    """Read a finished cell and every byte of its files: an incomplete cell is not done.

    Raises:
        DamagedFile: it is missing, unfinished or damaged; the message says why.
    """
    run = RunFolder(folder)
    meta = run.check_whole()
    try:
        begin, end = meta.milliseconds
        spent = sum(_spent(run), Spent())
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise run.files.damaged(META, f"damaged: {error}") from error
    reason = (meta.error.reason if meta.error is not None else "") or meta.reason
    return FinishedCell(
        name=folder.name,
        hash=meta.hash,
        outcome=meta.outcome or Outcome.ERROR,
        reason=reason,
        seconds=(end - begin) / 1000,
        spent=spent,
        simulated=meta.simulated and (not meta.models or not set(meta.models) <= set(FLOORS)),
        code=meta.code,
        completion=_completion(run),
        memory_before=meta.memory.before if meta.memory is not None else None,
        memory_after=meta.memory.after if meta.memory is not None else None,
    )


def _completion(files: RunFolder) -> float | None:
    with suppress(DamagedFile):
        return files.metrics().get("outcome.completion")
    return None


def read_spent(folder: Path) -> Spent:
    """Return the usage of an episode's calls, even if it did not finish.

    It comes from the metrics or, if there are none, from the calls as far as they can be read. The latter exclude
    answers of batches, which the sweep's journal returns when the episode is played again. A link is not followed and
    counts as zero.
    """
    files, spent = RunFolder(folder), Spent()
    if folder.is_symlink():
        return spent
    with suppress(DamagedFile, ValueError, KeyError, TypeError, AttributeError):
        for part in _spent(files):
            spent += part
    return spent


def read_paid(attempt: Path) -> Spent:
    """Return what a dropped attempt at an episode paid for itself, without answers of a cache or an earlier attempt."""
    return sum(map(spent_on, _paid_calls(attempt)), Spent())


def _paid_calls(attempt: Path) -> Iterator[Mapping[str, Any]]:
    files = RunFiles(attempt)
    if not attempt.is_symlink():
        yield from _calls(files, cached=False, batches=files.exists(METRICS))


def _calls(files: RunFiles, *, cached: bool, batches: bool = True) -> Iterator[Mapping[str, Any]]:
    """Yield the answered calls of an attempt, as far as they can be read: those that it paid for, or the others."""
    if not files.exists(CALLS):
        return
    with suppress(DamagedFile, ValueError, KeyError, TypeError, AttributeError):
        for call in _answered(files, batches=batches):
            if bool(spent_on(call).cached) == cached:
                yield call


RETRIED = ".retried"
"""Subfolder of a sweep: failed or damaged attempts that were repeated, and the paid answers of dropped ones."""


def attempts_at(folder: Path, name: str) -> list[Path]:
    """Return the attempts at a cell that were set aside. A link is not followed, as it may be untrusted."""
    return [folder / RETRIED / name / number for number in list_inside(folder, f"{RETRIED}/{name}")]


_OF_THE_SERVICE = (errors.RequestRefused, errors.Transient, errors.UnknownPrice, errors.InfrastructureFailed)
"""Errors caused by a key, a credit or a server, not by an answer."""


def resumable_attempts(attempts: Iterable[Path]) -> list[Path]:
    """Return the attempts whose answers can be reused: those that were killed, cut, or failed because of the service.

    An attempt may have been killed after writing everything, before its folder was renamed. An attempt that ended with
    another error may have failed because of its answers, so the next one requests new ones.
    """
    return [attempt for attempt in attempts if not attempt.is_symlink() and _resumable(attempt)]


def _resumable(attempt: Path) -> bool:
    try:
        meta = RunFolder(attempt).check_whole()
    except DamagedFile:
        return True
    if meta.files is None or meta.outcome != Outcome.ERROR:  # the record of a stopped or cut attempt has no digests
        return True
    name = meta.error.class_ if meta.error is not None else meta.reason.partition(":")[0]
    kind = getattr(errors, name, None)
    return isinstance(kind, type) and issubclass(kind, _OF_THE_SERVICE)


def dropped_at(folder: Path, name: str) -> Spent:
    """Return what the attempts at a cell that were set aside paid for, except what its run reused.

    The records of the run already contain reused answers.
    """
    returned = Counter(map(_asked, _calls(RunFiles(folder / name), cached=True)))
    spent = Spent()
    attempts = attempts_at(folder, name)
    resumable = resumable_attempts(attempts)
    for attempt in attempts:
        for call in _paid_calls(attempt):
            if attempt in resumable and returned[_asked(call)]:
                returned[_asked(call)] -= 1
            else:
                spent += spent_on(call)
    return spent


def _asked(call: Mapping[str, Any]) -> tuple[Any, Any]:
    """Return the caller and the question of a call."""
    return call.get("agent"), call.get("key")


def dropped_attempts(folder: Path) -> dict[str, Spent]:
    """Return what the attempts that were set aside paid for, by the name of the cell."""
    return {name: dropped_at(folder, name) for name in list_inside(folder, RETRIED) if attempts_at(folder, name)}


def _spent(files: RunFolder) -> Iterator[Spent]:
    if not files.files.exists(CALLS):
        return
    if _branches(files):
        yield from map(spent_on, _answered(files.files, batches=files.files.exists(METRICS)))
        return
    try:
        metrics = files.metrics()
        calls, usd = metrics["model.calls"] or 0, metrics["model.usd"]
        tokens = int(metrics["model.prompt_tokens"] or 0) + int(metrics["model.completion_tokens"] or 0)
    except (DamagedFile, KeyError):
        yield from map(spent_on, _answered(files.files, batches=False))
        return
    answers = int(metrics.get("model.answers", calls) or 0)
    cached = int(metrics.get("model.cached_answers") or 0)
    yield Spent(answers, tokens, usd or 0.0, answers if usd is None else 0, cached)


def _branches(files: RunFolder) -> bool:
    with suppress(DamagedFile):
        return files.meta().origin is not None
    return False


def _answered(files: RunFiles, *, batches: bool) -> Iterator[Mapping[str, Any]]:
    """Yield the answered calls, including those with unusable answers.

    Args:
        files: files of the run.
        batches: whether answers of batches count.
    """
    for line in files.lines(CALLS):
        try:
            call = orjson.loads(line)
        except orjson.JSONDecodeError:
            return  # the last line of an episode that was killed
        reply = _reply(call)
        if reply is not None and (batches or reply.get("tier") != BATCH):
            yield call


def _reply(call: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return the answer to a call, even if it was unusable; None if none was paid for."""
    reply: Mapping[str, Any] | None = call.get("reply") or call["failure"].get("answer", {}).get("record")
    return None if reply is None or reply["wall"].get(RECORDED) else reply


def spent_on(call: Mapping[str, Any]) -> Spent:
    """Return the usage of a recorded call."""
    reply = _reply(call)
    if reply is None:
        return Spent()
    usage, usd, answers = reply["usage"], reply["usd"], reply["repairs"] + 1
    return Spent(
        answers=answers,
        tokens=usage["prompt"] + usage["completion"],
        usd=usd or 0.0,
        unpriced=answers if usd is None else 0,
        cached=answers if reply["wall"]["cache_hit"] else 0,
    )

"""Records every model call of an episode: writes the log and the images, and keeps the budget."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO

import orjson

from quorum.agents.llm.pictures import Picture
from quorum.agents.llm.recording import Folding
from quorum.agents.llm.records import WALL
from quorum.agents.llm.resumed_answers import ResumedAnswers
from quorum.agents.llm.spending import Allowance, Budget, Spending, Spent
from quorum.configuration.schema import Configuration
from quorum.storage.run_files import PICTURES, DamagedFile, RunFiles, picture_file
from quorum_base.inside import make_inside, open_inside, remove_inside, write_inside

CALLS = "calls.jsonl"
"""The file of an episode that holds its calls."""
RECORDED = "recorded"
"""Field of `wall` that marks an answer from the recorded prefix of a branch, which the recorded run paid for."""


def records_of(call: Mapping[str, Any]) -> int:
    """Return the number of records of a call in the trace: one for each request, including repeated ones."""
    answers = call.get("answers", int("completion_tokens" in call))
    return (answers if isinstance(answers, int) else 1) + ("unanswered" in call) or 1


def spent_in(calls: Iterable[Mapping[str, Any]]) -> Spent:
    """Return the usage of a thought's calls, from its trace."""
    return sum(
        (
            Spent(
                records_of(call),
                call.get("prompt_tokens", 0) + call.get("completion_tokens", 0),
                call.get("usd") or 0.0,
            )
            for call in calls
        ),
        Spent(),
    )


def budget_of(configuration: Configuration) -> Budget:
    """Return the budget for the calls of an episode."""
    budget = configuration.budget
    return Budget(budget.usd, budget.tokens, budget.calls)


def _paid_calls(attempt: Path) -> Iterator[Mapping[str, Any]]:
    """Yield the records of an attempt's paid calls. Its last line may be truncated. Symlinks are not followed."""
    if attempt.is_symlink():
        return
    try:
        for line in RunFiles(attempt).lines(CALLS):
            call = orjson.loads(line)
            wall = call["reply"][WALL] if "reply" in call else {RECORDED: True}
            if not (wall.get(RECORDED) or wall["cache_hit"]):
                yield call
    except (FileNotFoundError, DamagedFile, ValueError, LookupError, TypeError, AttributeError):
        return


class CallLedger:
    """The call records of an episode.

    Args:
        configuration: configuration of the episode, which has its budget.
        folder: where to write `calls.jsonl` and the images of prompts, from the first model call on; None: record
            nothing.
        attempts: folders of earlier attempts whose paid answers are reused instead of being requested again.
        allowance: what the episode may draw from the sweep's budget; None: no limit.
    """

    def __init__(
        self,
        configuration: Configuration,
        folder: Path | None,
        attempts: Sequence[Path] = (),
        allowance: Allowance | None = None,
    ) -> None:
        self.allowance = allowance
        """What the episode may draw from the sweep's budget."""
        self.spending = Spending(budget_of(configuration))
        """The budget and its use."""
        self.given = ResumedAnswers(call for attempt in attempts for call in _paid_calls(attempt))
        """Answers of earlier attempts that have not been reused yet."""
        self._attempts = attempts
        self._folder = folder
        self._kept: set[str] = set()
        self._file: BinaryIO | None = None
        self._folding = Folding()

    def enter(self, record: Mapping[str, Any]) -> None:
        """Write the record of a call."""
        if self._folder is None:
            return
        if self._file is None:
            # Only the user may read it: prompts and answers are private.
            handle = open_inside(self._folder, CALLS, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            self._file = os.fdopen(handle, "wb")
        self._file.write(self._folding.line(record))
        self._file.flush()

    def enter_recorded(self, record: Mapping[str, Any]) -> None:
        """Write the record of a call that another run paid for, and mark it as recorded."""
        reply = record.get("reply")
        if reply is not None:
            record = {**record, "reply": {**reply, WALL: {**reply[WALL], RECORDED: True}}}
        self.enter(record)

    def keep(self, picture: Picture) -> None:
        """Save an image of a prompt atomically, unless it already exists.

        Raises:
            OSError: it cannot be written.
        """
        if self._folder is None or picture.hash in self._kept:
            return
        make_inside(self._folder, PICTURES, 0o700)  # prompts are private
        write_inside(self._folder, {picture_file(picture.hash): picture.png}, 0o600, synced=False)
        self._kept.add(picture.hash)

    def settle(self) -> None:
        """Remove the earlier attempts once the episode has reused all their answers and so records them itself."""
        for attempt in self._attempts if not self.given else ():
            remove_inside(attempt.parent, attempt.name)

    def close(self) -> None:
        """Close the file of the calls."""
        if self._file is not None:
            self._file.close()

"""What all calls of an episode are entered in, whoever answers them: their file, their pictures, its budget."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO

import orjson

from quorum.agents.llm.given_back import GivenBack
from quorum.agents.llm.pictures import Picture
from quorum.agents.llm.recording import Folding
from quorum.agents.llm.records import WALL
from quorum.agents.llm.spending import Allowance, Budget, Spending, Spent
from quorum.configuration.schema import Configuration
from quorum.storage.run_files import PICTURES, DamagedFile, RunFiles, picture_file
from quorum_base.inside import make_inside, open_inside, remove_inside, write_inside

CALLS = "calls.jsonl"
"""The file of an episode that holds its calls."""
RECORDED = "recorded"
"""Field of `wall` of an answer that stands in the beginning which a branch has of its run: it was paid for there."""


def records_of(call: Mapping[str, Any]) -> int:
    """Return how many records a call of the trace has: one for each request, asking again for an answer among them."""
    answers = call.get("answers", int("completion_tokens" in call))
    return (answers if isinstance(answers, int) else 1) + ("unanswered" in call) or 1


def spent_in(calls: Iterable[Mapping[str, Any]]) -> Spent:
    """Return what the calls of a thought took, by its trace."""
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
    """Return what the calls of an episode may take."""
    budget = configuration.budget
    return Budget(budget.usd, budget.tokens, budget.calls)


def _paid_calls(attempt: Path) -> Iterator[Mapping[str, Any]]:
    """Yield the records of what an attempt has paid for; its last line may be cut off. A link is not followed."""
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


class CallBooks:
    """The books of an episode.

    Args:
        configuration: of the episode, which has its budget.
        folder: where `calls.jsonl` is written when a model is first asked, as are the pictures of prompts;
            None: nothing is recorded.
        attempts: folders of earlier attempts whose answers are given back: what they have paid for is not asked for
            again.
        allowance: what may be drawn of the budget of a sweep; None: any amount.
    """

    def __init__(
        self,
        configuration: Configuration,
        folder: Path | None,
        attempts: Sequence[Path] = (),
        allowance: Allowance | None = None,
    ) -> None:
        self.allowance = allowance
        """What may be drawn of the budget of a sweep."""
        self.spending = Spending(budget_of(configuration))
        """The budget, and what is used of it."""
        self.given = GivenBack(call for attempt in attempts for call in _paid_calls(attempt))
        """Answers of the earlier attempts that were not asked for yet."""
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
            # Only its user may read it: prompts and answers are nobody else's.
            handle = open_inside(self._folder, CALLS, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            self._file = os.fdopen(handle, "wb")
        self._file.write(self._folding.line(record))
        self._file.flush()

    def enter_recorded(self, record: Mapping[str, Any]) -> None:
        """Write the record of a call that another run has paid for, and say so of what answered it."""
        reply = record.get("reply")
        if reply is not None:
            record = {**record, "reply": {**reply, WALL: {**reply[WALL], RECORDED: True}}}
        self.enter(record)

    def keep(self, picture: Picture) -> None:
        """Keep a picture of a prompt, whole or not at all, unless it is there.

        Raises:
            OSError: it cannot be written.
        """
        if self._folder is None or picture.hash in self._kept:
            return
        make_inside(self._folder, PICTURES, 0o700)  # prompts are nobody else's
        write_inside(self._folder, {picture_file(picture.hash): picture.png}, 0o600, synced=False)
        self._kept.add(picture.hash)

    def settle(self) -> None:
        """Remove the earlier attempts once the episode has got all their answers back, and so holds them itself."""
        for attempt in self._attempts if not self.given else ():
            remove_inside(attempt.parent, attempt.name)

    def close(self) -> None:
        """Close the file of the calls."""
        if self._file is not None:
            self._file.close()

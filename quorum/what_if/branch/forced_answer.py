"""An answer that a branch gives in place of the recorded one, to the same request."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

_DIGEST = 16
"""Hexadecimal digits that identify an answer."""
ANSWER = "--answer"
"""Marks a forced answer among the recorded changes of a branch; it is not an option of a command."""


@dataclass(frozen=True, slots=True)
class ForcedAnswer:
    """The answer to a participant's first request from the branch point on, which the run recorded.

    The replay compares the request with the recorded one, so a branch whose prompt differs by a byte fails.

    Attributes:
        participant: its name.
        digest: identifies the text of the answer.
        line: number of the recorded answer in `calls.jsonl`; -1: the record already holds this answer.
        reply: the reply in the form of `calls.jsonl`; its tokens take as much cognitive time as when it was sampled.
    """

    participant: str
    digest: str
    line: int = -1
    reply: Mapping[str, Any] | None = None

    @classmethod
    def of(cls, participant: str, line: int, reply: Mapping[str, Any]) -> ForcedAnswer:
        """Return the answer of a sampled reply."""
        return cls(participant, sha256(reply["text"].encode()).hexdigest()[:_DIGEST], line, reply)

    @classmethod
    def read(cls, text: str) -> ForcedAnswer:
        """Return the answer that a recorded branch was forced to give, as its origin names it."""
        participant, _, digest = text.rpartition(":")
        return cls(participant, digest)

    def __str__(self) -> str:
        return f"{ANSWER} {self.participant}:{self.digest}"

    @property
    def replies(self) -> Mapping[int, Mapping[str, Any]]:
        """The reply by the number of the record that it replaces."""
        return {self.line: self.reply} if self.reply is not None else {}

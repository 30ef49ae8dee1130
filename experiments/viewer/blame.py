"""What `quorum blame` has left in the folder of a run: its verdict. The file may be a stranger's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import msgspec

from quorum.experiments.common.run_files import MIB
from quorum.experiments.results.run_folder import RunFolder
from quorum.experiments.viewer.pages import Json

BLAME = "blame.json"
_LARGEST = 4 * MIB
_MOST = 100
"""Decisions that are shown beside that of the verdict."""
_SHORT, _LONG = 200, 4000
"""Characters of a name and of a reason that are shown."""

_Number = Annotated[int, msgspec.Meta(ge=0, lt=2**53)]
"""A number that is the same in a browser."""


class _Decision(msgspec.Struct, kw_only=True):
    agent: str | None = None
    t: _Number | None = None
    t_hat: float | None = None
    kind: str = ""

    def plain(self, names: Sequence[str]) -> Json:
        """Return it as the page has it."""
        agent = names.index(self.agent) if self.agent in names else -1
        who = (self.agent or "")[:_SHORT]
        return {"agent": agent, "who": who, "t": self.t, "t_hat": self.t_hat, "kind": self.kind[:_SHORT]}


class _Verdict(_Decision, kw_only=True):
    method: str = ""
    confidence: float | None = None
    reruns: _Number = 0
    calls: _Number = 0
    reason: str = ""


class _File(msgspec.Struct):
    verdict: _Verdict
    flips: list[_Decision] = msgspec.field(default_factory=list)


def read_verdict(folder: RunFolder, names: Sequence[str]) -> Json | None:
    """Read the verdict of a run; None where there is none.

    Args:
        folder: of the run.
        names: of its participants, in their order.

    Raises:
        ValueError: the file is no such verdict.
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
    own = verdict.plain(names)
    flips = [flip.plain(names) for flip in found.flips]
    others = [flip for flip in flips if any(flip[key] != own[key] for key in ("who", "t", "t_hat"))]
    return {
        **own,
        "method": verdict.method[:_SHORT],
        "confidence": verdict.confidence,
        "reruns": verdict.reruns,
        "calls": verdict.calls,
        "reason": verdict.reason[:_LONG],
        "flips": others[:_MOST],
    }

"""Which runs an export has, and which of them are for evaluation."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from quorum.runs import Results, Row
from quorum.runs.sql import ask, result_types
from quorum_base.user_errors import UserError

_NAME = re.compile(r"""'[^']*'|"[^"]*"|[A-Za-z_]\w*(?:\.\w+)+""")
"""A text, a quoted name, or a name with dots; only the last of them may need quotes."""


def matching(rows: Sequence[Row], where: str) -> tuple[Row, ...]:
    """Return the rows that meet a condition.

    Args:
        rows: rows of results.
        where: a condition in SQL over the tables of `quorum results --sql`. Names of columns with dots need no quotes.

    Raises:
        UserError: DuckDB is not installed or rejects the condition, or no row meets it.
    """
    columns = result_types(rows)
    quoted = _NAME.sub(lambda found: f'"{found[0]}"' if found[0] in columns else found[0], where)
    results = Results(Path(), None, tuple(rows), (), 0, ())
    met = set(ask([results], f"select name, arm from results where (\n{quoted}\n)", "--where").rows)
    found = tuple(row for row in rows if (row.name, row.arm) in met)
    if not found:
        raise UserError(f"--where {where!r}: no run meets this condition", "`quorum results` shows their columns.")
    return found


@dataclass(frozen=True, slots=True)
class Split:
    """Keeps the runs of some boards for evaluation, by their seeds alone.

    A board stays on its side when others are added, and all runs of a board are on one side, in whichever world.

    Attributes:
        share: the share of all boards, above 0 and below 1.
    """

    share: float

    @classmethod
    def of(cls, text: str) -> Split:
        """Read `boards=SHARE`.

        Raises:
            UserError: it is something else.
        """
        found = re.fullmatch(r"boards=(0?\.\d+)", text)
        if found is None or not float(found[1]):
            raise UserError(f"--split {text}: give a share between 0 and 1", "Such as --split boards=0.1.")
        return cls(float(found[1]))

    def evaluates(self, board: int) -> bool:
        """Whether a board is for evaluation."""
        return self.place(board) < self.share

    @staticmethod
    def place(board: int) -> float:
        """Return the place of a board among all boards, from 0 to below 1: the smallest shares have the first ones."""
        return int.from_bytes(sha256(b"%d" % board).digest()[:6], "big") / (1 << 48)

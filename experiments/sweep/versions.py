"""Results of different code do not belong into one table: a sweep sees to it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from maeil.user_errors import UserError
from quorum.experiments.common.provenance import CodeVersion
from quorum.experiments.sweep.finished import Done


def check_versions(folder: Path, done: Iterable[Done], present: CodeVersion) -> None:
    """Refuse to add results to those of another version or commit.

    Raises:
        UserError: cells in the folder were run with another version, another commit, or other changes to one.
    """
    others = Counter(str(cell.code) for cell in done if cell.code != present)
    if others:
        listing = "; ".join(f"{number} cells with version {code}" for code, number in sorted(others.items()))
        raise UserError(
            f"{folder}: it holds results of other code: {listing}. This is version {present}.",
            "Start anew with --name NAME, go on with the old code, or take both together: --accept-versions.",
        )

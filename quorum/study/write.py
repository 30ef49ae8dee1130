"""Write the files of a study next to its runs: facts as JSON, a page, a disclosure sheet, and one bundle of all."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from quorum.comparison.formats import as_markdown
from quorum.comparison.statistics.intervals import Estimate
from quorum.installation.version import __version__
from quorum.storage.files import write_all
from quorum.study.bundle import write_bundle
from quorum.study.findings import findings
from quorum.study.page import PAGE, page
from quorum.study.play import Played
from quorum.study.record import STUDY, write_record
from quorum.study.sheet import PAGE as SHEET_PAGE
from quorum.study.sheet import SHEET, write_sheet
from quorum.study.tables import tables

TABLES = "tables.md"


def write_study(played: Played) -> list[Path]:
    """Write all files of a study into the existing folder of its runs.

    Raises:
        UserError: a file cannot be written.
    """
    folder = played.analysis.study.folder
    write_record(folder, facts(played), played.record)
    files = {PAGE: page(played), TABLES: as_markdown(tables(played), findings(played))}
    write_all(folder, {name: text.encode() for name, text in files.items()}, "Give another folder: --out DIR.")
    write_sheet(folder)
    return [*(folder / name for name in (STUDY, PAGE, TABLES, SHEET, SHEET_PAGE)), write_bundle(folder)]


def facts(played: Played) -> dict[str, Any]:
    """Return the definition and the findings of a study, JSON-ready."""
    analysis = played.analysis
    study = analysis.study
    return {
        "quorum": __version__,
        "question": study.request.question,
        "asks": study.question.asks,
        "command": study.request.command,
        "metrics": list(study.metrics),
        "treatment": list(study.treatment.words),
        "arms": {
            name: {"words": list(arm.words), "draws": list(arm.draws), "says": arm.says}
            for name, arm in study.arms.items()
        },
        "not_played": dict(study.skipped),
        "until": study.request.until,
        "boards": analysis.boards,
        "simulated": analysis.simulated,
        "left_out": dict(analysis.left_out),
        "noise_floor": _number(analysis.floor),
        "effects": {
            effect.file.name: {
                "arms": [effect.file.plus, effect.file.minus],
                "difference": _ends(effect.difference.mean),
                "p": _number(effect.difference.p),
                "p_holm": _number(effect.difference.p_holm),
                "verdict": str(effect.verdict),
            }
            for effect in analysis.effects
        },
        "room": {arm: {"share": _ends(one.share), "room": _ends(one.room)} for arm, one in analysis.room.items()},
        "prompts": [asdict(audit) for audit in played.audits],
        "findings": findings(played),
    }


def _ends(found: Estimate) -> Mapping[str, float | int | None]:
    return {name: _number(value) if isinstance(value, float) else value for name, value in asdict(found).items()}


def _number(value: float) -> float | None:
    return None if math.isnan(value) else float(value)

"""The data set of preference pairs as files: rows for trainers, and a card that says where they come from."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence

import orjson

from maeil.metrics import METRICS
from quorum.comparison.statistics.intervals import Estimate
from quorum.display.sanitize import sanitize
from quorum.installation.version import __version__
from quorum.what_if.preferences.pairs import Pairs

CARD, TRAIN, EVAL = "README.md", "train.jsonl", "eval.jsonl"
"""Names of the files; the last one only with a split."""


def files_of(name: str, pairs: Pairs, evaluates: Callable[[int], bool] | None = None) -> Mapping[str, bytes]:
    """Return the files of a data set by name: one row for each pair, and the card.

    Args:
        name: name of the data set.
        pairs: the pairs.
        evaluates: whether a board is for evaluation, by its seed; None: there is no split.
    """
    rows = {TRAIN: b"", **({EVAL: b""} if evaluates is not None else {})}
    for row in pairs.rows:
        side = EVAL if evaluates is not None and evaluates(row["board"]) else TRAIN
        rows[side] += orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE)
    return {**rows, CARD: "\n".join(_card(name, pairs, list(rows))).encode() + b"\n"}


def figures_of(pairs: Pairs) -> dict[str, str]:
    """Return the figures of a data set, by label."""
    design, metric = pairs.design, METRICS[pairs.design.outcome]
    found = {
        "runs": f"{pairs.runs:,}",
        "decisions": f"{pairs.decisions:,} measured, {pairs.unfinished:,} not measured yet",
        "answers": f"{pairs.answers:,} distinct, including the recorded ones",
        "pairs": f"{len(pairs.rows):,}",
        "ties, left out": f"{pairs.ties:,}",
        "replies not of the requested form, left out": f"{pairs.unusable:,}",
        "outcome": f"{metric.name}, {metric.better} is better: mean over {design.draws} draws",
    }
    if pairs.rows:
        found["mean margin on the draws that chose"] = _shown(pairs.mean("margin"))
        if design.fresh:
            found[f"mean margin on {design.fresh} fresh draws"] = _shown(pairs.mean("fresh_margin"))
    return found


def _shown(margin: Estimate) -> str:
    interval = "" if math.isnan(margin.low) else f", 95 % interval {margin.low:.3g} to {margin.high:.3g}"
    return f"{margin.value:.3g}{interval}"


def _card(name: str, pairs: Pairs, sides: Sequence[str]) -> Iterator[str]:
    rows = pairs.rows
    models = Counter(sanitize(f"{row['model']}{' (simulated)' * row['simulated']}", 80) for row in rows)
    yield from ("---", f"pretty_name: {json.dumps(name)}", "license: unknown")
    yield from ("tags: [quorum, multi-agent, preferences]", "configs:", "- config_name: default", "  data_files:")
    yield from (f"  - split: {side.partition('.')[0]}\n    path: {side}" for side in sides)
    yield from ("---", "", "# Preference pairs of a team of agents", "")
    yield f"Exported by Quorum {__version__} for preference training. Both answers of a pair answer the same prompt,"
    yield "byte for byte (`prompt_digest`). Each was played to the end of the episode in the same draws of luck."
    yield "`margin` is how much better the chosen answer did, in units of the outcome; `low` and `high` are the ends of"
    yield "its paired 95 % interval over draws, and null with too few draws."
    yield from ("", "Fill in `license` above: the terms of the models that wrote the answers apply.", "")
    yield from ("| | |", "|---|---|")
    yield from (f"| {label} | {figure} |" for label, figure in figures_of(pairs).items())
    yield from (
        f"| pairs of the model {model.replace('|', '')} | {count:,} |" for model, count in sorted(models.items())
    )
    yield from (f"| boards in all pairs | {len({row['board'] for row in rows}):,} |", "")
    yield "The margin on the draws that chose is too large on average, because the same draws decided which answer is"
    yield "called better. Fresh draws had no part in that choice: their mean is the effect to expect. The intervals of"
    yield "both means are over decisions."
    if any(row["simulated"] for row in rows):
        yield from ("", "**A simulated model, which is no language model but rules, wrote answers of this data set.**")

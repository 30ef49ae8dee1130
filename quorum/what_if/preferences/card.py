"""The data set of preference pairs as files: rows for trainers, and a card that says where they come from."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence

import orjson

from maeil.metrics import METRICS
from quorum.comparison.statistics.intervals import Estimate
from quorum.what_if.preferences.pairs import Pairs

FILES = TRAINING, CARD = ("train.jsonl", "README.md")
"""Names of the files."""
EVALUATION = "test.jsonl"
"""Name of the file of the boards that a split keeps for evaluation."""


def files_of(pairs: Pairs, evaluates: Callable[[int], bool] | None = None) -> Mapping[str, bytes]:
    """Return the files of a data set by name: one row for each pair, and the card.

    Args:
        pairs: the pairs.
        evaluates: whether a board is for evaluation; None: there is no split.
    """
    rows = {TRAINING: b"", **({EVALUATION: b""} if evaluates is not None else {})}
    for pair in pairs.pairs:
        name = EVALUATION if evaluates is not None and evaluates(pair.board) else TRAINING
        rows[name] += orjson.dumps(pair.row, option=orjson.OPT_APPEND_NEWLINE)
    return {**rows, CARD: "\n".join(_card(pairs, list(rows))).encode() + b"\n"}


def figures_of(pairs: Pairs) -> dict[str, str]:
    """Return the figures of a data set, by label."""
    design, metric = pairs.design, METRICS[pairs.design.outcome]
    found = {
        "runs": f"{pairs.runs:,}",
        "decisions": f"{pairs.decisions:,} measured, {pairs.unfinished:,} not measured yet",
        "answers": f"{pairs.answers:,} distinct, including the recorded ones",
        "pairs": f"{len(pairs.pairs):,}",
        "ties, left out": f"{pairs.ties:,}",
        "replies not of the requested form, left out": f"{pairs.unusable:,}",
        "outcome": f"{metric.name}, {metric.better} is better: mean over {design.draws} draws",
    }
    if pairs.pairs:
        choosing, fresh = pairs.mean_margins()
        found["mean margin on the draws that chose"] = _shown(choosing)
        if fresh is not None:
            found[f"mean margin on {design.fresh} fresh draws"] = _shown(fresh)
    return found


def _shown(margin: Estimate) -> str:
    interval = "" if math.isnan(margin.low) else f", 95 % interval {margin.low:.3g} to {margin.high:.3g}"
    return f"{margin.value:.3g}{interval}"


def _card(pairs: Pairs, names: Sequence[str]) -> Iterator[str]:
    rows = [pair.row for pair in pairs.pairs]
    simulated = any(row["simulated"] for row in rows)
    yield from ("---", "configs:", "- config_name: default", "  data_files:")
    yield from (f"  - split: {name.partition('.')[0]}\n    path: {name}" for name in names)
    yield f"tags: [preferences, dpo{', simulated' * simulated}]"
    yield from ("---", "", "# Preference pairs of a team", "")
    yield "Both answers of a pair answer the same prompt, byte for byte (`prompt_digest`). Each was played to the end"
    yield "of the episode in the same draws of luck. `margin` is how much better the chosen answer did, in units of the"
    yield "outcome, with the ends of its paired 95 % interval over draws (`low`, `high`; null with too few draws)."
    yield from ("", "| | |", "|---|---|")
    yield from (f"| {label} | {figure} |" for label, figure in figures_of(pairs).items())
    models = sorted({f"{row['model']}{' (simulated)' * row['simulated']}" for row in rows})
    yield f"| models that wrote the answers | {', '.join(models) or 'none'} |"
    yield f"| boards | {len({row['board'] for row in rows}):,} |"
    yield from ("", "The margin on the draws that chose is too large on average, because the same draws decided which")
    yield "answer is called better. Fresh draws had no part in that choice, so their mean is the effect to expect. The"
    yield "intervals of both means are over decisions."
    if simulated:
        yield from ("", "A simulated model wrote answers of this data set: it shows the method, not what models do.")

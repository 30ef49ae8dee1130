"""A log of Inspect AI (https://inspect.aisi.org.uk/eval-logs.html), version 2: an episode is a sample.

Scores are metrics. A sample has the prompts and answers of all participants as messages, in the order of the answers;
each system message appears once.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from hashlib import sha256
from math import fsum
from pathlib import Path
from typing import Any

import orjson

from quorum.runs.results_folder import metric_columns
from quorum.view.export.episodes import Episode, Runs

FILES: tuple[str, ...] = ("inspect.json",)
TEXTS = False
_USAGE = {
    "input_tokens": "prompt_tokens", "output_tokens": "completion_tokens", "input_tokens_cache_read": "cached_tokens",
    "reasoning_tokens": "reasoning_tokens",
}  # fmt: skip


def write(runs: Runs, folder: Path) -> None:
    """Write the log into a folder, sample by sample.

    Raises:
        UserError: a run cannot be read.
    """
    with (folder / FILES[0]).open("wb") as file:
        file.write(orjson.dumps(_head(runs))[:-1] + b',"samples":[')
        for number, episode in enumerate(runs.episodes()):
            file.write(b"," * bool(number) + episode.json(_sample(episode)))
        file.write(b"]}\n")


def _head(runs: Runs) -> dict[str, Any]:
    names = list(dict.fromkeys(row.name for row in runs.rows))
    models = dict.fromkeys(model for row in runs.rows for model in row.models)
    scores = []
    for name in metric_columns(runs.rows):
        found = (row.metrics.get(name) for row in runs.rows if row.pooled)
        values = [value for value in found if value is not None]
        if values:
            mean = {"name": "mean", "value": fsum(values) / len(values)}
            scores.append({"name": name, "scorer": name, "metrics": {"mean": mean}})
    return {
        "version": 2,
        "status": "success",
        "eval": {
            "eval_id": sha256("\n".join([runs.name, *names]).encode()).hexdigest()[:22],
            "created": min(row.start for row in runs.rows),
            "task": runs.name,
            "dataset": {"name": runs.name, "samples": len(names)},
            "model": ", ".join(models) or "none",
            "config": {},
        },
        "results": {"total_samples": len(names), "completed_samples": len(names), "scores": scores},
    }


def _sample(episode: Episode) -> dict[str, Any]:
    row = episode.row
    usage: defaultdict[str, Counter[str]] = defaultdict(Counter)
    said: set[str] = set()
    messages: list[dict[str, Any]] = []
    for call in episode.calls():
        if "model" in call:
            spent = {field: call[column] for field, column in _USAGE.items()}
            usage[call["model"]].update({**spent, "total_tokens": call["prompt_tokens"] + call["completion_tokens"]})
        messages += _messages(call, said) if episode.texts else ()
    return {
        "id": row.name,
        "epoch": 1,
        "input": f"{row.factors.get('env.name')} n={row.factors.get('n')} seed={row.seed}",
        "target": "success",
        "messages": messages,
        "scores": {name: {"value": value} for name, value in row.metrics.items() if value is not None},
        "metadata": {"outcome": row.outcome, **row.shown_factors},
        "model_usage": usage,
        "started_at": episode.meta.start,
        "completed_at": episode.meta.end,
        **({"error": {"message": row.error, "traceback": "", "traceback_ansi": ""}} if row.failed else {}),
    }


def _messages(call: Mapping[str, Any], said: set[str]) -> Iterator[dict[str, Any]]:
    place = {"agent": call["agent"], "t": call["t"]}
    for message in call["messages"]:
        if message["role"] != "system" or message["content"] not in said:
            yield {**message, "metadata": place}
    said |= {message["content"] for message in call["messages"] if message["role"] == "system"}
    if call["answer"] is not None:
        yield {"role": "assistant", "content": call["answer"], "model": call["model"], "metadata": place}

"""A log of Inspect AI (https://inspect.aisi.org.uk/eval-logs.html), version 2: an episode is a sample.

Scores are metrics. A sample has the prompts and answers of all participants as messages, in the order in which they
were answered; what the system says is there once.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from hashlib import sha256
from math import fsum
from pathlib import Path
from typing import Any

import orjson

from quorum.experiments.common.version import __version__
from quorum.experiments.export.episodes import Call, Episode, Runs

FILES = ("inspect.json",)


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
    started = min(row.start for row in runs.rows)
    values: defaultdict[str, list[float]] = defaultdict(list)
    for row in runs.rows:
        for name, value in row.metrics.items() if row.pooled else ():
            if value is not None:
                values[name].append(value)
    scores = [
        {
            "name": name,
            "scorer": name,
            "scored_samples": len(found),
            "metrics": {"mean": {"name": "mean", "value": fsum(found) / len(found)}},
        }
        for name, found in values.items()
    ]
    return {
        "version": 2,
        "status": "success",
        "eval": {
            "eval_id": sha256("\n".join([runs.name, *names]).encode()).hexdigest()[:22],
            "created": started,
            "task": runs.name,
            "dataset": {"name": runs.name, "samples": len(names), "sample_ids": names},
            "model": ", ".join(models) or "none",
            "config": {},
            "packages": {"quorum-harness": __version__},
        },
        "results": {"total_samples": len(names), "completed_samples": len(names), "scores": scores},
        "stats": {"started_at": started},
    }


def _sample(episode: Episode) -> dict[str, Any]:
    row, (begin, end) = episode.row, episode.milliseconds
    usage: defaultdict[str, Counter[str]] = defaultdict(Counter)
    said: set[str] = set()
    messages: list[dict[str, Any]] = []
    for call in episode.calls():
        if model := call.record.get("model"):
            spent = {
                "input_tokens": call.record["prompt_tokens"],
                "output_tokens": call.record["completion_tokens"],
                "input_tokens_cache_read": call.record["cached_tokens"],
                "reasoning_tokens": call.record["reasoning_tokens"],
            }
            usage[model].update({**spent, "total_tokens": spent["input_tokens"] + spent["output_tokens"]})
        if episode.texts:
            messages += _messages(call, said)
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
        "total_time": (end - begin) / 1000,
        **({"error": {"message": row.error, "traceback": "", "traceback_ansi": ""}} if row.error else {}),
    }


def _messages(call: Call, said: set[str]) -> Iterator[dict[str, Any]]:
    place = {"agent": call.agent, "t": call.t}
    for message in call.messages:
        if message["role"] != "system" or message["content"] not in said:
            yield {**message, "metadata": place}
        if message["role"] == "system":
            said.add(message["content"])
    if call.answer is not None:
        yield {"role": "assistant", "content": call.answer, "model": call.record["model"], "metadata": place}

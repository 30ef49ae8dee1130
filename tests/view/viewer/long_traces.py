"""Long traces, made of a short one that is repeated: times, numbers of messages and names of plans go on.

`python -m tests.view.viewer.long_traces RUN` reports the number of pages of a run, and how many MiB the viewer
takes to read its trace and to give each page.
"""

from __future__ import annotations

import resource
import shutil
import sys
from pathlib import Path
from typing import Any

import orjson

from quorum.view.viewer.episode import read_episode


def repeated(run: Path, target: Path, size: int) -> Path:
    """Write a run whose trace has at least so many bytes; its world can be replayed for the first round only."""
    target.mkdir()
    shutil.copy(run / "config.yaml", target)
    start, *body, end = map(orjson.loads, (run / "trace.jsonl").read_bytes().splitlines())
    steps = sum(event["event"] == "step" for event in body)
    messages = sum(event["event"] == "message_sent" for event in body)
    hours = max(event["t_hat"] for event in body)
    written, seq, turn = 0, 1, 0
    with open(target / "trace.jsonl", "wb") as file:
        file.write(_line(start))
        while written < size:
            for event in body:
                written += file.write(_line(_later(event, seq, turn, steps, messages, hours)))
                seq += 1
            turn += 1
        file.write(_line({**end, "seq": seq, "t": turn * steps, "steps": turn * steps}))
    return target


def _later(event: dict[str, Any], seq: int, turn: int, steps: int, messages: int, hours: float) -> dict[str, Any]:
    later = {**event, "seq": seq, "t": event["t"] + turn * steps, "t_hat": event["t_hat"] + turn * hours}
    if "message" in event:
        later["message"] += turn * messages
    if "delivered_at" in event:
        later["delivered_at"] += turn * hours
    if "plan" in event:
        later["plan"] += f".{turn}"
    return later


def _line(event: dict[str, Any]) -> bytes:
    return orjson.dumps(event) + b"\n"


def _mebibytes() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    run = Path(sys.argv[1])
    begin = _mebibytes()
    episode = read_episode(run)
    for number in range(len(episode.pages)):
        episode.pages.data(number)
    sys.stdout.write(f"{len(episode.pages)} {_mebibytes() - begin:.0f}\n")

"""Runs to export, with a canary wherever a model or a mind has written something."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from quorum.agents.llm.recording import unfolded
from quorum.storage.outputs import RUN_FILES
from tests.folders import real_sweep

CANARY = "canary-7d1f"
TEAM = ("agents=naive", "topology=debate", "n=2", "max_steps=6")
_WRITTEN = {
    "thought_start": ("problems",),
    "thought_end": ("refused",),
    "message_sent": ("content",),
    "plan": ("reason", "rationale"),
    "action": ("reason",),
    "episode_end": ("reason",),
}
"""Fields of events that can hold what a model has written, or quote it."""


def sweep_with_canaries(folder: Path) -> Path:
    """Play two boards, and let all that was said be a canary."""
    real_sweep(folder, [[*TEAM, f"seed={seed}"] for seed in (0, 1)])
    for meta in folder.glob("*/meta.json"):
        say_canaries(meta.parent)
    return folder


def say_canaries(run: Path) -> None:
    """Put the canary into every text of a run that a model has written, and seal the run again."""
    events = [json.loads(line) for line in (run / "trace.jsonl").read_text().splitlines()]
    for event in events:
        for field in _WRITTEN.get(event["event"], ()):
            event[field] = [CANARY] if isinstance(event[field], list) else CANARY
        for call in event.get("calls", ()):
            call["thinking"] = CANARY
        if event["event"] == "plan" and event["actions"] is not None:
            event["actions"] = [{"action": "idle", "note": CANARY}]
            event["task"] = {"kind": "deliver", "target": CANARY}
    said = {"event": "prediction", "agent": 0, "predictions": [{"agent": 1, "task": CANARY}], "wall": 0.0}
    end = events.pop()
    events += [{"seq": end["seq"], "t": end["t"], "t_hat": end["t_hat"], **said}, {**end, "seq": end["seq"] + 1}]
    calls = list(unfolded((run / "calls.jsonl").read_bytes().splitlines(keepends=True)))
    for call in calls:
        call["request"]["messages"] = [
            {**message, "content": f"{CANARY} of the {message['role']}"} for message in call["request"]["messages"]
        ]
        call["reply"]["text"] = f"{CANARY} answers"
    write_lines(run / "trace.jsonl", events)
    write_lines(run / "calls.jsonl", calls)
    seal(run, reason=CANARY)


def write_lines(file: Path, records: list[Any]) -> None:
    """Write records, a line each."""
    file.write_text("".join(f"{json.dumps(record)}\n" for record in records))


def seal(run: Path, **changes: Any) -> None:
    """Change what `meta.json` says, and give the digests of the other files as they are."""
    meta = json.loads((run / "meta.json").read_text()) | changes
    names = [path.name for path in run.iterdir() if path.name in RUN_FILES - {"meta.json"}]
    meta["files"] = {name: hashlib.sha256((run / name).read_bytes()).hexdigest() for name in names}
    (run / "meta.json").write_text(json.dumps(meta))


def texts_in(value: Any) -> Iterator[str]:
    """Yield every text in JSON-like data, keys among them."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield key
            yield from texts_in(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from texts_in(inner)
    elif isinstance(value, str):
        yield value

"""Traces in OTLP/JSON, a line for each episode, in the file format of OpenTelemetry collectors.

An episode is a trace. Its steps are spans, which contain the spans of thoughts, which contain those of language model
calls, by the semantic conventions for generative AI (https://opentelemetry.io/docs/specs/semconv/gen-ai/gen-ai-spans/).
Only the duration of a call is known, so the calls of a thought follow each other from its start.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

import orjson

from maeil.metrics.model import call_number
from maeil.trace import Trace
from maeil.trace.events import StepTaken, ThoughtEnd, ThoughtStart
from quorum.episode.call_ledger import records_of
from quorum.installation.version import __version__
from quorum.view.export.episodes import Episode, Runs

FILES: tuple[str, ...] = ("otlp.jsonl",)
TEXTS = False
Record = Mapping[str, Any]
_INTERNAL, _CLIENT = 1, 3
"""Kinds of spans."""
_ERROR = 2
"""Status of a span."""


def write(runs: Runs, folder: Path) -> None:
    """Write the traces into a folder, run by run.

    Raises:
        UserError: a run cannot be read.
    """
    service = {"attributes": _attributes({"service.name": "quorum", "service.version": __version__})}
    with (folder / FILES[0]).open("wb") as file:
        for episode in runs.episodes():
            scope = {"scope": {"name": "quorum.export"}, "spans": _Spans(episode).made}
            file.write(episode.json({"resourceSpans": [{"resource": service, "scopeSpans": [scope]}]}))


class _Spans:
    """Makes the spans of an episode, each before its children."""

    def __init__(self, episode: Episode) -> None:
        self.made: list[dict[str, Any]] = []
        self._provider = next(iter(episode.row.providers), None)
        self._begin, end = episode.meta.milliseconds
        self._id = sha256(f"{episode.row.hash} {episode.row.start}".encode()).hexdigest()[:32]
        self._texts: defaultdict[tuple[str, int], deque[Record]] = defaultdict(deque)
        for call in episode.calls() if episode.texts else ():
            self._texts[call["agent"], call["t"]].append(call)
        values = {f"quorum.{key}": value for key, value in episode.row.shown_record().items()}
        root = self._add(f"episode {episode.row.name}", "", 0.0, (end - self._begin) / 1000, values)
        if episode.row.failed:
            root["status"] = {"code": _ERROR, "message": episode.row.error}
        if episode.trace is not None:
            self._add_steps(root["spanId"], episode.trace)

    def _add_steps(self, root: str, trace: Trace) -> None:
        names = dict(enumerate([*trace.start.agents, *trace.start.coordinators]))
        step, begin, thinking = None, 0.0, {}
        for stamped in trace.among(ThoughtStart, ThoughtEnd, StepTaken):
            event = stamped.event
            step = step or self._add(f"step {stamped.t}", root, begin, begin, {"quorum.step": stamped.t})
            step["endTimeUnixNano"] = self._time(stamped.wall)
            match event:
                case ThoughtStart():
                    thinking[event.agent] = stamped.wall
                case ThoughtEnd():
                    name, start = names.get(event.agent, "?"), thinking.pop(event.agent, stamped.wall)
                    values = {
                        "gen_ai.operation.name": "invoke_agent",
                        "gen_ai.agent.name": name,
                        "quorum.cost": event.cost,
                        "quorum.refused": bool(event.refused),
                    }
                    own = self._add(f"invoke_agent {name}", step["spanId"], start, stamped.wall, values)
                    self._add_calls(own["spanId"], event, start, self._texts[name, stamped.t])
                case StepTaken():
                    step["attributes"] += _attributes({"quorum.reward": event.reward})
                    step, begin = None, stamped.wall

    def _add_calls(self, thought: str, event: ThoughtEnd, begin: float, waiting: deque[Record]) -> None:
        for call in event.calls:
            model, end = call.get("model"), begin + (call_number(call, "seconds") or 0.0)
            values = {
                "gen_ai.operation.name": "chat",
                "gen_ai.provider.name": self._provider,
                "gen_ai.response.model": model,
                "gen_ai.response.finish_reasons": [call["finish"]] if "finish" in call else None,
                "gen_ai.usage.input_tokens": call_number(call, "prompt_tokens"),
                "gen_ai.usage.output_tokens": call_number(call, "completion_tokens"),
                "quorum.usd": call_number(call, "usd"),
            }
            for _ in range(min(records_of(call), len(waiting))):
                values |= _texts(waiting.popleft())  # of several requests, the last has the answer
            self._add(f"chat {model or 'model'}", thought, begin, end, values)["kind"] = _CLIENT
            begin = end

    def _add(self, name: str, parent: str, begin: float, end: float, values: Mapping[str, Any]) -> dict[str, Any]:
        span = {
            "traceId": self._id,
            "spanId": sha256(f"{self._id} {len(self.made)}".encode()).hexdigest()[:16],
            "parentSpanId": parent,
            "name": name,
            "kind": _INTERNAL,
            "startTimeUnixNano": self._time(begin),
            "endTimeUnixNano": self._time(end),
            "attributes": _attributes(values),
        }
        self.made.append(span)
        return span

    def _time(self, seconds: float) -> str:
        return str(self._begin * 10**6 + round(seconds * 1e9))


def _texts(call: Record) -> dict[str, str]:
    """Return the prompt and the answer of a request in the format of the conventions."""
    found = {"gen_ai.input.messages": _messages((said["role"], said["content"]) for said in call["messages"])}
    if call["answer"] is not None:
        found["gen_ai.output.messages"] = _messages([("assistant", call["answer"])], finish_reason=call["finish"])
    return found


def _messages(said: Iterable[tuple[str, str]], **more: str) -> str:
    parts = [{"role": role, "parts": [{"type": "text", "content": text}], **more} for role, text in said]
    return orjson.dumps(parts).decode()


def _attributes(values: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [{"key": key, "value": _value(value)} for key, value in values.items() if value is not None]


def _value(value: Any) -> dict[str, Any]:
    if isinstance(value, list):
        return {"arrayValue": {"values": [_value(item) for item in value]}}
    if type(value) is int:
        return {"intValue": str(value)}
    if type(value) in (bool, float):
        return {"boolValue" if isinstance(value, bool) else "doubleValue": value}
    return {"stringValue": str(value)}

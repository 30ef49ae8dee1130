"""Traces in OTLP/JSON, a line for each episode, as collectors of OpenTelemetry read files.

An episode is a trace: its steps are spans, in which those of the thoughts stand, and in these those of the calls of
language models, by the semantic conventions for generative AI
(https://opentelemetry.io/docs/specs/semconv/gen-ai/gen-ai-spans/). Of a call only its duration is known: calls of a
thought follow each other from its begin.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

import orjson

from maeil.metrics.model import call_number
from maeil.outcomes import Outcome
from maeil.trace.events import StepTaken, ThoughtEnd, ThoughtStart
from quorum.experiments.common.version import __version__
from quorum.experiments.episode.call_books import records_of
from quorum.experiments.export.episodes import Call, Episode, Runs

FILES = ("otlp.jsonl",)
_INTERNAL, _CLIENT = 1, 3
_ERROR = 2


def write(runs: Runs, folder: Path) -> None:
    """Write the traces into a folder, run by run.

    Raises:
        UserError: a run cannot be read.
    """
    service = _attributes({"service.name": "quorum", "service.version": __version__})
    with (folder / FILES[0]).open("wb") as file:
        for episode in runs.episodes():
            spans = {"scope": {"name": "quorum.export", "version": __version__}, "spans": _Spans(episode).all()}
            file.write(episode.json({"resourceSpans": [{"resource": {"attributes": service}, "scopeSpans": [spans]}]}))


@dataclass(slots=True)
class _Spans:
    """The spans of an episode."""

    episode: Episode
    _made: list[dict[str, Any]] = field(default_factory=list)

    def all(self) -> list[dict[str, Any]]:
        """Make them: the episode first, and each before those in it."""
        row, (begin, end) = self.episode.row, self.episode.milliseconds
        values: dict[str, Any] = {"quorum.outcome": row.outcome, "quorum.seed": row.seed}
        values |= {f"quorum.metric.{name}": value for name, value in row.metrics.items()}
        values |= {f"quorum.config.{key}": value for key, value in row.shown_factors.items()}
        root = self._span(f"episode {row.name}", None, (0.0, (end - begin) / 1000), values)
        if row.outcome == Outcome.ERROR:
            root["status"] = {"code": _ERROR, "message": row.error}
        if self.episode.trace is not None:
            self._steps(root)
        return self._made

    def _steps(self, root: dict[str, Any]) -> None:
        assert self.episode.trace is not None
        trace = self.episode.trace
        names = [*trace.start.agents, *trace.start.coordinators]
        texts = _by_thinker(self.episode.calls()) if self.episode.texts else {}
        step, begin, thinking = None, 0.0, {}
        for stamped in trace.among(ThoughtStart, ThoughtEnd, StepTaken):
            event = stamped.event
            if step is None:
                step = self._span(f"step {stamped.t}", root, (begin, begin), {"quorum.step": stamped.t})
            step["endTimeUnixNano"] = self._nanoseconds(stamped.wall)
            match event:
                case ThoughtStart():
                    thinking[event.agent] = stamped.wall
                case ThoughtEnd():
                    name = names[event.agent] if 0 <= event.agent < len(names) else str(event.agent)
                    start = thinking.pop(event.agent, stamped.wall)
                    values = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": name}
                    took = {"quorum.cost": event.cost, "quorum.refused": bool(event.refused)}
                    thought = self._span(f"invoke_agent {name}", step, (start, stamped.wall), {**values, **took})
                    self._calls(thought, event, start, texts.get((name, stamped.t), deque()))
                case StepTaken():
                    step["attributes"] += _attributes({"quorum.reward": event.reward})
                    step, begin = None, stamped.wall

    def _calls(self, thought: dict[str, Any], event: ThoughtEnd, begin: float, waiting: deque[Call]) -> None:
        for call in event.calls:
            model, finish = (call.get(key) for key in ("model", "finish"))
            end = begin + (call_number(call, "seconds") or 0.0)
            values = {
                "gen_ai.operation.name": "chat",
                "gen_ai.provider.name": next(iter(self.episode.row.providers), None),
                "gen_ai.response.model": model,
                "gen_ai.response.finish_reasons": [finish] if isinstance(finish, str) else None,
                "gen_ai.usage.input_tokens": call_number(call, "prompt_tokens"),
                "gen_ai.usage.output_tokens": call_number(call, "completion_tokens"),
                "quorum.usd": call_number(call, "usd"),
            }
            records = [waiting.popleft() for _ in range(min(records_of(call), len(waiting)))]
            self._span(f"chat {model or 'model'}", thought, (begin, end), {**values, **_texts(records)})
            begin = end

    def _span(
        self,
        name: str,
        parent: dict[str, Any] | None,
        seconds: tuple[float, float],
        values: Mapping[str, Any],
    ) -> dict[str, Any]:
        row = self.episode.row
        trace = sha256(f"{row.hash} {row.start}".encode()).hexdigest()[:32]
        span = {
            "traceId": trace,
            "spanId": sha256(f"{trace} {len(self._made)}".encode()).hexdigest()[:16],
            **({"parentSpanId": parent["spanId"]} if parent is not None else {}),
            "name": name,
            "kind": _CLIENT if name.startswith("chat ") else _INTERNAL,
            "startTimeUnixNano": self._nanoseconds(seconds[0]),
            "endTimeUnixNano": self._nanoseconds(seconds[1]),
            "attributes": _attributes(values),
        }
        self._made.append(span)
        return span

    def _nanoseconds(self, seconds: float) -> str:
        return str(self.episode.milliseconds[0] * 10**6 + round(seconds * 1e9))


def _by_thinker(calls: Iterable[Call]) -> dict[tuple[str, int], deque[Call]]:
    found: defaultdict[tuple[str, int], deque[Call]] = defaultdict(deque)
    for call in calls:
        found[call.agent, call.t].append(call)
    return found


def _texts(records: Iterable[Call]) -> dict[str, str]:
    """Return the prompt and the answer of the last request of a call, as the conventions write them."""
    found: dict[str, str] = {}
    for call in records:
        found["gen_ai.input.messages"] = _json(_parts(message["role"], message["content"]) for message in call.messages)
        if call.answer is not None:
            answer = {**_parts("assistant", call.answer), "finish_reason": call.record["finish"]}
            found["gen_ai.output.messages"] = _json([answer])
    return found


def _parts(role: str, text: str) -> dict[str, Any]:
    return {"role": role, "parts": [{"type": "text", "content": text}]}


def _json(values: Iterable[Any]) -> str:
    return orjson.dumps(list(values)).decode()


def _attributes(values: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [{"key": key, "value": _value(value)} for key, value in values.items() if value is not None]


def _value(value: Any) -> dict[str, Any]:
    match value:
        case bool():
            return {"boolValue": value}
        case int():
            return {"intValue": str(value)}
        case float():
            return {"doubleValue": value}
        case list():
            return {"arrayValue": {"values": [_value(item) for item in value]}}
        case _:
            return {"stringValue": str(value)}

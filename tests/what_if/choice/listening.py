"""An OpenAI-compatible server: a model of known probabilities that follows schemas and lists log-probabilities."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from math import exp, log
from typing import Any

OUTSIDE = 0.25
"""Probability of tokens that the schema forbids, at the place of the choice."""


@dataclass
class Listener:
    """The model: the log-odds of a block rise by `gain` for each message of another agent that names it.

    Attributes:
        gain: 0 for a deaf model.
        raw: whether it lists probabilities as they are before the schema; else those of allowed tokens alone.
        lists: whether it lists log-probabilities at all.
        name: its name in its answers.
        prompts: the user messages that it has read.
    """

    gain: float
    raw: bool = True
    lists: bool = True
    name: str = "listener"
    prompts: list[str] = field(default_factory=list)

    def shares(self, prompt: str, choices: Sequence[str]) -> dict[str, float]:
        """Return the probability of each choice."""
        you = re.search(r'"you":"(agent_\d+)"', prompt)
        assert you is not None
        said = [one for one in re.findall(r'"author":"(\w+)","content":"([^"]*)"', prompt) if one[0] != you[1]]
        odds = {choice: exp(self.gain * sum(choice in text for _, text in said)) for choice in choices}
        return {choice: value / sum(odds.values()) for choice, value in odds.items()}

    def answer(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """Return a chat completion."""
        prompt = body["messages"][-1]["content"]
        self.prompts.append(prompt)
        begin, choices = _skeleton(body["response_format"]["json_schema"]["schema"])
        shares = self.shares(prompt, choices)
        chosen = max(choices, key=lambda one: shares[one])
        tokens = [(begin, 0.0, [(begin, 0.0)])]
        for place, letter in enumerate(chosen):
            fitting = [one for one in choices if one.startswith(chosen[:place])]
            letters: dict[str, float] = {}
            for one in fitting:
                letters[one[place]] = letters.get(one[place], 0.0) + shares[one] / sum(map(shares.get, fitting))  # type: ignore[arg-type]
            if self.raw and len(letters) > 1:
                letters = {key: (1 - OUTSIDE) * share for key, share in letters.items()} | {"!": OUTSIDE}
            top = sorted(((key, log(share)) for key, share in letters.items()), key=lambda one: -one[1])
            tokens.append((letter, log(letters[letter]), top))
        end = '"' + "}" * begin.count("{")
        tokens.append((end, 0.0, [(end, 0.0)]))
        content = [
            {"token": text, "logprob": own, "top_logprobs": [{"token": one, "logprob": value} for one, value in top]}
            for text, own, top in tokens
        ]
        choice = {
            "index": 0, "finish_reason": "stop", "logprobs": {"content": content} if self.lists else None,
            "message": {"role": "assistant", "content": "".join(text for text, _, _ in tokens)},
        }  # fmt: skip
        usage = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}
        kind = {"id": "1", "object": "chat.completion", "created": 1, "model": self.name}
        return {**kind, "choices": [choice], "usage": usage}


def _skeleton(schema: Mapping[str, Any]) -> tuple[str, list[str]]:
    """Return the text of an answer up to its only free value, and the values that are allowed there."""
    text = "{"
    for number, (name, part) in enumerate(schema["properties"].items()):
        text += f'{"," * bool(number)}"{name}":'
        if "properties" in part:
            inner, choices = _skeleton(part)
            return text + inner, choices
        if "enum" in part:
            return f'{text}"', part["enum"]
        text += json.dumps(part["const"] if part["type"] == "string" else None if part["type"] == "null" else [])
    raise AssertionError("there is no free value")


@contextmanager
def listening(model: Listener) -> Iterator[str]:
    """Serve a model, and give the address."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            assert (body["logprobs"], body["top_logprobs"], body["temperature"]) == (True, 20, 0)
            answer = json.dumps(model.answer(body)).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()

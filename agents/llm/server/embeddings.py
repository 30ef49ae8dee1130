"""OpenAI's embeddings on the wire: requests read into ours, replies written as theirs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson

from quorum.agents.llm.embeddings import EMBEDDINGS, texts_to_embed
from quorum.agents.llm.protocol import Reply, Request, Sampling
from quorum.agents.llm.server.formats import BadBody, OpenAIFormat, WireRequest

MOST_TEXTS = 2048
"""As OpenAI has it."""


class OpenAIEmbeddings(OpenAIFormat):
    """OpenAI's embeddings: texts in, numbers out."""

    def read(self, body: Mapping[str, Any]) -> WireRequest:
        """Read the body of a request."""
        model, given = body.get("model"), body.get("input")
        if not isinstance(model, str):
            raise BadBody("model: a name is needed")
        texts = [given] if isinstance(given, str) else given
        if not isinstance(texts, list) or not 0 < len(texts) <= MOST_TEXTS:
            raise BadBody(f"input: a text is needed, or a list of 1 to {MOST_TEXTS} of them")
        if not all(isinstance(text, str) and text for text in texts):
            raise BadBody("input: each must be a text that is not empty")
        if body.get("encoding_format", "float") != "float":
            raise BadBody("encoding_format: this server writes float")
        return WireRequest(model, Request(texts_to_embed(texts), EMBEDDINGS, Sampling(None, 1)), tool=False)

    def write(self, reply: Reply, asked: WireRequest, number: int) -> dict[str, Any]:  # noqa: ARG002 (of others)
        """Write a reply."""
        try:
            vectors = orjson.loads(reply.text)["embeddings"]
        except (ValueError, LookupError, TypeError):
            vectors = []  # of a fault
        return {
            "object": "list",
            "data": [{"object": "embedding", "index": i, "embedding": vector} for i, vector in enumerate(vectors)],
            "model": asked.model,
            "usage": {"prompt_tokens": reply.usage.prompt, "total_tokens": reply.usage.prompt},
        }

    def without_answer(self, body: dict[str, Any]) -> dict[str, Any]:
        """Take the answer out of a response."""
        return {**body, "data": []}

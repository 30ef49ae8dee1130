"""Batches behind the server, in both formats: files, batches, results, expiry, failures, and slow completion."""

from quorum.agents.llm.server.batches.of_anthropic import AnthropicBatches
from quorum.agents.llm.server.batches.of_openai import OpenAIBatches
from quorum.agents.llm.server.batches.served import Batches, RowFault

__all__ = ["AnthropicBatches", "Batches", "OpenAIBatches", "RowFault"]

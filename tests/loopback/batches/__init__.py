"""Batches behind the server, in both formats: files, batches, results, expiry, failures, and slow completion."""

from tests.loopback.batches.of_anthropic import AnthropicBatches
from tests.loopback.batches.of_gemini import GeminiBatches
from tests.loopback.batches.of_openai import OpenAIBatches
from tests.loopback.batches.served import Batches, RowFault

__all__ = ["AnthropicBatches", "Batches", "GeminiBatches", "OpenAIBatches", "RowFault"]

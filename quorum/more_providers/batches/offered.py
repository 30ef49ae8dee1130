"""The batch service of each provider."""

from __future__ import annotations

from collections.abc import Mapping

from quorum.agents.llm.errors import BadRequest
from quorum.agents.llm.providers.base import Provider
from quorum.more_providers.batches.gemini import GeminiBatches
from quorum.more_providers.batches.services import (
    MOST_BYTES,
    AnthropicBatches,
    BatchService,
    OpenAIBatches,
    ResponsesBatches,
)

SERVICES: Mapping[str, type[BatchService]] = {
    "openai": OpenAIBatches,
    "openai_responses": ResponsesBatches,
    "anthropic": AnthropicBatches,
    "gemini": GeminiBatches,
}
"""Batch services, by the name of the provider."""


def batches_of(provider: Provider) -> BatchService:
    """Return a provider's batch service, over connections that single calls do not use.

    Raises:
        BadRequest: the provider has no batches.
    """
    service = SERVICES.get(provider.name)
    if service is None:
        raise BadRequest(f"{provider.name} has no batches")
    return service(*provider.client_for_files(MOST_BYTES))

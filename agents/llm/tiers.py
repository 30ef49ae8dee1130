"""Tiers of service: how soon a provider answers, and what its tokens cost then.

`llm.service_tier` asks for one, and the tier that answered stands in the response. A batch is a tier, too.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

BATCH = "batch"
"""Answers of a batch, within 24 hours. Anthropic names it in `usage.service_tier`; OpenAI's responses do not tell."""
OFFER_BATCHES = ("openai", "anthropic")
"""Providers whose batches can be sent."""
FLEX = "flex"
PRIORITY = "priority"
SCALE = "scale"

_TOLD = {FLEX: FLEX, PRIORITY: PRIORITY, "fast": PRIORITY, SCALE: SCALE, BATCH: BATCH}


def read_tier(value: Any) -> str:
    """Return the tier that a response names; empty for the usual one, whatever a server calls it.

    Args:
        value: of `service_tier`, anything.
    """
    return _TOLD.get(value, "") if isinstance(value, str) else ""


@dataclass(frozen=True, slots=True)
class Discount:
    """What the tokens of a tier cost beside those of the usual one.

    Attributes:
        factor: of all prices; more than 1 for a tier that costs more.
        cached: whether tokens from the provider's prompt cache are cheaper than others in this tier, too.
    """

    factor: float
    cached: bool = True


HALF = Discount(0.5)

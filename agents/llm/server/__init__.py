"""A server on loopback that speaks the formats of OpenAI and Anthropic over real HTTP, with faults on request."""

from quorum.agents.llm.server.batches import Batches, RowFault
from quorum.agents.llm.server.bodies import BodyBounds
from quorum.agents.llm.server.faults import Fault, FaultKind, Faults
from quorum.agents.llm.server.serving import Addresses, run, serve
from quorum.agents.llm.server.thinking import Thinking

__all__ = ["Addresses", "Batches", "BodyBounds", "Fault", "FaultKind", "Faults", "RowFault", "Thinking", "run", "serve"]

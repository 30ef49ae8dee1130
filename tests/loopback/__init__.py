"""The server of the product, made to misbehave: faults, thinking, prompt caches, batches and counts, over real HTTP."""

from quorum.more_providers.serving.app import Addresses
from tests.loopback.app import BodyBounds
from tests.loopback.batches import Batches, RowFault
from tests.loopback.faults import Fault, FaultKind, Faults
from tests.loopback.serving import run, serve
from tests.loopback.thinking import Thinking

__all__ = ["Addresses", "Batches", "BodyBounds", "Fault", "FaultKind", "Faults", "RowFault", "Thinking", "run", "serve"]

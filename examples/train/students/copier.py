"""`llm=copier`: the worked example of the prompt, with the first name that fits in place of each that does not exist.

A floor for models that decode by a schema. `llm=echo` draws another block for each agent and action, so its agents
rarely meet. Here, all agents name the same block, and push it together without a word about it.
"""

from __future__ import annotations

from typing import Any, Literal

from maeil.component import Component
from quorum.agents.llm.protocol import Request
from quorum.agents.simulated.chance import EchoModel
from quorum.configuration.providers.config import ProviderConfig
from quorum.configuration.registry import providers


class CopierConfig(ProviderConfig):
    """Values of the copier."""

    name: Literal["copier"]

    @property
    def label(self) -> str:
        """Its label in names and tables."""
        return "copier"

    @property
    def priced(self) -> bool:
        """Whether the replies report their cost, which is zero."""
        return True


class First:
    """Draws the first of the choices each time."""

    def integers(self, _choices: int) -> int:
        """Return the place of the first of some choices."""
        return 0


class Copier(EchoModel):
    """Copies the worked example; what has to be drawn is the first value that the schema allows."""

    option, label = "copier", "copier"

    def _generator(self, _request: Request) -> Any:
        return First()


providers.register("copier", Component(CopierConfig, lambda _config, _context: Copier(0)))

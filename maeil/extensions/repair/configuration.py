"""The schema of `extension.repair`, and the component that builds the gate."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from maeil.component import Component
from maeil.extension import ExtensionConfig, ExtensionContext
from maeil.extensions.repair.gate import Mode, Order, Predictor, Repair, RepairSettings


class RepairConfig(ExtensionConfig):
    """Values of `extension.repair`."""

    mode: Mode
    """Who fixes plans that are expected to fail, and how."""
    predictor: Predictor
    """What plans are judged by."""
    horizon: Annotated[int, Field(ge=1)]
    """Steps that `exact` looks ahead, at most."""
    cooldown: Annotated[int, Field(ge=0)] | None
    """Steps in which a repaired task is not repaired again; null: those of the world."""
    verifications: Annotated[int, Field(ge=1)]
    """Times that plans are judged in one environment step, at most."""
    guidance: bool
    """Whether a channel is advised of an assignment."""
    order: Order
    """Who states its intention when."""


def build(config: RepairConfig, context: ExtensionContext) -> Repair:
    """Make the gate.

    Raises:
        ValueError: there are no rules of repair for this world.
    """
    rules = context.skill("repair")(context.world)
    return Repair(RepairSettings(**config.model_dump()), rules)


component = Component(RepairConfig, build)

"""The schema of the group `repair`: how committed plans are judged and repaired before they begin."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from maeil.repairs.channel import Order
from maeil.repairs.gate import Predictor, RepairSettings
from maeil.user_errors import UserError, choices_hint

OFF = "off"
"""The option without which nothing is judged; it is no part of what names a cell."""


class RepairConfig(BaseModel):
    """What all ways to repair share."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: Literal["channel", "notice", "rules"]
    """Who mends plans that are expected to fail, and how."""
    predictor: Predictor
    """What they are judged by."""
    horizon: Annotated[int, Field(ge=1)]
    """Steps that `exact` looks ahead, at most."""
    cooldown: Annotated[int, Field(ge=0)] | None
    """Steps in which a repaired task is not repaired again; null: those of the world."""
    verifications: Annotated[int, Field(ge=1)]
    """Times that plans are judged in one environment step, at most."""

    @property
    def settings(self) -> RepairSettings:
        """What the loop is given."""
        values = self.model_dump(exclude={"name"})
        return RepairSettings(mode=self.name, **{"guidance": False, "order": "ascending", **values})


class NoticeConfig(RepairConfig):
    """Those concerned are told."""

    name: Literal["notice"]


class RulesConfig(RepairConfig):
    """The rules put plans in the place of those that are expected to fail."""

    name: Literal["rules"]


class ChannelConfig(RepairConfig):
    """Those concerned talk, then plan anew."""

    name: Literal["channel"]
    guidance: bool
    """Whether an assignment is advised."""
    order: Order
    """Who states its intention when."""


REPAIRS: Mapping[str, type[RepairConfig]] = {"channel": ChannelConfig, "notice": NoticeConfig, "rules": RulesConfig}
"""The schema of each option but `off`."""


def schema_of(values: Any) -> type[RepairConfig] | None:
    """Return the schema of the values of the group; None for those that repair nothing.

    Raises:
        UserError: there is no such option.
    """
    if not isinstance(values, Mapping) or not isinstance(values.get("name"), str):
        raise UserError("repair: the name of a repair is missing", choices_hint("", "They are", (OFF, *REPAIRS)))
    name = values["name"]
    if name == OFF:
        if surplus := sorted(values.keys() - {"name"}):
            raise UserError(
                f"repair.{surplus[0]}: repair=off has no such key", "Choose repair=channel, or leave it out."
            )
        return None
    if name not in REPAIRS:
        raise UserError(f"repair.name: there is no repair {name!r}", choices_hint(name, "They are", (OFF, *REPAIRS)))
    return REPAIRS[name]

"""The symbolic action of the squeeze."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from llamac_env.squeeze.game import HIGHEST
from maeil.actions import SymbolicAction, Vocabulary


class Pick(SymbolicAction):
    """Pick an integer for one round."""

    phrase: ClassVar[str] = "pick {units}"
    action: Literal["pick"] = "pick"
    units: Annotated[int, Field(ge=0, le=HIGHEST)]


VOCABULARY = Vocabulary(Pick)

"""The origin of a branch: its run, its branch point, and its change."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cache
from typing import Any

from pydantic import NonNegativeInt, TypeAdapter, ValidationError

from maeil.trace import Instant
from quorum.configuration.origin import CHANGE, DRAW, NO_CHANGE, PARENT, Origin, Scalar


@dataclass(frozen=True, slots=True)
class BranchOrigin(Origin):
    """The origin of a branch.

    Attributes:
        run: name of the folder of the run.
        t: environment step of the branch point.
        t_hat: cognitive time of the branch point; None: the start of the step.
        prefix: digest of the run before the branch point.
        edits: the `KEY=VALUE` that change from then on, as given.
        told: scripted messages and plans, dropped messages, changes of the world, and probes, as options of a command.
        draw: number of the sample from the same branch point; 0 continues as the run itself would.
        copied: participants of a branch of a branch who get a fresh copy of their mind, which follows no script.
        luck: whether the world redraws its luck from then on.
    """

    run: str
    t: NonNegativeInt
    t_hat: int | float | None
    prefix: str
    edits: tuple[str, ...]
    told: tuple[str, ...] = ()
    draw: NonNegativeInt = 0
    copied: tuple[str, ...] = ()
    luck: bool = False

    @property
    def instant(self) -> Instant:
        """The branch point."""
        return Instant(self.t, self.t_hat)

    @property
    def change(self) -> str:
        """The change from the branch point on, in a line; empty for none. Draws of one change share it."""
        return " ".join((*self.edits, *self.told))

    @property
    def identity(self) -> Mapping[str, Any]:
        """The part that identifies the cell, without folder names and without the notation of the configuration."""
        at = {"t": self.t, "t_hat": self.t_hat, "prefix": self.prefix}
        return {**at, "told": list(self.told), "draw": self.draw, **self._rare}

    @property
    def label(self) -> str:
        """The step of the branch point, `at12`."""
        return f"at{self.t}"

    @property
    def factors(self) -> Mapping[str, Scalar]:
        """The branch (`NAME:12`), its run and its branch point, the change and the draw.

        `at` is a number if the branch point is the start of a step.
        """
        return {
            "branch": f"{self.run}:{self.instant}",
            PARENT: self.run,
            "at": self.t if self.t_hat is None else str(self.instant),
            CHANGE: " ".join(self.change.split()) or NO_CHANGE,
            DRAW: self.draw,
        }

    @property
    def beginning(self) -> tuple[Scalar, ...]:
        """The digest of the prefix, and the branch point on both clocks."""
        return self.prefix, self.t, self.t_hat

    def unchanged(self) -> BranchOrigin:
        """Return the origin of a branch that continues the run as it was."""
        return BranchOrigin(self.run, self.t, self.t_hat, self.prefix, (), luck=self.luck)

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON-ready data."""
        plain = {**asdict(self), "edits": list(self.edits), "told": list(self.told)}
        del plain["copied"], plain["luck"]
        return {**plain, **self._rare}

    @classmethod
    def read(cls, plain: Mapping[str, Any]) -> BranchOrigin:
        """Read the result of `plain`.

        Raises:
            ValueError: it is not the origin of a branch.
        """
        try:
            return _adapter().validate_json(json.dumps(plain), strict=True)  # only JSON makes tuples of lists
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            raise ValueError(f"{'.'.join(map(str, first['loc']))}: {first['msg']}") from error

    @property
    def _rare(self) -> dict[str, Any]:
        """Copies and luck; empty without them, as in versions that did not have them."""
        return {**({"copied": list(self.copied)} if self.copied else {}), **({"luck": True} if self.luck else {})}


@cache
def _adapter() -> TypeAdapter[BranchOrigin]:
    return TypeAdapter(BranchOrigin)

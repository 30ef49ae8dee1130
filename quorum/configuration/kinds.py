"""Cells of a plan, most of which differ in seed, episode and draw alone: what a kind shares is checked once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from quorum.configuration.cell import Cell
from quorum.configuration.inputs import shared_inputs
from quorum.configuration.schema import PLACE

_MOST_KINDS = 256
"""Kinds that are kept; a grid may have its seeds in the first place and its kinds in the last."""


class Kinds:
    """Makes cells of composed configurations.

    Args:
        look: called with the first cell of each kind; again when a kind has been forgotten.
    """

    def __init__(self, look: Callable[[Cell], None]) -> None:
        self._look = look
        self._inputs = shared_inputs()
        self._known: dict[tuple[object, ...], tuple[Mapping[str, Any], Cell]] = {}

    def cell(self, raw: Mapping[str, Any]) -> Cell:
        """Make a cell, as `Cell.of` does.

        Raises:
            UserError: the configuration is not valid, or a template that it names is not there.
        """
        # Equal values may be of different types (1, 1.0, true), so values are equal here only if they are one object;
        # `Composer.plain` shares those that do not differ. The composed configuration is kept, or else its values
        # could be freed, and others could take their addresses.
        kind = tuple(name if name in PLACE else (name, id(value)) for name, value in raw.items())
        if kind in self._known:
            return self._known[kind][1].alike(raw)
        first = Cell.of(raw, self._inputs)
        self._look(first)
        if len(self._known) >= _MOST_KINDS:
            del self._known[next(iter(self._known))]
        self._known[kind] = raw, first
        return first

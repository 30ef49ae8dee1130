"""Creates the cells of a plan, most of which differ only in seed, episode and draw: shared parts are checked once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from quorum.configuration.cell import Cell
from quorum.configuration.inputs import shared_inputs
from quorum.configuration.schema import PLACE

_MOST_KINDS = 256
"""Maximum cached kinds; a grid may vary its seeds slowest and its kinds fastest."""


class Kinds:
    """Creates cells from composed configurations.

    Args:
        look: called with the first cell of each kind; again if a kind has left the cache.
    """

    def __init__(self, look: Callable[[Cell], None]) -> None:
        self._look = look
        self._inputs = shared_inputs()
        self._known: dict[tuple[object, ...], tuple[Mapping[str, Any], Cell]] = {}

    def cell(self, raw: Mapping[str, Any]) -> Cell:
        """Create a cell, as `Cell.of` does.

        Raises:
            UserError: the configuration is not valid, or a template that it names is missing.
        """
        # Equal values may differ in type (1, 1.0, true), so values count as equal here only if they are one object;
        # `Composer.compose` shares those that do not differ. The composed configuration is kept, as otherwise its
        # values could be freed and others could reuse their addresses.
        kind = tuple(name if name in PLACE else (name, id(value)) for name, value in raw.items())
        if kind in self._known:
            return self._known[kind][1].alike(raw)
        first = Cell.of(raw, self._inputs)
        self._look(first)
        if len(self._known) >= _MOST_KINDS:
            del self._known[next(iter(self._known))]
        self._known[kind] = raw, first
        return first

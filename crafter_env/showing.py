"""What a step gives each agent: the dictionaries of observations and infos."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy.typing as npt

from crafter_env.engine import Engine
from crafter_env.kernels.arrays import ACHIEVED, GAINED, INVENTORY
from crafter_env.pixels import Painter
from crafter_env.state import CrafterState
from maeil.environments.parallel import InfoKind, read_only

Observation = dict[str, npt.NDArray[Any]]


class Shown:
    """Reads what the agents of one world are given out of the arrays of its engine.

    Args:
        engine: Of one world.
        index: Number of each agent by name.
        painter: Makes pictures; None where none are observed.
        symbolic: Whether the arrays of the local view are observed.
        infos: One of `INFOS`.
        copy: Whether what is given is the caller's own; else it is read-only, and the next step overwrites it.
    """

    def __init__(
        self,
        engine: Engine,
        index: Mapping[str, int],
        painter: Painter | None,
        *,
        symbolic: bool,
        infos: InfoKind,
        copy: bool,
    ) -> None:
        self._engine, self._index, self._painter = engine, index, painter
        self._kind, self._copy = infos, copy
        agents, views = engine.worlds.agents[0], engine.views
        # To slice an array takes as long as to copy it, so the slices of every step are kept.
        self._seen: tuple[npt.NDArray[Any], ...] = ()
        if symbolic:
            bags = agents[:, INVENTORY:ACHIEVED]
            self._seen = views.materials[0], views.entities[0], bags, views.poses[0], views.daylight[0]
        self._told = agents[:, ACHIEVED:GAINED], views.masks[0]
        self._live_seen = [list(map(read_only, array)) for array in self._seen]
        self._live_told = [list(map(read_only, array)) for array in self._told]

    def observations(self, names: Sequence[str]) -> dict[str, Observation]:
        """The observations of some agents."""
        found: dict[str, Observation]
        if self._seen:
            columns = [array.copy() for array in self._seen] if self._copy else self._live_seen
            found = {
                name: {"materials": materials, "entities": entities, "inventory": bag, "pose": pose, "daylight": light}
                for name, materials, entities, bag, pose, light in zip(self._index, *columns, strict=True)
            }
        else:
            found = {name: {} for name in self._index}
        if self._painter is not None:
            pictures = self._painter.paint(self._engine.worlds)[0]
            for name, picture in zip(self._index, pictures, strict=True):
                found[name]["pixels"] = picture
        return self._only(names, found)

    def infos(self, names: Sequence[str], state: CrafterState) -> dict[str, dict[str, Any]]:
        """The infos of some agents."""
        if self._kind == "none":
            return {name: {} for name in names}
        if self._kind == "symbolic":
            begun, index = state.step > 0, self._index
            return {
                name: {
                    "symbolic": state.view(index[name]),
                    "report": state.outcome(index[name]) if begun else None,
                }
                for name in names
            }
        columns = [array.copy() for array in self._told] if self._copy else self._live_told
        found = {
            name: {"achievements": achievements, "action_mask": mask}
            for name, achievements, mask in zip(self._index, *columns, strict=True)
        }
        return self._only(names, found)

    def _only(self, names: Sequence[str], found: dict[str, Any]) -> dict[str, Any]:
        return found if len(names) == len(found) else {name: found[name] for name in names}

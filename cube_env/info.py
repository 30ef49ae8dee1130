"""The infos of a step: plain numbers and arrays, or lazy ones.

The lazy ones hold the symbolic observation and the report, which cost nothing when nobody reads them.
"""

from __future__ import annotations

from collections.abc import ItemsView, Iterable, Iterator, KeysView, Mapping, ValuesView
from typing import Any

from cube_env.arrays import COUNT_DELIVERED_WEIGHT, COUNT_LIVE, COUNT_STEP
from cube_env.constants import Cell
from cube_env.masks import action_masks
from cube_env.observation import (
    HistoryEntry,
    StaleObservationError,
    SymbolicBlock,
    SymbolicObservation,
    symbolic_blocks,
)
from cube_env.report import StepReport
from cube_env.state import CubeState
from maeil.environments.errors import WorldError
from maeil.environments.parallel import agent_name

COUNTS = {"step": COUNT_STEP, "blocks_left": COUNT_LIVE, "delivered_weight": COUNT_DELIVERED_WEIGHT}
"""The plain infos that are counters of the world, each with its column."""

KEYS = ("symbolic", "report")


def no_infos(names: Iterable[str]) -> dict[str, dict[str, Any]]:
    """An empty info for each agent."""
    return {name: {} for name in names}


def plain_counts(state: CubeState) -> dict[str, int]:
    """The plain infos that are the same for all agents."""
    counters = state.world.counters.tolist()
    return {key: counters[column] for key, column in COUNTS.items()}


def plain_infos(state: CubeState, names: Iterable[str]) -> dict[str, dict[str, Any]]:
    """Numbers and arrays of the caller's own, under the same keys at each step."""
    counts = plain_counts(state)
    return {name: {**counts, "action_mask": mask} for name, mask in zip(names, action_masks(state.world), strict=True)}


class Frame:
    """The state between two steps, from which the symbolic observations of all agents are built.

    What the agents share is computed once. A frame is current until the environment steps, resets or loads.
    """

    __slots__ = ("_agents", "_blocks", "current", "max_steps", "report", "state")

    def __init__(self, state: CubeState, max_steps: int, report: StepReport | None) -> None:
        self.state = state
        self.max_steps = max_steps
        self.report = report
        self.current = True
        self._agents: tuple[Cell, ...] = ()
        self._blocks: tuple[SymbolicBlock, ...] = ()

    def symbolic(self, index: int | None, history: tuple[HistoryEntry, ...] = ()) -> SymbolicObservation:
        """The symbolic observation of the agent with this index, or from outside when it is None.

        Raises:
            StaleObservationError: The environment has moved on since.
        """
        name = agent_name(index) if index is not None else ""
        if not self.current:
            raise StaleObservationError(
                f"the symbolic observation of {name or 'the board'} was first read after the environment had moved on: "
                'read info["symbolic"] before the next step, reset or load'
            )
        if not self._agents:
            self._agents = self.state.agent_cells()
            self._blocks = symbolic_blocks(self.state.block_views(), self.state.grid)
        if index is not None and not 0 <= index < len(self._agents):
            raise WorldError(f"no agent has index {index}: they are 0 to {len(self._agents) - 1}")
        side = self.state.side
        return SymbolicObservation(
            side,
            side - 1,
            self.state.step,
            self.max_steps,
            name,
            self._agents[index] if index is not None else None,
            self._agents,
            self._blocks,
            history,
        )

    def infos(self, names: Iterable[str]) -> dict[str, dict[str, Any]]:
        """The infos of all agents, by name in index order."""
        infos: dict[str, dict[str, Any]] = {}
        for index, name in enumerate(names):
            # Attributes are set here: a Python-level __init__ would cost more than the rest of the loop.
            info = AgentInfo()
            info.frame = self
            info.index = index
            infos[name] = info
        return infos


class AgentInfo(dict[str, Any]):
    """The info of one agent: `"symbolic"`, its `SymbolicObservation`, and `"report"`, the step's `StepReport`.

    Both are built when first read and kept. After a reset the report is None. A symbolic observation that is
    first read after the environment has moved on raises `StaleObservationError`.
    """

    __slots__ = ("frame", "index")

    frame: Frame
    index: int

    def __missing__(self, key: str) -> Any:
        if key == "symbolic":
            value: Any = self.frame.symbolic(self.index)
        elif key == "report":
            value = self.frame.report
        else:
            raise KeyError(key)
        self[key] = value
        return value

    def get(self, key: str, default: Any = None) -> Any:
        """The value of a key, or the default."""
        try:
            return self[key]
        except KeyError:
            return default

    def _complete(self) -> None:
        for key in KEYS:
            self[key]

    def __contains__(self, key: object) -> bool:
        return key in KEYS or super().__contains__(key)

    def __iter__(self) -> Iterator[str]:
        self._complete()
        return super().__iter__()

    def __len__(self) -> int:
        self._complete()
        return super().__len__()

    def keys(self) -> KeysView[str]:  # type: ignore[override]
        """All keys."""
        self._complete()
        return super().keys()

    def values(self) -> ValuesView[Any]:  # type: ignore[override]
        """All values."""
        self._complete()
        return super().values()

    def items(self) -> ItemsView[str, Any]:  # type: ignore[override]
        """All keys and values."""
        self._complete()
        return super().items()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Mapping) and dict(self) == dict(other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = None

    def __repr__(self) -> str:
        return f"AgentInfo({agent_name(self.index)}, {super().__repr__()})"

    def __reduce__(self) -> tuple[type[dict[str, Any]], tuple[dict[str, Any]]]:
        return dict, (dict(self),)

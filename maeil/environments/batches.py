"""What the batches of the worlds share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

import numpy as np
from gymnasium.vector import AutoresetMode

from maeil.environments.arguments import one_of, seed_number
from maeil.environments.errors import WorldError

AUTORESET_MODES = {mode.value: mode for mode in (AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP)}


def batch_seeds(seed: object, num_envs: int, least: int | None = 0) -> list[int | None]:
    """Return one seed for each world of a batch: the one given for it, or `seed + i`.

    Raises:
        WorldError: A seed is no integer, or below `least`; or there are more or fewer seeds than worlds.
    """
    if np.ndim(seed) == 0:  # type: ignore[arg-type] # None is allowed for here
        first = seed_number(seed, least)
        return [None if first is None else first + world for world in range(num_envs)]
    seeds = [seed_number(number, least) for number in cast("Sequence[object]", seed)]
    if len(seeds) != num_envs:
        raise WorldError(f"{len(seeds)} seeds for {num_envs} worlds: give one number, or one for each world")
    return seeds


def autoreset_mode(mode: AutoresetMode | str) -> AutoresetMode:
    """Return one of the two of Gymnasium's modes that the batches know, also by its name.

    Raises:
        WorldError: It is not one of them.
    """
    name = mode.value if isinstance(mode, AutoresetMode) else mode
    return AUTORESET_MODES[one_of("autoreset_mode", name, AUTORESET_MODES)]


def no_options(options: Mapping[str, Any] | None) -> None:
    """Refuse options of the reset of a batch.

    Raises:
        WorldError: There are some.
    """
    if options:
        raise WorldError(f"reset of a batch takes no options, it was given {', '.join(map(repr, options))}")

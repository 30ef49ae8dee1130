"""Kernels for the random numbers of a step: from one stream, or each from a separate key.

With `Luck.stream` they come from the Mersenne Twister in the order of use, as in Crafter. With `Luck.keyed` each is a
hash of the world's luck, the step, its purpose, and the entity, cell or chunk it is for. So events in one place do not
affect numbers of another. The luck is the first two words of the generator, which draws nothing more once the world is
made.

The hash is two rounds of SplitMix64: Steele, Lea and Flood, "Fast splittable pseudorandom number generators" (OOPSLA
    2014). Words are computed as int64, whose products wrap; masks turn its shifts into those of unsigned words.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from crafter_env.kernels import arrays
from crafter_env.kernels.arrays import IntArray, World
from crafter_env.kernels.jit import inlined, inner
from crafter_env.kernels.mt19937 import WordArray, below, uniform
from crafter_env.kernels.rules import LUCK
from crafter_env.profiles import Luck

PURPOSES: Final = 11
(
    COLLECTS, ACTS, DIRECTION, AXIS, RETREAT_AXIS, SHOOTS, WANDERS, SPAWNS, DESPAWNS, SPAWN_CELL, DESPAWNED,
) = range(PURPOSES)  # fmt: skip
"""Purposes of a number. An entity draws at most one number per purpose in a step."""
_KEYED: Final = int(Luck.keyed)
_GOLDEN: Final = 0x9E3779B97F4A7C15 - 2**64
_FIRST: Final = 0xBF58476D1CE4E5B9 - 2**64
_SECOND: Final = 0x94D049BB133111EB - 2**64


@inlined
def is_keyed(rules: IntArray) -> bool:
    """Whether each number has its own key."""
    return rules[LUCK] == _KEYED


@inlined
def chance(w: World, rules: IntArray, purpose: int, who: int) -> float:
    """Return a number in [0, 1) with 53 random bits.

    Args:
        w: The world.
        rules: See `rules.encode_rules`.
        purpose: The decision it is for.
        who: The entity, cell or chunk it is for.
    """
    if is_keyed(rules):
        return lot(w, purpose, who) / 9007199254740992.0
    return uniform(w.generator)


@inlined
def choice(w: World, rules: IntArray, purpose: int, who: int, bound: int) -> int:
    """Return an integer below a bound of at most 2**32, drawn as `chance` does."""
    if is_keyed(rules):
        return int(lot(w, purpose, who) / 9007199254740992.0 * bound)
    return below(w.generator, bound)


@inlined
def lot(w: World, purpose: int, who: int) -> int:
    """Return the hash of a key, from 0 to 2**53 - 1; to draw one of several candidates, take the smallest."""
    return _hash(w.generator, w.counters[arrays.STEP] * PURPOSES + purpose, who)


@inner
def _hash(generator: WordArray, event: int, who: int) -> int:
    luck: Any = (np.int64(generator[0]) << 32) | np.int64(generator[1])
    mixed: int = _mix(_mix(luck + np.int64(event + 1) * _GOLDEN) + np.int64(who + 1) * _GOLDEN)
    return (mixed >> 11) & 0x1FFFFFFFFFFFFF


@inlined
def _mix(word: Any) -> int:
    word = (word ^ ((word >> 30) & 0x3FFFFFFFF)) * _FIRST
    word = (word ^ ((word >> 27) & 0x1FFFFFFFFF)) * _SECOND
    return word ^ ((word >> 31) & 0x1FFFFFFFF)

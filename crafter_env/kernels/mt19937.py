"""Kernels for the Mersenne Twister with the draws of NumPy's legacy `RandomState`, over 625 words of a world's state.

Crafter draws everything from one `RandomState`; the same words in the same order reproduce a world exactly. Words are
stored as uint32 and computed as int64, which holds every intermediate value without sign problems.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from crafter_env.kernels.jit import inlined, inner

WORDS = 624
GENERATOR_WORDS = WORDS + 1
"""The words of the twister, and the number of words used."""
_SHIFT = 397
_UPPER, _LOWER, _ALL = 0x80000000, 0x7FFFFFFF, 0xFFFFFFFF
_TWIST = 0x9908B0DF
_SEEDING = 1812433253

WordArray = npt.NDArray[np.uint32]


@inner
def seed_generator(generator: WordArray, seed: int) -> None:
    """Seed like `RandomState(seed)` for 0 <= seed < 2**32."""
    # `init_genrand` of Matsumoto and Nishimura (1998), which `RandomState(seed)` runs for a seed below 2**32.
    word = seed & _ALL
    for position in range(WORDS):
        generator[position] = word
        word = (_SEEDING * (word ^ (word >> 30)) + position + 1) & _ALL
    generator[WORDS] = WORDS


@inlined
def _next_word(generator: WordArray) -> int:
    if generator[WORDS] >= WORDS:
        _twist(generator)
    word = np.int64(generator[generator[WORDS]])
    generator[WORDS] += 1
    # Tempering, as published. The masks keep only bits that a uint32 would keep, so int64 is safe.
    word ^= word >> 11
    word ^= (word << 7) & 0x9D2C5680
    word ^= (word << 15) & 0xEFC60000
    word ^= word >> 18
    return word  # type: ignore[return-value]


@inner
def _twist(generator: WordArray) -> None:
    # Three loops instead of one with a modulo: a word far ahead is first an old one, then a renewed one.
    for position in range(WORDS - _SHIFT):
        _twist_word(generator, position, position + 1, position + _SHIFT)
    for position in range(WORDS - _SHIFT, WORDS - 1):
        _twist_word(generator, position, position + 1, position + _SHIFT - WORDS)
    _twist_word(generator, WORDS - 1, 0, _SHIFT - 1)
    generator[WORDS] = 0


@inlined
def _twist_word(generator: WordArray, position: int, after: int, far: int) -> None:
    joined = (np.int64(generator[position]) & _UPPER) | (np.int64(generator[after]) & _LOWER)
    generator[position] = np.int64(generator[far]) ^ (joined >> 1) ^ (_TWIST * (joined & 1))


@inner
def uniform(generator: WordArray) -> float:
    """Draw like `RandomState.uniform()`: a double in [0, 1) of 53 random bits."""
    # 27 and 26 bits of two words, the first one on top: `random_sample` of NumPy, two words a draw.
    high = _next_word(generator) >> 5
    low = _next_word(generator) >> 6
    return (high * 67108864.0 + low) / 9007199254740992.0


@inner
def below(generator: WordArray, bound: int) -> int:
    """Draw like `RandomState.randint(0, bound)`, 0 < bound <= 2**32: masked rejection; a bound of 1 draws nothing."""
    largest = bound - 1
    if largest == 0:
        return 0
    # The smallest mask of ones that covers the largest value. Larger words are rejected, so a draw may use several
    # words, as in NumPy.
    mask = largest
    for shift in (1, 2, 4, 8, 16):
        mask |= mask >> shift
    value = _next_word(generator) & mask
    while value > largest:
        value = _next_word(generator) & mask
    return value

"""Texts as counts of n-grams of characters, by which they can be compared without a model."""

from __future__ import annotations

import zlib

import numpy as np

LENGTHS = (3, 4, 5)
"""Characters of the n-grams."""
BUCKETS = 4096
"""Counts of a text, among which its n-grams are spread by a checksum."""


def count_ngrams(text: str) -> np.ndarray:
    """Count the n-grams of a text, without regard to case and to how words are spaced, by their buckets: (BUCKETS,)."""
    plain = f" {' '.join(text.lower().split())} "
    grams = [plain[i : i + n] for n in LENGTHS for i in range(len(plain) - n + 1)] if plain.strip() else []
    buckets = np.array([zlib.crc32(gram.encode()) % BUCKETS for gram in grams], dtype=np.int64)
    return np.bincount(buckets, minlength=BUCKETS).astype(np.float64)

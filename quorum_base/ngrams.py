"""Counts of character n-grams, for comparing texts without a model."""

from __future__ import annotations

import zlib

import numpy as np

LENGTHS = (3, 4, 5)
"""Lengths of the n-grams in characters."""
BUCKETS = 4096
"""Number of counts per text; a checksum assigns each n-gram to one of them."""


def count_ngrams(text: str) -> np.ndarray:
    """Count the n-grams of a text by bucket, ignoring case and spacing: (BUCKETS,)."""
    plain = f" {' '.join(text.lower().split())} "
    grams = [plain[i : i + n] for n in LENGTHS for i in range(len(plain) - n + 1)] if plain.strip() else []
    buckets = np.array([zlib.crc32(gram.encode()) % BUCKETS for gram in grams], dtype=np.int64)
    return np.bincount(buckets, minlength=BUCKETS).astype(np.float64)

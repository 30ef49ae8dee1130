"""Embeddings of the simulated model: character n-grams, spread over few numbers. They know nothing of meaning."""

from __future__ import annotations

import numpy as np

from maeil.extensions.describe.matchers import BUCKETS, count

LENGTH = 64
"""Numbers of an embedding."""


def embed(text: str) -> list[float]:
    """Return the embedding of a text, of length 1; 0 everywhere for a text without a character."""
    found = count(text).reshape(LENGTH, BUCKETS // LENGTH).sum(axis=1)
    length = float(np.sqrt((found * found).sum()))
    return (found / max(length, 1.0)).tolist()  # type: ignore[no-any-return]

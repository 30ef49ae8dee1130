"""The real model, started once for all tests that ask it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.real_model.serving import real_model


@pytest.fixture(scope="session")
def server() -> Iterator[str]:
    """Give the address of the model, with room for every prompt that is asked here."""
    with real_model() as address:
        yield address

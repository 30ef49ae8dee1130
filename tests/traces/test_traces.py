"""Same configuration, same seed, same trace: what every world, mind and topology did before, it does now."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.traces.digests import CELLS, digest_of, recorded

pytestmark = pytest.mark.conformance


@pytest.mark.parametrize("cell", CELLS)
def test_a_cell_leaves_the_trace_that_it_always_left(cell: str, tmp_path: Path) -> None:
    assert digest_of(cell, tmp_path) == recorded()[cell]

"""Contract checks for authors of worlds: see `check_world` and docs/writing-a-world.md."""

from maeil.testing.answers import BrokenContract
from maeil.testing.worlds import check_world

__all__ = ["BrokenContract", "check_world"]

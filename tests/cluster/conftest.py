"""The small sweeps of `tests/sweeps`, on a cluster."""

from tests.sweeps.conftest import options  # noqa: F401 - a fixture

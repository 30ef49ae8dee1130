"""What `quorum bench` measures: one module for each world, and what they share."""

BENCHES = ("cube",)
"""Worlds that can be measured; the module of each has a `main`."""

"""Symbolic actions of grid transportation: their models, and the controllers that turn them into primitives."""

"""Symbolic actions of CUBE: their models, and the controllers that turn them into primitives."""

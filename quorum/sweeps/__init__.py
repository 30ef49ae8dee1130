"""Sweeps: plan many cells, run the missing ones, and resume after any interruption."""

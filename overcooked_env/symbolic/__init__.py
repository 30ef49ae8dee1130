"""Symbolic actions, tasks and the picture of Overcooked."""

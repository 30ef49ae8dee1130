"""Symbolic actions, tasks and the picture of level-based foraging."""

"""Worlds of other projects: level-based foraging and Overcooked with their skills, and PettingZoo."""

"""Overcooked for minds: symbolic actions, tasks and the picture."""

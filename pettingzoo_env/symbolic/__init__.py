"""Symbolic actions and tasks of PettingZoo environments."""

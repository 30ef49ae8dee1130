"""Symbolic actions and tasks of PettingZoo environments, and the check of all that these give."""

"""Symbolic actions and tasks of PettingZoo environments, and the validation of their output."""

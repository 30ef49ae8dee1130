"""Preference pairs: other answers to a recorded prompt, each played to the end of the episode with the same luck."""

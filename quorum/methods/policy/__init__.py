"""The policy: a mind trained by reinforcement learning and loaded from a weights file (`mind.py`)."""

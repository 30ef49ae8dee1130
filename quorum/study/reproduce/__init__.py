"""Reproduce published figures: run their experiments, and judge point by point what agrees."""

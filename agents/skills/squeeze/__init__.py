"""Squeeze."""

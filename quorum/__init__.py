"""Quorum."""

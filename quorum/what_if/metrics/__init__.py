"""Metrics of credits."""

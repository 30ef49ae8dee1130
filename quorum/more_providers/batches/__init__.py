"""Batches: requests sent together, answered within a day, at half the price."""

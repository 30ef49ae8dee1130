"""Batches: requests that are sent together, answered within a day, and cost half."""

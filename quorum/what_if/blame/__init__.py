"""Blame: which decision of a run made it fail, found by branches of it."""

"""Blame: find the decision that made a run fail, by branches of the run."""

"""Experiment trackers, such as MLflow, that log finished runs: `track=NAME` of a run or a sweep."""

"""Trackers of experiments, such as MLflow, to which finished runs are logged: `track=NAME` of a run or a sweep."""

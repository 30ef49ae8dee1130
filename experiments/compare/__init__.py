"""Comparisons of metrics by a factor across another: statistics, tables, figures."""

from quorum.experiments.compare.comparison import Comparison, Group, Question, compare

__all__ = ["Comparison", "Group", "Question", "compare"]

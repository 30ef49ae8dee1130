"""Comparisons of metrics by a factor across another: statistics, tables, figures."""

from quorum.experiments.compare.comparison import FIRST, Comparison, Question, compare
from quorum.experiments.compare.groups import Group

__all__ = ["FIRST", "Comparison", "Group", "Question", "compare"]

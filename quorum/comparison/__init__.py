"""Compare metrics by one factor across another: statistics, tables, figures."""

from quorum.comparison.comparison import FIRST, Comparison, Question, compare
from quorum.comparison.groups import Group

__all__ = ["FIRST", "Comparison", "Group", "Question", "compare"]

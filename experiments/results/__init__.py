"""The results of many episodes: one row a run, read from their folders; as a table, as CSV, and for SQL."""

from quorum.experiments.results.reading import read_results
from quorum.experiments.results.rows import POOLED, Damaged, Results, Row
from quorum.experiments.results.table import as_csv, write_csv

__all__ = ["POOLED", "Damaged", "Results", "Row", "as_csv", "read_results", "write_csv"]

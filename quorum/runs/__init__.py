"""The results of many episodes: one row per run, read from their folders; as a table, as CSV, and for SQL."""

from quorum.runs.results_folder import as_csv, is_current, read_results, write_csv
from quorum.runs.rows import POOLED, Damaged, Results, Row

__all__ = ["POOLED", "Damaged", "Results", "Row", "as_csv", "is_current", "read_results", "write_csv"]

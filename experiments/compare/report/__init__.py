"""One self-contained HTML page of a sweep."""

from quorum.experiments.compare.report.page import Options, write_report

__all__ = ["Options", "write_report"]

"""One self-contained HTML page of a sweep."""

from quorum.experiments.compare.report.page import write_report

__all__ = ["write_report"]

"""The formats of `quorum export` for tools that look at runs."""

from __future__ import annotations

from typing import Any


def parquet() -> Any:
    """--to parquet writes the tables runs, events and calls; it needs the extra `analysis`."""
    from quorum.view.export import parquet

    return parquet


def inspect() -> Any:
    """--to inspect writes a log of Inspect AI, with a sample per run."""
    from quorum.view.export import inspect_log

    return inspect_log


def hf() -> Any:
    """--to hf writes the tables of parquet as a folder that datasets.load_dataset opens."""
    from quorum.view.export import hf

    return hf


def otlp() -> Any:
    """--to otlp writes a trace of OpenTelemetry per run as OTLP/JSON, by the semantic conventions for generative AI."""
    from quorum.view.export import otlp

    return otlp


def who_when() -> Any:
    """--to who-when writes a folder with a case of Who&When per run, without labels.

    The cases are for `quorum blame --import` and other readers. They include the plans and messages of agents only with
    --calls.
    """
    from quorum.view.export import who_when

    return who_when

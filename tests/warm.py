"""Imported by the server from which the commands of the tests are forked: what most commands need, made ready."""

from __future__ import annotations

import tempfile
from pathlib import Path

import anthropic  # noqa: F401 - all of these are ready for those who are forked
import matplotlib.figure  # noqa: F401
import openai  # noqa: F401

import quorum.cli
import quorum.experiments.results.summary  # noqa: F401
from quorum.experiments.configuration.cell import Cell
from quorum.experiments.episode.runner import run_cell

with tempfile.TemporaryDirectory() as _folder:  # loads the kernels
    run_cell(Cell.compose(["n=2", "agents=naive", "topology=debate", "max_steps=3"]), Path(_folder))
    run_cell(Cell.compose(["n=2", "max_steps=3"]), Path(_folder))

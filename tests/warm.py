"""Imported by the server from which the commands of the tests are forked: what most commands need, made ready."""

from __future__ import annotations

import gc
import tempfile
from pathlib import Path

import anthropic  # noqa: F401 - all of these are ready for those who are forked
import matplotlib.backends.backend_agg
import matplotlib.backends.backend_svg
import matplotlib.figure
import matplotlib.font_manager  # noqa: F401 - it lists the fonts
import openai  # noqa: F401

import quorum.cli
import quorum.comparison.report
import quorum.runs.summary
import quorum.sweeps.command
import quorum.view.viewer.command  # noqa: F401
from quorum.configuration.cell import Cell
from quorum.episode.runner import run_cell
from tests.templates import share_templates

share_templates()
with tempfile.TemporaryDirectory() as _folder:  # loads the kernels
    run_cell(Cell.compose(["n=2", "agents=naive", "topology=debate", "max_steps=3"]), Path(_folder))
    run_cell(Cell.compose(["n=2", "max_steps=3"]), Path(_folder))
gc.collect()
gc.freeze()  # a collection in a forked process does not copy the memory of the server

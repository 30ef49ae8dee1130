"""Weights & Biases (https://wandb.ai): a run of Quorum is a run in W&B, and a sweep is a group."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Literal

from maeil.component import Component, ComponentConfig
from quorum.installation.packages import load
from quorum.runs.tracking import TrackedRun
from quorum_base.user_errors import UserError


class WandbConfig(ComponentConfig):
    """Values of `wandb`."""

    name: Literal["wandb"]
    mode: Literal["offline", "online"]
    """Whether runs are sent, or only written to files."""
    project: str
    """The project of the runs."""
    folder: str
    """Folder that contains the folder `wandb` with the files."""


class WandbTracker:
    """Implements `quorum.runs.tracking.Tracker`."""

    def __init__(self, config: WandbConfig, wandb: Any) -> None:
        self._config = config
        self._wandb = wandb

    def log(self, run: TrackedRun) -> None:
        """Log a run."""
        if any(Path(self._config.folder, "wandb").glob(f"*run-*-{run.id}")):
            return
        quiet = {"silent": True, "console": "off", "x_disable_meta": True, "x_disable_stats": True}
        logged = self._wandb.init(
            id=run.id,
            name=run.row.name,
            group=run.group,
            project=self._config.project,
            dir=self._config.folder,
            mode=self._config.mode,
            config={**run.row.shown_factors, **run.tags},
            tags=[run.row.outcome],
            reinit="create_new",
            resume="allow",
            settings=self._wandb.Settings(disable_git=True, **quiet),
        )
        logged.summary.update(run.metrics)
        logged.finish(exit_code=int(run.row.failed))


def _build(config: WandbConfig, _: None) -> WandbTracker:
    if config.mode == "online" and not os.environ.get("WANDB_API_KEY"):
        raise UserError("track.mode=online needs a key", "Set WANDB_API_KEY, or write files: track.mode=offline.")
    os.environ.setdefault("WANDB_ERROR_REPORTING", "false")
    os.environ.setdefault("WANDB_DISABLE_WEAVE", "true")  # Weave would send prompts and answers
    return WandbTracker(config, load("wandb", "wandb", "track=wandb"))


component = Component(WandbConfig, _build)

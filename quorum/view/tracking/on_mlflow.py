"""MLflow (https://mlflow.org): a run of Quorum is a run in MLflow."""

from __future__ import annotations

import os
from typing import Any, Literal

from maeil.component import Component, ComponentConfig
from quorum.installation.packages import load
from quorum.runs.tracking import TrackedRun

_LONGEST = 6000
"""Maximum characters of a parameter."""
_MOST = 100
"""Maximum number of parameters to send at once."""


class MlflowConfig(ComponentConfig):
    """Values of `mlflow`."""

    name: Literal["mlflow"]
    uri: str | None
    """Tracking URI; None: MLflow's default."""
    experiment: str | None
    """Name of the experiment; None: name of the sweep."""


class MlflowTracker:
    """Implements `quorum.runs.tracking.Tracker`."""

    def __init__(self, config: MlflowConfig, mlflow: Any) -> None:
        self._config = config
        self._mlflow = mlflow

    def log(self, run: TrackedRun) -> None:
        """Log a run, or the rest of one whose logging was interrupted."""
        client, of = self._mlflow.MlflowClient(self._config.uri), self._mlflow.entities
        name = self._config.experiment or run.group
        found = client.get_experiment_by_name(name)
        experiment = found.experiment_id if found is not None else client.create_experiment(name)
        there = client.search_runs([experiment], f"tags.`quorum.run` = '{run.id}'")
        if there and there[0].info.status != "RUNNING":
            return
        begin, end = run.meta.milliseconds
        made = there[0] if there else client.create_run(experiment, begin, run.tags, run.row.name)
        own = made.info.run_id
        parameters = [of.Param(key, str(value)[:_LONGEST]) for key, value in run.row.shown_factors.items()]
        for first in range(0, len(parameters), _MOST):
            client.log_batch(own, params=parameters[first : first + _MOST])
        client.log_batch(own, metrics=[of.Metric(key, value, end, 0) for key, value in run.metrics.items()])
        client.set_terminated(own, "FAILED" if run.row.failed else "FINISHED", end)


def _build(config: MlflowConfig, _: None) -> MlflowTracker:
    os.environ.setdefault("MLFLOW_DISABLE_TELEMETRY", "true")
    os.environ.setdefault("MLFLOW_LOGGING_LEVEL", "WARNING")
    return MlflowTracker(config, load("mlflow", "mlflow", "track=mlflow"))


component = Component(MlflowConfig, _build)

"""Named experiments: files in `configs/experiment/` that hold only values, written as command line arguments.

    # What the file is about.
    fixed: [agents=naive, max_steps=300]
    grid: ["n=2,4,8", "seed=range(0,10)"]
    arms:
      debate: [topology=debate]
      leader: [topology=centralized, topology.feedback=constraints]

`fixed` holds arguments with one value each, and `grid` holds swept arguments. Each arm in `arms` is a list of arguments
with one value each, and the whole grid runs with every arm; `arms: {}` is an experiment without arms. Command line
arguments replace those of the file that set the same key. Two keys are optional: `metrics` names the metrics that a
comparison shows by default, and `published` holds published results of others (`quorum.runs.sweep_file`), which a
comparison shows next to its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from quorum.configuration.catalogue import EXPERIMENT
from quorum.configuration.checked_values import describe_validation_errors
from quorum.configuration.hints import no_option
from quorum.configuration.option_folders import ConfigDir, option_folders
from quorum.configuration.overrides import EXPERIMENT_FILES
from quorum.runs.sweep_file import Published
from quorum.storage.plain_yaml import NotPlain, parse_yaml
from quorum_base.user_errors import UserError, nearest

_FORM = "An experiment has fixed, grid and arms, once: fixed: [seed=1], grid: ['n=2,4'], arms: {}; see docs/sweeps.md."


class Experiment(BaseModel):
    """The contents of an experiment file."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    fixed: Sequence[str]
    """Arguments with one value each."""
    grid: Sequence[str]
    """Swept arguments."""
    arms: Mapping[str, Sequence[str]]
    """Arguments with one value each, by arm name; empty for an experiment without arms."""
    metrics: Sequence[str] = ()
    """Metrics that a comparison shows by default; empty: the usual ones."""
    published: Published | None = None
    """Comparable results published by others."""


def load(name: str, config_dir: ConfigDir = ()) -> Experiment:
    """Read a named experiment; see `read` for errors in its file.

    Args:
        name: file name without its extension.
        config_dir: folders whose `experiment/` is searched first.

    Raises:
        UserError: there is no such experiment.
    """
    folders = [folder / EXPERIMENT for folder in option_folders(config_dir)]
    files = {file.stem: file for folder in reversed(folders) for file in sorted(folder.glob("*.yaml"))}
    if name not in files:
        raise no_option(EXPERIMENT, name, config_dir)
    return read(files[name])


def read(file: Path) -> Experiment:
    """Read the file of an experiment.

    Raises:
        UserError: there is no such file, or it is not a valid experiment.
    """
    if not file.is_file():
        files = sorted(str(other) for other in file.parent.glob("*") if other.suffix in EXPERIMENT_FILES)
        raise UserError(f"{file}: there is no such file", nearest(str(file), files) or _FORM)
    try:
        raw = parse_yaml(file.read_bytes())
    except (NotPlain, OSError) as error:
        raise UserError(f"{file}: {error}", _FORM) from error
    values = raw if isinstance(raw, Mapping) else {}
    try:
        experiment = Experiment.model_validate(values)
    except ValidationError as error:
        problems = describe_validation_errors(error, values, "", list(Experiment.model_fields))
        raise UserError(f"{file}: {problems}", _FORM) from error
    if any(not arm.strip() for arm in experiment.arms):
        raise UserError(f"{file}: arms: an arm has an empty name")
    return experiment

"""Named experiments: files of `configs/experiment/` that hold values only, in the words of the command line.

    # What the file is about.
    fixed: [agents=naive, max_steps=300]
    grid: ["n=2,4,8", "seed=range(0,10)"]
    arms:
      debate: [topology=debate]
      leader: [topology=centralized, topology.feedback=constraints]

`fixed` holds arguments of one value each, `grid` those that are swept. Each arm of `arms` is a list of arguments of one
value each, and the whole grid is run with each; `arms: {}` is an experiment without arms. Arguments of the command line
take the place of those of the file that set the same key. Two more keys may be left out: `metrics` names what a
comparison shows when nothing else is asked for, and `published` holds results of others
(`quorum.runs.sweep_file`), which it shows next to its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pydantic import BaseModel, ConfigDict, ValidationError

from quorum.configuration.catalogue import EXPERIMENT, no_option
from quorum.configuration.checked_values import describe_validation_errors
from quorum.configuration.option_folders import ConfigDir, option_folders
from quorum.runs.sweep_file import Published
from quorum.storage.plain_yaml import NotPlain, parse_yaml
from quorum_base.user_errors import UserError


class Experiment(BaseModel):
    """A named experiment: what its file must hold."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    fixed: Sequence[str]
    """Arguments of one value each."""
    grid: Sequence[str]
    """Arguments that are swept."""
    arms: Mapping[str, Sequence[str]]
    """Arguments of one value each, by the name of the arm; empty for an experiment without arms."""
    metrics: Sequence[str] = ()
    """What a comparison of it shows when nothing else is asked for; empty: the usual ones."""
    published: Published | None = None
    """What others have published of the same."""


def load(name: str, config_dir: ConfigDir = ()) -> Experiment:
    """Read a named experiment.

    Args:
        name: of its file, without the ending.
        config_dir: folders whose `experiment/` is looked into first.

    Raises:
        UserError: there is no such file, or it is not one of an experiment.
    """
    folders = [folder / EXPERIMENT for folder in option_folders(config_dir)]
    files = {file.stem: file for folder in reversed(folders) for file in sorted(folder.glob("*.yaml"))}
    if name not in files:
        raise no_option(EXPERIMENT, name, config_dir)
    try:
        raw = parse_yaml(files[name].read_bytes())
    except (NotPlain, OSError) as error:
        raise UserError(f"{files[name]}: {error}") from error
    values = raw if isinstance(raw, Mapping) else {}
    try:
        experiment = Experiment.model_validate(values)
    except ValidationError as error:
        problems = describe_validation_errors(error, values, "", list(Experiment.model_fields))
        raise UserError(
            f"{files[name]}: {problems}", "An experiment has fixed, grid and arms: see docs/sweeps.md."
        ) from error
    if any(not arm.strip() for arm in experiment.arms):
        raise UserError(f"{files[name]}: arms: an arm has an empty name")
    return experiment

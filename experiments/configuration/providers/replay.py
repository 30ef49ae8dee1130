"""`llm=replay`: the answers of an earlier run."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal

import orjson
from pydantic import Field

from maeil.component import Component
from maeil.digests import digest_file
from maeil.user_errors import UserError
from quorum.agents.llm.replay import Replay
from quorum.experiments.configuration.providers.config import ModelConfig


class ReplayConfig(ModelConfig):
    """Values of `replay`. How the models were asked stands in the earlier run's own configuration."""

    name: Literal["replay"]
    run: Annotated[str, Field(min_length=1)]
    """Folder of the episode whose `calls.jsonl` answers."""


def build(config: ReplayConfig, _context: None) -> Replay:
    """Make the model that answers what was recorded.

    Raises:
        UserError: there is no such run, or it recorded no calls.
    """
    file = Path(config.run) / "calls.jsonl"
    try:
        return Replay([orjson.loads(line) for line in read_recorded(file).splitlines()])
    except (ValueError, KeyError, TypeError) as error:
        raise UserError(f"llm.run: {file} is damaged: {error}") from error


def read_recorded(file: Path) -> str:
    """Read a file of the earlier run.

    Raises:
        UserError: it cannot be read.
    """
    try:
        return file.read_text(encoding="utf-8")
    except OSError as error:
        hint = "Give the folder of an episode whose minds asked a language model."
        raise UserError(f"llm.run: {file} cannot be read: {error.strerror}", hint) from error


def inputs(config: ReplayConfig, _world: str) -> Mapping[str, str]:
    """Return the digests of the files of the earlier run that answer; nothing where there are none."""
    found = {name: digest_file(Path(config.run) / name) for name in ("calls.jsonl", "config.yaml")}
    return {f"llm.run/{name}": value for name, value in found.items() if value is not None}


component = Component(ReplayConfig, build, inputs=inputs)

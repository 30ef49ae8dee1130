"""`llm=replay`: the answers of an earlier run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import orjson
import yaml
from pydantic import Field

from maeil.component import Component, ComponentConfig
from maeil.user_errors import UserError
from quorum.agents.llm.replay import Replay
from quorum.experiments.configuration.providers.config import ProviderConfig

if TYPE_CHECKING:
    from quorum.experiments.configuration.schema import Configuration


class ReplayConfig(ComponentConfig):
    """Values of `replay`. How the models were asked stands in the earlier run's own configuration."""

    name: Literal["replay"]
    run: Annotated[str, Field(min_length=1)]
    """Folder of the episode whose `calls.jsonl` answers."""


class Recorded:
    """An earlier run, as a replay needs it.

    Args:
        run: its folder.

    Raises:
        UserError: there is no such run, or it recorded no calls.
    """

    def __init__(self, run: Path) -> None:
        self._run = run
        lines = self._read("calls.jsonl").splitlines()
        try:
            self.model = Replay([orjson.loads(line) for line in lines])
            """Answers what was recorded."""
        except (ValueError, KeyError, TypeError) as error:
            raise UserError(f"llm.run: {run / 'calls.jsonl'} is damaged: {error}") from error
        self._configuration = self._validated()

    def _read(self, name: str) -> str:
        try:
            return (self._run / name).read_text(encoding="utf-8")
        except OSError as error:
            hint = "Give the folder of an episode whose minds asked a language model."
            raise UserError(f"llm.run: {self._run / name} cannot be read: {error.strerror}", hint) from error

    def _validated(self) -> Configuration:
        from quorum.experiments.configuration.schema import validate  # noqa: PLC0415 - the schema finds this module through the registry

        data: dict[str, Any] = yaml.safe_load(self._read("config.yaml"))
        data.pop("hash", None)
        return validate(data)

    def llm_of(self, participant: str) -> ProviderConfig:
        """Give the values of a participant's model in the earlier run; of the first one, where that was a replay."""
        config = self._configuration.llm_of(participant)
        if isinstance(config, ReplayConfig):
            return Recorded(Path(config.run)).llm_of(participant)
        assert isinstance(config, ProviderConfig)
        return config


def build(config: ReplayConfig) -> Replay:
    """Make the model that answers what was recorded.

    Raises:
        UserError: there is no such run, or it recorded no calls.
    """
    return Recorded(Path(config.run)).model


component = Component(ReplayConfig, build)

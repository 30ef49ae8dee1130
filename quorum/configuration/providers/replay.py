"""`llm=replay`: the answers of an earlier run."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from maeil.component import Component
from quorum.agents.llm.recording import Unfolding
from quorum.agents.llm.replay import Replay
from quorum.configuration.providers.config import ModelConfig
from quorum.storage.run_files import DamagedFile, RunFiles
from quorum_base.digests import digest_file
from quorum_base.user_errors import UserError

_CALLS = "calls.jsonl"


class ReplayConfig(ModelConfig):
    """Values of `replay`. How the models were asked stands in the recorded calls."""

    name: Literal["replay"]
    run: Annotated[str, Field(min_length=1)]
    """Folder of the episode whose `calls.jsonl` answers."""

    def writes_thoughts(self, participant: str, role: str) -> bool:
        """Whether answers began with thoughts when they were recorded, by the first one; True where there is none."""
        reader = Unfolding()
        with suppress(OSError, DamagedFile, ValueError, LookupError, TypeError):  # who builds the model reports it
            for record in map(reader.read, RunFiles(Path(self.run)).lines(_CALLS)):
                if (record["agent"], record.get("role", "")) == (participant, role):
                    answer = reader.whole(record)["request"]["answer"]
                    return answer is None or "thoughts" in answer["schema"]["properties"]
        return True


def build(config: ReplayConfig, _context: None) -> Replay:
    """Make the model that answers what was recorded.

    Raises:
        UserError: there is no such run, or it recorded no calls.
    """
    return recorded_calls(Path(config.run), "llm.run")


def recorded_calls(run: Path, place: str) -> Replay:
    """Make the model that answers what was recorded in a run.

    Args:
        run: its folder.
        place: what names it, for messages.

    Raises:
        UserError: there is no such run, or it recorded no calls.
    """
    file = run / _CALLS
    try:
        reader = Unfolding()
        return Replay(map(reader.read, RunFiles(run).lines(_CALLS)), reader.whole)
    except FileNotFoundError as error:
        hint = "Give the folder of an episode whose minds asked a language model."
        raise UserError(f"{place}: {file} cannot be read: {error.strerror}", hint) from error
    except DamagedFile as error:
        raise UserError(f"{place}: {error.message}", error.hint) from error
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        raise UserError(f"{place}: {file} is damaged: {error}") from error


def inputs(config: ReplayConfig, _world: str) -> Mapping[str, str]:
    """Return the digest of the calls that answer; nothing where there are none that can be read."""
    run = RunFiles(Path(config.run))
    found = digest_file(run.path / _CALLS) if run.holds(_CALLS) else None
    return {f"llm.run/{_CALLS}": found} if found is not None else {}


component = Component(ReplayConfig, build, inputs=inputs)

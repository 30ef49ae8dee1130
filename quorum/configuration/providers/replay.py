"""`llm=replay`: the answers of an earlier run."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any, Literal

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
    """Values of `replay`. The recorded calls contain the settings of the models."""

    name: Literal["replay"]
    run: Annotated[str, Field(min_length=1)]
    """Folder of the episode whose `calls.jsonl` provides the answers."""

    def writes_thoughts(self, participant: str, role: str) -> bool:
        """Whether recorded answers start with thoughts, judged by the first one; True if there is none."""
        reader = Unfolding()
        with suppress(OSError, DamagedFile, ValueError, LookupError, TypeError):  # building the model reports it
            for record in map(reader.read, RunFiles(Path(self.run)).lines(_CALLS)):
                if (record["agent"], record.get("role", "")) == (participant, role):
                    answer = reader.whole(record)["request"]["answer"]
                    return answer is None or "thoughts" in answer["schema"]["properties"]
        return True


def build(config: ReplayConfig, _context: None) -> Replay:
    """Build the model that replays recorded answers.

    Raises:
        UserError: there is no such run, or it recorded no calls.
    """
    return recorded_calls(Path(config.run), "llm.run")


def recorded_calls(run: Path, place: str, replies: Mapping[int, Mapping[str, Any]] | None = None) -> Replay:
    """Build the model that replays the answers of a run.

    Args:
        run: folder of the run.
        place: configuration key that names it, for messages.
        replies: replies that replace recorded ones, by the number of their record in the file; None: none.

    Raises:
        UserError: there is no such run, or it recorded no calls.
    """
    file = run / _CALLS
    try:
        reader, other = Unfolding(), replies or {}
        records = enumerate(map(reader.read, RunFiles(run).lines(_CALLS)))
        return Replay(({**own, "reply": other[n]} if n in other else own for n, own in records), reader.whole)
    except FileNotFoundError as error:
        hint = "Give the folder of an episode whose minds asked a language model."
        raise UserError(f"{place}: {file} cannot be read: {error.strerror}", hint) from error
    except DamagedFile as error:
        raise UserError(f"{place}: {error.message}", error.hint) from error
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        raise UserError(f"{place}: {file} is damaged: {error}") from error


def inputs(config: ReplayConfig, _world: str) -> Mapping[str, str]:
    """Return the digest of the replayed calls; empty if there are none that can be read."""
    run = RunFiles(Path(config.run))
    found = digest_file(run.path / _CALLS) if run.holds(_CALLS) else None
    return {f"llm.run/{_CALLS}": found} if found is not None else {}


component = Component(ReplayConfig, build, inputs=inputs)

"""What a language model is asked: the prompt of a participant's first turn."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from maeil.errors import EpisodeStop
from maeil.trace import Recorder
from maeil.user_errors import UserError, choices_hint
from quorum.agents.llm.protocol import Model, Reply, Request
from quorum.experiments.configuration.cell import Cell
from quorum.experiments.episode.models import EpisodeModels, ModelPool
from quorum.experiments.episode.runner import Parts, build, play


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt as a participant's model gets it.

    Attributes:
        cell: the experiment.
        participant: whose turn it is.
        request: what the model is asked.
    """

    cell: Cell
    participant: str
    request: Request

    def text(self) -> str:
        """Return it for a reader: each message under its role, then the schema of the answer."""
        parts = [f"--- {message.role} ---\n{message.content.strip()}" for message in self.request.messages]
        if self.request.answer is not None:
            parts.append(
                f"--- wanted: {self.request.answer.name} ---\n{json.dumps(self.request.answer.schema, indent=2)}"
            )
        return "\n\n".join(parts)

    def plain(self) -> dict[str, Any]:
        """Return it as JSON-ready data."""
        answer = self.request.answer
        return {
            "participant": self.participant,
            "messages": [{"role": str(m.role), "content": m.content} for m in self.request.messages],
            "schema": dict(answer.schema) if answer is not None else None,
        }


class _PromptFound(EpisodeStop):
    """The participant was asked: the episode need not go on."""


class _PromptCatcher:
    """Stands in the place of the participant's model."""

    def __init__(self) -> None:
        self.request: Request | None = None

    async def complete(self, request: Request) -> Reply:
        self.request = request
        raise _PromptFound


def first_prompt(arguments: Sequence[str], config_dir: Path | None = None) -> Prompt:
    """Find what the model of a participant is asked first.

    Those who have a turn before it are answered by the simulated model, whatever `llm` says: nothing is spent.

    Args:
        arguments: `KEY=VALUE` as for a run, and `agent=NUMBER` or `agent=NAME`; minds that think without a language
            model give place to `agents=naive` unless they are named.
        config_dir: folder with more options of the groups.

    Raises:
        UserError: an argument is wrong, or the participant's mind asks no model.
    """
    wanted, rest = _split(arguments)
    cell = Cell.compose(rest, config_dir)
    if not cell.configuration.uses_models:
        hint = "Choose minds that do, for example agents=naive."
        raise UserError(f"show prompt: agents={cell.configuration.agents.name} thinks without a language model", hint)
    catcher = _PromptCatcher()
    names: list[str] = []
    pool = ModelPool()
    others = EpisodeModels(cell.configuration, pool, None)

    def models(name: str) -> Model:
        names.append(name)
        return catcher if name == _named(wanted, names) else others(name)

    parts = build(cell, models)
    participant = _named(wanted, names)
    if participant is None:
        raise UserError(f"agent={wanted}: there is no such participant", choices_hint(wanted, "They are", names))
    asyncio.run(_played(cell, parts, pool))
    if catcher.request is None:
        raise UserError(f"agent={wanted}: {participant} has no turn in this episode")
    return Prompt(cell, participant, catcher.request)


async def _played(cell: Cell, parts: Parts, pool: ModelPool) -> None:
    try:
        await play(cell, parts, Recorder(None))
    finally:
        await pool.close()


def _named(wanted: str, names: Sequence[str]) -> str | None:
    """Return the participant that is meant, by its name or by its number, as far as they are known."""
    if wanted in names:
        return wanted
    return names[int(wanted)] if wanted.isdigit() and int(wanted) < len(names) else None


def _split(arguments: Sequence[str]) -> tuple[str, list[str]]:
    named, rest = [], []
    for argument in arguments:
        key, _, value = argument.partition("=")
        if key == "agent":
            named.append(value)
        elif key.split(".")[0] not in ("llm", "+llm", "++llm"):
            rest.append(argument)
    if not any(argument.startswith("agents=") for argument in rest):
        rest.append("agents=naive")
    if len(named) > 1:
        raise UserError(f"agent is given twice: {' and '.join(named)}", "Leave one of them out.")
    return (named[0] if named else "0"), rest

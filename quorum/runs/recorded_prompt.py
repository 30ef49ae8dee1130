"""Recovers the prompt of a turn of a recorded run from its calls."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from quorum.agents.llm.pictures import Picture
from quorum.agents.llm.protocol import AnswerFormat, ChatMessage, ChatRole, Origin, Request
from quorum.agents.llm.recording import unfolded
from quorum.agents.llm.records import read_sampling
from quorum.episode.call_ledger import CALLS
from quorum.episode.prompt import Prompt, Wanted, choices, find_participant
from quorum.runs.recorded_episode import open_episode
from quorum.storage.run_files import LARGEST_PICTURE, DamagedFile, RunFiles, picture_file
from quorum_base.user_errors import UserError

_MOST_NAMED = 12
"""Steps listed in a message, at most."""


def recorded_prompt(wanted: Wanted) -> Prompt:
    """Return a participant's prompt in a step of a recorded run, word for word.

    Args:
        wanted: `at` names the run and the step.

    Raises:
        UserError: there is no such run, step, participant, role or turn, the run called no language model, or `rest`
            would change the prompt.
    """
    folder, step = _place(wanted)
    if wanted.rest:
        raise UserError(
            f"at={wanted.at}: it shows a recorded prompt, which {' '.join(wanted.rest)} cannot change",
            "Leave out at= to see a prompt of another configuration.",
        )
    episode = open_episode(folder)
    if step > episode.steps:
        raise UserError(f"at={wanted.at}: the run ends after step {episode.steps}")
    participant = find_participant(wanted.agent, [*episode.trace.start.agents, *episode.trace.start.coordinators])
    calls = [call for call in calls_of(folder) if call.get("agent") == participant]
    if not calls:
        hint = choices(wanted, map(_origin, calls_of(folder)))
        raise UserError(f"at={wanted.at}: {participant} asked no language model in this run", hint)
    in_step = [call for call in calls if call.get("t") == step]
    if not in_step:
        steps = {int(call["t"]) for call in calls}
        near = sorted(sorted(steps, key=lambda t: abs(t - step))[:_MOST_NAMED])
        raise UserError(
            f"at={wanted.at}: {participant} got no prompt in step {step}",
            f"Nearest steps with a prompt: {', '.join(map(str, near))}.",
        )
    fits = [
        call
        for call in in_step
        if (not wanted.role or call.get("role") == wanted.role)
        and (not wanted.turn or wanted.turn in call.get("turn", ()))
    ]
    if fits:
        return _prompt(folder, fits[0], participant, step, len(fits))
    hint = choices(wanted, (call for call in map(_origin, calls_of(folder)) if call.t == step))
    raise UserError(f"{wanted.words}: {participant} got no such prompt in step {step}", hint)


def _origin(call: Mapping[str, Any]) -> Origin:
    return Origin(call["agent"], call["t"], call.get("role", ""), tuple(call.get("turn", ())))


def _place(wanted: Wanted) -> tuple[Path, int]:
    name, colon, step = wanted.at.rpartition(":")
    if not colon or not name or not step.isdigit():
        raise UserError(f"at={wanted.at}: give the folder of a run and a step", "For example at=runs/NAME:12.")
    return Path(name), int(step)


def calls_of(folder: Path) -> Iterator[Mapping[str, Any]]:
    """Yield the complete records of a run's calls; none if the file does not exist.

    Raises:
        UserError: the file is damaged.
    """
    try:
        yield from unfolded(RunFiles(folder).lines(CALLS))
    except FileNotFoundError:
        return
    except DamagedFile as error:
        raise UserError(f"{folder}: {error.message}", error.hint) from error
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        raise UserError(f"{folder / CALLS} is damaged: {error}") from error


def _pictures(folder: Path, message: Mapping[str, Any]) -> Iterator[Picture]:
    """Yield the images of a recorded message; their bytes are read only on demand."""
    for record in message.get("pictures", ()):
        try:
            name = picture_file(record["hash"])
            yield Picture(record["hash"], record["width"], record["height"], partial(_png, folder, name))
        except (ValueError, LookupError, TypeError) as error:
            raise UserError(f"{folder / CALLS} is damaged: a picture: {error}") from error


def _png(folder: Path, name: str) -> bytes:
    png = RunFiles(folder).read(name, LARGEST_PICTURE)
    if png is None:
        raise UserError(f"{folder / name}: there is no such file", "The picture of this prompt was deleted.")
    return png


def _prompt(folder: Path, call: Mapping[str, Any], participant: str, step: int, others: int) -> Prompt:
    request = recorded_request(folder, call)
    remark = (
        f"the first of {others} such prompts in step {step}; choose others with role= and turn=" if others > 1 else ""
    )
    role, turn = call.get("role", ""), tuple(call.get("turn", ()))
    return Prompt(participant, step, role, turn, request.messages, request.answer, remark)


def recorded_request(folder: Path, call: Mapping[str, Any], *, in_words: bool = False) -> Request:
    """Return the request of a recorded call.

    Args:
        folder: folder of the run.
        call: its complete record.
        in_words: whether the prompts of the run describe the answer schemas in words.

    Raises:
        UserError: an image is damaged.
        LookupError, TypeError, ValueError: it is not the record of a call.
    """
    request = call["request"]
    messages = tuple(
        ChatMessage(
            ChatRole(m["role"]),
            m["content"],
            pictures=tuple(_pictures(folder, m)),
            carried=tuple(m.get("carried", ())),
        )
        for m in request["messages"]
    )
    form = request["answer"]
    answer = AnswerFormat(form["name"], form["schema"], in_words) if form else None
    sampling, carry = read_sampling(request["sampling"]), request.get("carry", False)
    return Request(messages, answer, sampling, request["sample"], origin=_origin(call), carry=carry)

"""The accepted answers of a run, each with its prompt: as recorded, or written again from a replay."""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from maeil.trace.events import CUT_SHORT, ThoughtEnd
from quorum.agents.llm.recording import unfolded
from quorum.agents.llm.records import read_reply
from quorum.agents.prompting.templates import PromptSet
from quorum.configuration.catalogue import option_names
from quorum.configuration.hints import no_option
from quorum.configuration.option_files import option_values
from quorum.configuration.option_folders import SHIPPED
from quorum.episode.call_ledger import CALLS, records_of
from quorum.runs import Row
from quorum.runs.run_folder import RunFolder
from quorum.train.transcripts import Turn, transcribe


@dataclass(frozen=True, slots=True)
class Answer:
    """An accepted answer.

    Attributes:
        turn: the turn, with its prompt and answer.
        model: name of the model that answered, or of the mind of rules.
        simulated: whether a simulated model answered.
        repairs: how many malformed answers precede it. They and the reasons are part of its prompt.
    """

    turn: Turn
    model: str
    simulated: bool
    repairs: int = 0


class LeftOut(StrEnum):
    """Why a recorded answer is not exported."""

    FAILED = "the request failed or was cancelled"
    MALFORMED = "malformed or empty"
    REFUSED = "refused by the loop or the world"
    UNFINISHED = "without effect, as the episode ended first"
    UNMATCHED = "not in the trace"
    PICTURES = "the prompt has pictures"


def recorded(row: Row, left_out: Counter[str]) -> Iterator[Answer]:
    """Yield the accepted answers of a run's models and their exact prompts, in the order in which thoughts ended.

    A repaired answer comes with the prompt that it answered, which quotes the malformed one.

    Args:
        row: a finished run.
        left_out: counts the other answers by the reason.

    Raises:
        DamagedFile: the run cannot be read.
    """
    run = RunFolder(row.folder)
    run.meta()  # has the digests of the other files
    if not run.files.exists(CALLS):
        return
    try:
        waiting = _calls(run)
        trace = run.trace()
        names = (*trace.start.agents, *trace.start.coordinators)
        for stamped in trace.stamped(ThoughtEnd):
            thought = stamped.event
            assert isinstance(thought, ThoughtEnd)
            own = waiting[names[thought.agent], stamped.t]
            for call in thought.calls:
                requests = [own.popleft() for _ in range(min(records_of(call), len(own)))]
                if requests:
                    yield from _accepted(requests, call, thought, left_out)
        left_out[LeftOut.UNMATCHED] += sum(map(len, waiting.values()))
    except (ValueError, TypeError, AttributeError, LookupError, RecursionError) as error:
        raise run.files.damaged(CALLS, f"damaged: {error!r}") from error


def _calls(run: RunFolder) -> Mapping[tuple[str, int], deque[dict[str, Any]]]:
    """Return the records of all requests by participant and step, in order."""
    found: defaultdict[tuple[str, int], deque[dict[str, Any]]] = defaultdict(deque)
    for record in unfolded(run.files.lines(CALLS)):
        found[record["agent"], record["t"]].append(record)
    return found


def _accepted(
    requests: list[dict[str, Any]], call: Mapping[str, Any], thought: ThoughtEnd, left_out: Counter[str]
) -> Iterator[Answer]:
    """Yield the answer of a call, which is that to its last request, if it was accepted."""
    *earlier, last = requests
    replies = [read_reply(record["reply"]) for record in requests if "reply" in record]
    left_out[LeftOut.MALFORMED] += len(earlier)
    request = last["request"]
    if "reply" not in last:
        left_out[LeftOut.FAILED] += 1
    elif call.get("parse_failure") or call.get("empty_answer"):
        left_out[LeftOut.MALFORMED] += 1
    elif sum(reply.usage.completion for reply in replies) != call.get("completion_tokens"):
        left_out[LeftOut.UNMATCHED] += 1
    elif CUT_SHORT in thought.refused:
        left_out[LeftOut.UNFINISHED] += 1
    elif thought.refused or call.get("rejections"):
        left_out[LeftOut.REFUSED] += 1
    elif any(message.get("pictures") for message in request["messages"]):
        left_out[LeftOut.PICTURES] += 1
    else:
        prompt = tuple((str(message["role"]), str(message["content"])) for message in request["messages"])
        acts, role = tuple(map(str, last.get("turn", ()))), str(last.get("role", ""))
        turn = Turn(str(last["agent"]), int(last["t"]), acts, role, prompt, replies[-1].text)
        yield Answer(turn, replies[-1].model, replies[-1].simulated, len(earlier))


def transcribed(row: Row, prompts: PromptSet) -> Iterator[Answer]:
    """Yield the turns of a run as its team would have answered a set of prompts.

    Raises:
        DamagedFile, UserError: see `transcribe`.
    """
    model = ", ".join(row.models) or f"{row.factors.get('agents.name')} (rules)"
    for turn in transcribe(row.folder, prompts):
        yield Answer(turn, model, row.simulated)


def prompt_set(name: str) -> PromptSet:
    """Return a set of prompts by its name.

    Raises:
        UserError: there is none.
    """
    if name not in option_names("prompts"):
        raise no_option("prompts", name, place="--prompts")
    return PromptSet(**option_values("prompts", name, SHIPPED))

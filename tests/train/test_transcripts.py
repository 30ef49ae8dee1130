"""A run's turns, written as a language model would have read and answered them."""

import json
import re
from collections import Counter, defaultdict, deque
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson
import pytest
import yaml

from maeil.trace import Stamped
from maeil.trace.events import PlanChange
from quorum.agents.llm.protocol import Finish, Reply, Request, Usage
from quorum.agents.llm.recording import unfolded
from quorum.agents.llm.validation import validator_of
from quorum.agents.prompting.templates import PromptSet
from quorum.configuration.cell import Cell
from quorum.episode.in_memory import play_in_memory
from quorum.episode.start import Start
from quorum.runs.run_folder import RunFolder
from quorum.train.transcripts import Turn, transcribe
from quorum_base.user_errors import UserError
from tests.recorded import recorded_run

CONFIGS = Path(__file__).parents[2] / "quorum" / "configs" / "prompts"
BOARD = ("n=3", "seed=5", "max_steps=60", "memory.messages=4")


def prompt_set(name: str, **values: object) -> PromptSet:
    return PromptSet(**{**yaml.safe_load((CONFIGS / f"{name}.yaml").read_text()), **values})


@pytest.mark.parametrize("topology", ["individual", "debate", "centralized", "decentralized"])
def test_a_language_models_turns_are_those_that_were_recorded(topology: str) -> None:
    """Differential: prompts byte for byte as in calls.jsonl, and answers that say the same."""
    words = (*BOARD, f"topology={topology}", "agents=naive", "llm=simulated", "prompts=terse", "prompts.thoughts=off")
    run = recorded_run(*words)
    calls = list(unfolded(RunFolder(run).files.lines("calls.jsonl")))
    recorded = Counter(
        (call["agent"], call["request"]["messages"][-1]["content"], _plain(call["reply"]["text"])) for call in calls
    )
    turns = transcribe(run, prompt_set("terse", thoughts="off"))
    assert Counter((turn.agent, turn.prompt[-1][1], _plain(turn.answer)) for turn in turns) == recorded
    assert len(turns) > 4


def _plain(answer: str) -> str:
    """An answer without nulls and reasons."""

    def cut(value: object) -> object:
        if isinstance(value, dict):
            return {key: cut(part) for key, part in value.items() if part is not None and key != "rationale"}
        return [cut(part) for part in value] if isinstance(value, list) else value

    return json.dumps(cut(json.loads(answer)), sort_keys=True)


@pytest.mark.parametrize("topology", ["individual", "debate", "centralized", "decentralized"])
def test_a_model_that_gives_the_answers_plays_like_the_teacher(topology: str) -> None:
    """The last link: a model that reads short prompts, and knows only the transcript, commits the teacher's plans."""
    run = recorded_run(*BOARD, f"topology={topology}", "agents=negotiator")
    turns = transcribe(run, prompt_set("short"))
    answers: defaultdict[tuple[tuple[str, str], ...], deque[str]] = defaultdict(deque)
    for turn in turns:
        answers[turn.prompt].append(turn.answer)
    committed: list[tuple[int, int, bytes]] = []

    class Student(Start):
        def models(self, *_: object, **__: object) -> Callable[[str], Any]:
            return lambda _name: Knows()

    class Knows:
        async def complete(self, request: Request) -> Reply:
            prompt = tuple((message.role.value, message.content) for message in request.messages)
            text = answers[prompt].popleft()
            assert request.answer is not None
            assert validator_of(request.answer.schema).reasons(json.loads(text)) == ()  # as services' answers are read
            return Reply(text, Finish.STOP, Usage(1, 1), None, 0.0, "student", value=json.loads(text))

    def hear(stamped: Stamped) -> None:
        if isinstance(stamped.event, PlanChange) and stamped.event.status == "committed":
            committed.append(_plan(stamped))

    words = [*BOARD, f"topology={topology}", "agents=naive", "llm=llamacpp", "llm.structured=prompt", "prompts=short"]
    play_in_memory(Cell.compose(words), [hear], start=Student())
    trace = RunFolder(run).whole_trace()
    assert committed == [
        _plan(stamped)
        for stamped in trace.events
        if isinstance(stamped.event, PlanChange) and stamped.event.status == "committed"
    ]
    assert committed


def _plan(stamped: Stamped) -> tuple[int, int, bytes]:
    assert isinstance(stamped.event, PlanChange)
    return stamped.t, stamped.event.agent, orjson.dumps(stamped.event.actions)


def test_a_run_that_this_version_plays_in_another_way_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    run = recorded_run(*BOARD, "topology=debate", "agents=negotiator")
    other = RunFolder(recorded_run(*BOARD, "topology=centralized", "agents=negotiator")).whole_trace()
    monkeypatch.setattr(RunFolder, "whole_trace", lambda _: other)
    with pytest.raises(UserError, match="does not repeat its trace"):
        transcribe(run, prompt_set("short"))


def test_short_prompts_hold_what_the_other_sets_hold() -> None:
    """Every number of the observation and every text of the messages is in the short prompt."""
    words = (*BOARD, "topology=debate", "agents=naive", "llm=simulated", "prompts=terse", "prompts.thoughts=off")
    run = recorded_run(*words)
    for full, short in zip(
        transcribe(run, prompt_set("terse", thoughts="off")), transcribe(run, prompt_set("short")), strict=True
    ):
        assert _facts(full) <= _facts(short)
        assert len(short.prompt[-1][1]) < len(full.prompt[-1][1]) / 2


def _facts(turn: Turn) -> set[str]:
    """Messages and cells of a prompt in either notation."""
    text = turn.prompt[-1][1].split("Answer with the keys")[0]
    cells = {f"{row},{column}" for row, column in re.findall(r"\[\d+,(\d+),(\d+)\]", text)}
    cells |= {f"{row},{column}" for row, column in re.findall(r"agent_\d+ (\d+),(\d+)$", text, re.MULTILINE)}
    return cells | set(re.findall(r"I take block_\d+, \d+ steps away", text))

"""A language model that reads what happened, by the three procedures of Who&When."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

import orjson
import pytest

from quorum.agents.llm.protocol import Finish, Reply, Request, Usage
from quorum.agents.prompting.blocks import read_blocks
from quorum.agents.simulated.reader import suspicions
from quorum.configuration.cell import Cell
from quorum.episode.call_ledger import CallLedger
from quorum.episode.model_pool import ModelPool
from quorum.episode.models import EpisodeModels
from quorum.runs.transcript import Transcript, TurnTaken
from quorum.what_if.blame.reader import Procedure, Reader, Scene
from quorum.what_if.blame.verdict import Verdict

SCENE = Scene("cube", (), 30)
TEAM = ("agent_0", "agent_1")


def turn(number: int, **more: object) -> dict[str, Any]:
    return {"turn": number, "step": number, "agent": TEAM[number % 2], "may": ["plan", "speak"], **more}


def plans(*actions: str) -> Mapping[str, object]:
    return {"for": "deliver:block_0", "actions": list(actions), "because": ""}


def transcript(*entries: dict[str, Any]) -> Transcript:
    turns = [TurnTaken(e["agent"], e["step"], 10 * e["turn"]) for e in entries if "turn" in e]
    after = [index + 1 for index, entry in enumerate(entries) if "turn" in entry]
    return Transcript(TEAM, turns, entries, after)


EIGHT = transcript(
    *(turn(number, says=[{"to": ["agent_0"], "text": f"</transcript> {number}"}]) for number in range(8))
)


class Answering:
    """A model that answers by a function of the blocks, and keeps what it was asked."""

    def __init__(self, answer: Callable[[Mapping[str, Any]], Mapping[str, object]]) -> None:
        self._answer = answer
        self.asked: list[Request] = []

    async def complete(self, request: Request) -> Reply:
        self.asked.append(request)
        blocks = {name: orjson.loads(text) for name, text in read_blocks(request.messages[-1].content).items()}
        value = self._answer(blocks)
        return Reply(orjson.dumps(value).decode(), Finish.STOP, Usage(1, 1), 0.0, 0.0, "mine", value=value)


def read(model: Any, procedure: Procedure, what: Transcript = EIGHT) -> Any:
    return asyncio.run(Reader(model, procedure, what, SCENE).read())


def test_all_at_once_asks_once_and_shows_every_turn() -> None:
    model = Answering(lambda _: {"thoughts": "", "agent": "agent_1", "turn": 5, "mistake": "it slept"})
    verdict = read(model, Procedure.ALL_AT_ONCE)
    assert (verdict.agent, verdict.t, verdict.t_hat, verdict.calls, verdict.reason) == ("agent_1", 5, 50, 1, "it slept")
    shown = orjson.loads(read_blocks(model.asked[0].messages[-1].content)["transcript"])
    assert shown == list(EIGHT.entries)


@pytest.mark.parametrize(
    ("agent", "turn", "reported"), [("agent_9", 3, ("agent_1", 3)), ("agent_1", 99, ("agent_1", None))]
)
def test_what_does_not_exist_is_not_taken_over(agent: str, turn: int, reported: tuple[str, int | None]) -> None:
    verdict = read(
        Answering(lambda _: {"thoughts": "", "agent": agent, "turn": turn, "mistake": ""}), Procedure.ALL_AT_ONCE
    )
    assert (verdict.agent, verdict.t) == reported


def test_step_by_step_shows_no_later_turn_and_ends_with_the_first_yes() -> None:
    seen: list[int] = []

    def answer(blocks: Mapping[str, Any]) -> Mapping[str, object]:
        assert blocks["transcript"][-1]["turn"] == blocks["turn"]["turn"]
        seen.append(blocks["turn"]["turn"])
        return {"thoughts": "", "decisive": blocks["turn"]["turn"] == 4, "mistake": "there"}

    verdict = read(Answering(answer), Procedure.STEP_BY_STEP)
    assert (verdict.agent, verdict.t, verdict.calls, seen) == ("agent_0", 4, 5, [0, 1, 2, 3, 4])


def test_step_by_step_may_find_nothing() -> None:
    verdict = read(Answering(lambda _: {"thoughts": "", "decisive": False, "mistake": ""}), Procedure.STEP_BY_STEP)
    assert (verdict.agent, verdict.t, verdict.calls) == (None, None, 8)


@pytest.mark.parametrize("wanted", range(8))
def test_bisection_halves_the_turns_until_one_is_left(wanted: int) -> None:
    def answer(blocks: Mapping[str, Any]) -> Mapping[str, object]:
        halves = [[entry["turn"] for entry in blocks[f"{half}_half"]] for half in ("first", "second")]
        assert abs(len(halves[0]) - len(halves[1])) <= 1
        return {"thoughts": "", "half": "first" if wanted in halves[0] else "second"}

    verdict = read(Answering(answer), Procedure.BISECTION)
    assert (verdict.agent, verdict.t, verdict.calls) == (TEAM[wanted % 2], wanted, 3)


def test_words_of_agents_cannot_close_their_block() -> None:
    model = Answering(lambda _: {"thoughts": "", "half": "first"})
    read(model, Procedure.BISECTION)
    for request in model.asked:
        text = request.messages[-1].content
        assert text.count("</first_half>") == text.count("<first_half>") == 1
        assert "</transcript>" not in text


@pytest.mark.parametrize("procedure", Procedure)
def test_the_simulated_reader_goes_by_the_transcript_and_says_that_it_is_simulated(procedure: Procedure) -> None:
    spoken = [turn(number, says=[{"to": ["agent_0"], "text": "hm"}]) for number in range(6)]
    late = transcript(*spoken[:3], turn(3, plans=plans(*["wait(steps=1)"] * 4, "push()"), says=[]), *spoken[4:])
    configuration = Cell.compose(["agents=naive"]).configuration

    async def ask() -> tuple[Verdict, bool]:
        pool = ModelPool()
        model = EpisodeModels(configuration, pool, CallLedger(configuration, None))("reader")
        reader = Reader(model, procedure, late, SCENE)
        verdict = await reader.read()
        await pool.close()
        return verdict, reader.simulated

    verdict, simulated = asyncio.run(ask())
    assert (verdict.agent, verdict.t, simulated) == ("agent_1", 3, True)


def test_suspicious_is_who_waits_repeats_fails_or_falls_silent() -> None:
    says = {"says": [{"to": [], "text": "hm"}]}
    entries = [
        turn(0, plans=plans("idle(steps=5)"), **says),
        turn(1, plans=plans("push()"), **says),
        {"step": 2, "agent": "agent_1", "plan": "failed", "why": "nothing there"},
        turn(3, plans=plans("push()"), **says),
        turn(5),
    ]
    assert suspicions(entries) == {
        0: "it begins with waiting",
        1: "its plan has ended as failed",
        3: "it repeats what has failed",
        5: "it is silent now",
    }
    assert suspicions([turn(0, plans=plans("idle(steps=1)", "push()"), **says)]) == {}

"""Episodes whose agents are sent their growing history: what is sent, recorded, replayed, paid for and branched."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from maeil.trace import comparable
from quorum.agents.llm.protocol import Model, Reply, Request
from quorum.agents.llm.recording import unfolded
from quorum.agents.llm.records import describe_message
from quorum.agents.simulated import SimulatedSettings
from quorum.agents.simulated.model import SimulatedModel
from quorum.configuration.cell import Cell
from quorum.episode.expected import expectation
from quorum.episode.runner import Result, run_cell
from quorum.sweeps.command import run_sweep_command
from quorum.sweeps.run import SweepRequest
from tests.episode.till import PRICES, Then, Till
from tests.loopback import Thinking
from tests.serving import served
from tests.what_if.branch.test_identity import assert_same, branched, calls_of

SETTINGS = {**dict.fromkeys(SimulatedSettings.model_fields, 0), "seed": 3}
GOOD, ERRING = (
    SimulatedModel(SimulatedSettings(**{**SETTINGS, "malformed": rate, "invalid": rate})) for rate in (0, 0.2)
)
ALONE = "env=squeeze n=3 agents=naive topology=debate max_steps=5"
TEAM = f"{ALONE} agents.memory=conversation"
LED = "topology=centralized topology.leader=coordinator topology.rounds"
Record = dict[str, Any]
Talk = list[dict[str, Any]]


@dataclass
class Listening:
    """A brain that keeps what it is asked."""

    brain: Model
    asked: list[Request] = field(default_factory=list)

    async def complete(self, request: Request) -> Reply:
        """Answer."""
        self.asked.append(request)
        return await self.brain.complete(request)


@contextmanager
def model(brain: Model, wire: str, *, thinks: bool = False) -> Iterator[list[str]]:
    with served(brain, thinking=Thinking(100) if thinks else None) as addresses:
        address = getattr(addresses, {"openai_responses": "openai", "gemini": "anthropic"}.get(wire, wire))
        server = [f"llm={wire}", f"llm.base_url={address}", "llm.model=simulated", "llm.api_key_env=null"]
        yield [*server, PRICES, "llm.tries=1", "llm.cache=false"]


def run(out: Path, words: str, llm: Sequence[str] = ()) -> Result:
    return run_cell(Cell.compose([*words.split(), *llm]), out)


def recorded(folder: Path) -> list[Record]:
    return list(unfolded((folder / "calls.jsonl").read_bytes().splitlines(keepends=True)))


def answer_of(record: Record) -> dict[str, Any]:
    carried = {"carried": record["reply"]["carried"]} if "carried" in record["reply"] else {}
    return {"role": "assistant", "content": record["reply"]["text"], **carried}


def parted(record: Record) -> tuple[Talk, Talk, Talk]:
    """Return what a call shows: the system, the earlier turns, and the turn, with what was fixed in it."""
    messages = record["request"]["messages"]
    first = next(i for i, message in enumerate(messages) if message["role"] != "system")
    last = max(i for i, message in enumerate(messages) if "<turn>" in message["content"])
    return messages[:first], messages[first:last], messages[last:]


def conversations(records: Sequence[Record]) -> Iterator[list[list[Record]]]:
    """Yield the conversations of a run as turns: each holds a call, and those that asked for the same again."""
    found: defaultdict[tuple[str, str], list[list[Record]]] = defaultdict(list)
    for record in records:
        turns = found[record["agent"], record.get("role", "")]
        if len(parted(record)[2]) == 1:
            turns.append([])
        turns[-1].append(record)
    yield from found.values()


def is_lost(turn: list[Record]) -> bool:
    """Whether a turn that wants JSON has none after all that was asked again."""
    try:
        return bool(len(turn) > 1 and turn[-1]["request"]["answer"] and not json.loads(turn[-1]["reply"]["text"]))
    except json.JSONDecodeError:
        return True


def check_turns(turns: list[list[Record]]) -> None:
    """Check that each turn is sent with the one before it, and its answer, unless that never had the wanted form."""
    earlier: Talk = []
    for turn in turns:
        (now, *_) = parted(turn[0])[2]
        assert all(parted(call)[1] == earlier for call in turn)
        if not is_lost(turn):
            earlier = [*earlier, now, answer_of(turn[-1])]


@pytest.mark.parametrize("wire", ["openai", "anthropic", "openai_responses", "gemini"])
def test_what_a_server_is_sent_is_recorded_paid_for_and_replayed(wire: str, tmp_path: Path) -> None:
    heard = Listening(ERRING)
    till = Till(heard)
    with model(till, wire, thinks=True) as llm:
        live = run(tmp_path, TEAM, llm)
    records = recorded(live.folder)
    for turns in conversations(records):
        assert len(turns) > 2
        check_turns(turns)
    assert live.metrics["model.repairs"]
    sent = [[describe_message(message) for message in request.messages] for request in heard.asked]
    assert sorted(map(json.dumps, sent)) == sorted(json.dumps(record["request"]["messages"]) for record in records)
    assert any("carried" in message for messages in sent for message in messages) is (wire != "openai")

    spent = [sum(record["reply"]["usage"][kind] for record in records) for kind in ("prompt", "completion")]
    assert [live.metrics[f"model.{kind}_tokens"] for kind in ("prompt", "completion")] == spent
    assert spent[0] == till.prompt

    again = run(tmp_path / "again", TEAM, ["llm=replay", f"llm.run={live.folder}"])
    assert comparable(again.folder) == comparable(live.folder)
    assert calls_of(again.folder) == calls_of(live.folder)


MINDS = {
    "llamac": f"env=squeeze n=3 agents=llamac {LED}=3 max_steps=6 llm.seed=3",
    "debaters": f"env=squeeze n=3 agents=debaters {LED}=0 max_steps=6",
    "tom": "env=transport n=3 agents=tom topology=individual max_steps=8",
    "drwell": "n=3 agents=drwell topology=negotiation max_steps=25",
    "dmas": "env=transport n=3 agents=dmas topology=dialogue topology.opens=team max_steps=8",
    "in text": f"env=transport n=3 agents=llamac {LED}=3 prompts=paper seed=1 max_steps=8",
}


@pytest.mark.parametrize("mind", MINDS)
def test_every_mind_has_conversations_one_in_each_role(mind: str, tmp_path: Path) -> None:
    words = f"{MINDS[mind]} llm=simulated_faults llm.malformed=0 llm.refusal=0"
    live = run(tmp_path, f"{words} agents.memory=conversation")
    alone = run(tmp_path, words)
    records = recorded(live.folder)
    assert [record["reply"]["text"] for record in records] == [r["reply"]["text"] for r in recorded(alone.folder)]
    if mind != "debaters":
        for turns in conversations(records):
            check_turns(turns)
    grown = [record for record in records if parted(record)[1]]
    assert len(grown) > len(records) / 3


def test_no_debater_is_shown_what_another_one_was_asked(tmp_path: Path) -> None:
    live = run(tmp_path, f"{MINDS['debaters']} agents.memory=conversation llm=simulated")
    whose = []
    for record in recorded(live.folder):
        texts = [message["content"] for message in record["request"]["messages"] if message["role"] == "user"]
        whose.append({text.partition("<debater>")[2].split("</debater>")[0] for text in texts})
    assert {len(names) for names in whose} == {1}
    assert len(set(map(frozenset, whose))) == 3


def test_the_bound_keeps_the_newest_turns(tmp_path: Path) -> None:
    live = run(tmp_path, f"{TEAM} memory.exchanges=3 llm=simulated")
    for turns in conversations(recorded(live.folder)):
        asked = [parted(turn[0]) for turn in turns]
        lengths = [len(earlier) // 2 for _, earlier, _ in asked]
        assert lengths == ([0, 1, 2, 3, 2, 3, 2, 3, 2, 3, 2, 3] * 2)[: len(lengths)]
        for (_, _, (before,)), (_, earlier, _) in pairwise(asked):
            assert earlier[-2] == before


def test_the_file_of_calls_grows_with_the_turns_and_not_with_their_square(tmp_path: Path) -> None:
    words = "env=squeeze n=2 agents=naive topology=debate max_steps=30 llm=simulated"
    sizes = {}
    for memory in ("none", "conversation"):
        live = run(tmp_path, f"{words} agents.memory={memory} memory.exchanges=1000")
        lines = (live.folder / "calls.jsonl").read_bytes().splitlines()
        assert len(lines) > 100
        sizes[memory] = sum(map(len, lines))
    assert sizes["conversation"] < 1.03 * sizes["none"]


def test_a_run_that_broke_off_goes_on_with_the_answers_that_it_had_paid_for(tmp_path: Path) -> None:
    till = Till(GOOD, after=8, then=Then.FAIL)
    with model(till, "anthropic", thinks=True) as llm:
        cached = [*llm[:-1], "llm.cache=true", f"llm.cache_path={tmp_path / 'replies.sqlite'}"]
        assert run(tmp_path / "broken", TEAM, cached).outcome == "error"
        assert till.answers == 8
        till.after = None
        going_on = recorded(run(tmp_path / "going on", TEAM, cached).folder)
        assert (till.answers, sum(call["reply"]["wall"]["cache_hit"] for call in going_on)) == (len(going_on), 8)
        whole = recorded(run(tmp_path / "whole", TEAM, llm).folder)
    assert [call["reply"]["text"] for call in going_on] == [call["reply"]["text"] for call in whole]
    for turns in conversations(going_on):
        check_turns(turns)


@pytest.mark.parametrize("at", ["0", "2"])
def test_a_branch_has_the_history_of_its_run(at: str, tmp_path: Path) -> None:
    live = run(tmp_path / "runs", f"{TEAM} llm=simulated")
    assert_same(branched(live.folder, at, tmp_path / "branches").folder, live.folder)


def test_a_branch_to_another_model_takes_the_words_along_and_not_the_thoughts(tmp_path: Path) -> None:
    with model(GOOD, "anthropic", thinks=True) as llm:
        live = run(tmp_path / "runs", TEAM, llm)
        other = branched(live.folder, "2", tmp_path / "branches", edits=["llm=simulated"])
    later = [call for call in recorded(other.folder) if call["t"] >= 2]
    assert all(parted(call)[1] for call in later)
    assert not any("carried" in message for call in later for message in call["request"]["messages"])


def test_a_mind_that_is_changed_in_a_branch_begins_a_conversation_there(tmp_path: Path) -> None:
    live = run(tmp_path / "runs", f"{ALONE} llm=simulated")
    other = branched(live.folder, "2", tmp_path / "branches", edits=["agents.memory=conversation"])
    assert {bool(parted(call)[1]) for call in recorded(other.folder) if call["t"] < 2} == {False}
    later = [call for call in recorded(other.folder) if call["t"] >= 2]
    for turns in conversations(later):
        check_turns(turns)
    assert any(parted(call)[1] for call in later)


@pytest.mark.conformance
def test_batches_have_conversations_too(tmp_path: Path) -> None:
    with model(GOOD, "anthropic") as llm:
        words = (*TEAM.split(), *llm)
        batch = ("engine=batch", "engine.wait=1", "engine.poll=0.1")
        for name, engine in (("plain", ("engine.workers=1",)), ("batch", batch)):
            run_sweep_command(SweepRequest((*words, *engine), tmp_path, name), quiet=True)
    plain, batched = (calls_of(folder) for name in ("plain", "batch") for folder in (tmp_path / name).glob("squeeze*"))
    assert [call["key"] for call in plain] == [call["key"] for call in batched]
    assert any(parted(call)[1] for call in batched)


def test_the_bound_names_cells_of_conversations_alone() -> None:
    def name(words: str) -> str:
        return Cell.compose(words.split()).name

    assert name(ALONE) == name(f"{ALONE} agents.memory=none memory.exchanges=5")
    assert len({name(ALONE), name(TEAM), name(f"{TEAM} memory.exchanges=5")}) == 3


def test_the_cost_that_is_expected_of_a_conversation_grows_with_its_prompts() -> None:
    llm = "llm=openai llm.model=gpt-4.1"
    alone, team = (expectation(Cell.compose(f"{words} {llm}".split())).split() for words in (ALONE, TEAM))
    per_answer = [int(said[4].replace(",", "")) / int(said[2].replace(",", "")) for said in (alone, team)]
    assert per_answer[1] > 1.1 * per_answer[0]

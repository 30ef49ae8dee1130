"""Presets of servers for small models: their requests have caps and ask for no thoughts, and teams do with that."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
import pytest

from maeil.trace import comparable
from quorum.agents.llm.protocol import Model, Reply, Request
from quorum.agents.llm.recording import unfolded
from quorum.agents.llm.validation import schemas_in
from quorum.agents.simulated.model import SimulatedModel
from quorum.configuration.cell import Cell
from quorum.episode.runner import Result, run_cell
from tests.agents.naive_team import settings
from tests.serving import served

ROLES = ("topology=centralized", "topology.leader=coordinator", "topology.rounds=3")
TEAMS = {
    "naive": ("agents=naive", "topology=debate"),
    "predict": ("agents=naive", "topology=debate", "agents.predict=true"),
    "tom": ("agents=tom", "topology=individual"),
    "drwell": ("agents=drwell", "topology=negotiation"),
    "llamac": ("agents=llamac", *ROLES),
    "hmas2": ("agents=hmas2", *ROLES),
    "dmas": ("agents=dmas", "topology=dialogue", "topology.opens=team"),
}


class Listening:
    """A brain that keeps the requests that reach it over HTTP."""

    def __init__(self) -> None:
        self.brain: Model = SimulatedModel(settings())
        self.requests: list[Request] = []

    async def complete(self, request: Request) -> Reply:
        self.requests.append(request)
        return await self.brain.complete(request)


def play(out: Path, *words: str) -> tuple[list[Request], Result]:
    """Play five steps of CUBE with `llm=llamacpp` as it is shipped."""
    brain = Listening()
    with served(brain) as addresses:
        asked = ("llm=llamacpp", "llm.model=simulated", f"llm.base_url={addresses.openai}", "llm.cache=false")
        result = run_cell(Cell.compose(["env=cube", "n=5", "max_steps=5", *words, *asked]), out)
    return brain.requests, result


@pytest.mark.parametrize("team", TEAMS)
def test_every_text_and_list_has_an_end_and_nobody_is_asked_for_thoughts(team: str, tmp_path: Path) -> None:
    requests, result = play(tmp_path, *TEAMS[team])
    for request in requests:
        assert request.answer is not None
        assert "thoughts" not in request.answer.schema["properties"]
        assert "thoughts" not in " ".join(message.content for message in request.messages)
        for part in schemas_in(request.answer.schema):
            if part.get("type") == "string" and not {"enum", "const", "pattern"} & part.keys():
                assert part["maxLength"] <= 60
            if part.get("type") == "array" and "prefixItems" not in part:
                forms = part["items"].get("anyOf", [part["items"]])
                about_all = all({"enum", "agent"} & {*form, *form.get("properties", {})} for form in forms)
                assert part["maxItems"] <= (20 if about_all else 3)
    assert result.metrics["model.parse_failures"] == result.metrics["model.repairs"] == 0


def test_a_joint_plan_has_a_place_for_each_agent_of_a_larger_team(tmp_path: Path) -> None:
    requests, result = play(tmp_path, *TEAMS["hmas2"])
    [first, *_] = (r.answer.schema["properties"] for r in requests if "plans" in r.answer.schema["properties"])
    assert first["plans"]["maxItems"] == 5
    with (result.folder / "calls.jsonl").open("rb") as lines:
        plans = orjson.loads(next(unfolded(lines))["reply"]["text"])["plans"]
    assert [entry["agent"] for entry in plans] == [f"agent_{agent}" for agent in range(5)]


def test_what_was_asked_with_caps_and_without_thoughts_is_replayed(tmp_path: Path) -> None:
    _, result = play(tmp_path / "live", *TEAMS["naive"])
    words = ["env=cube", "n=5", "max_steps=5", *TEAMS["naive"], "llm=replay", f"llm.run={result.folder}"]
    again = run_cell(Cell.compose(words), tmp_path / "again")
    assert comparable(again.folder) == comparable(result.folder)


def sent(folder: Path) -> dict[str, Any]:
    """Return the properties of the first form that was asked for in a run, by participant."""
    with (folder / "calls.jsonl").open("rb") as lines:
        calls = list(unfolded(lines))
    return {call["agent"]: call["request"]["answer"]["schema"]["properties"] for call in reversed(calls)}


def test_who_has_thoughts_follows_the_model_that_each_participant_asks(tmp_path: Path) -> None:
    words = ["env=cube", "n=2", "max_steps=2", "agents=naive", "llm.agents.agent_1.longest_text=80"]
    found = sent(run_cell(Cell.compose(words), tmp_path).folder)
    assert next(iter(found["agent_0"])) == "thoughts"
    assert "thoughts" not in found["agent_1"]

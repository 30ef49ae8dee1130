"""Models and deadlines of single roles: who is asked, with what, and which roles there are."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from maeil.trace import comparable
from quorum.agents.llm.protocol import Origin
from quorum.agents.llm.recording import unfolded
from quorum.agents.simulated import SimulatedSettings
from quorum.agents.simulated.model import SimulatedModel
from quorum.configuration.cell import Cell
from quorum.episode.models import deadline_of
from quorum.episode.runner import Result, run_cell
from quorum_base.user_errors import UserError
from tests.conftest import Quorum
from tests.loopback import Addresses
from tests.serving import served

LED = ("topology=centralized", "topology.leader=coordinator", "topology.rounds=3")
LLAMAC = ("env=squeeze", "n=2", "agents=llamac", *LED, "max_steps=3")
MODELS = ("simulated", "large/simulated", "small/simulated")


@pytest.fixture(scope="module")
def addresses() -> Iterator[Addresses]:
    plain = dict.fromkeys(SimulatedSettings.model_fields, 0.0)
    with served(SimulatedModel(SimulatedSettings(**{**plain, "seed": 0})), models=MODELS) as found:
        yield found


def _over_http(addresses: Addresses) -> list[str]:
    keyless = ["llm.api_key_env=null", "llm.cache=false"]
    return ["llm=openai", f"llm.base_url={addresses.openai}", "llm.model=simulated", *keyless]


def _calls(result: Result) -> list[dict[str, Any]]:
    return list(unfolded((result.folder / "calls.jsonl").read_bytes().splitlines(keepends=True)))


def _models(result: Result) -> set[tuple[str, str]]:
    return {(call["role"], call["reply"]["model"]) for call in _calls(result)}


def test_the_calls_of_a_role_go_to_its_model_with_its_values(addresses: Addresses, tmp_path: Path) -> None:
    team = ["env=transport", "n=2", "agents=hmas2", *LED, "max_steps=3"]
    own = ["llm.roles.centre={model: large/simulated, max_tokens: 777}", "llm.roles.reviewer.model=small/simulated"]
    result = run_cell(Cell.compose([*team, *_over_http(addresses), *own]), tmp_path)
    assert _models(result) == {("centre", "large/simulated"), ("reviewer", "small/simulated")}
    longest = {(call["role"], call["request"]["sampling"]["max_tokens"]) for call in _calls(result)}
    assert longest == {("centre", 777 + 192), ("reviewer", 2048)}
    meta = json.loads((result.folder / "meta.json").read_text())
    assert meta["models"] == ["large/simulated", "small/simulated"]


def test_what_was_recorded_of_roles_is_replayed_byte_by_byte(tmp_path: Path) -> None:
    """Each role has its own sampling, and a cut answer is asked for again in words that tell its longest answer."""
    drawn = [
        "llm.temperature=0.7",
        "llm.roles.assessor={temperature: 0.2, max_tokens: 90}",
        "llm.roles.actor.malformed=0.5",
    ]
    live = run_cell(Cell.compose([*LLAMAC, *drawn]), tmp_path / "live")
    again = run_cell(Cell.compose([*LLAMAC, "llm=replay", f"llm.run={live.folder}"]), tmp_path / "again")
    assert comparable(again.folder) == comparable(live.folder)


def test_the_coordinator_is_a_role_below_those_in_which_it_asks(addresses: Addresses, tmp_path: Path) -> None:
    own = ["llm.roles.coordinator.model=large/simulated", "llm.roles.assessor.model=small/simulated"]
    result = run_cell(Cell.compose([*LLAMAC, *_over_http(addresses), *own]), tmp_path)
    assert _models(result) == {
        ("explorer", "large/simulated"),
        ("exploiter", "large/simulated"),
        ("assessor", "small/simulated"),
    }


def test_what_is_set_for_an_agent_goes_before_its_role() -> None:
    role = "llm.roles.leader={temperature: 0.3, max_tokens: 9, model: large}"
    own = ["llm.agents.agent_0={temperature: 0.9}", "llm.agents.agent_1={model: mine}"]
    words = ["agents=naive", "topology=centralized", "llm=vllm", "llm.model=usual", role, *own]
    c = Cell.compose(words).configuration
    found = {
        (who, how): c.llm_of(who, how) for who in ("agent_0", "agent_1", "agent_2") for how in ("leader", "follower")
    }
    assert {key: (one.model, one.temperature, one.max_tokens) for key, one in found.items()} == {
        ("agent_0", "leader"): ("large", 0.9, 9),
        ("agent_0", "follower"): ("usual", 0.9, 2048),
        ("agent_1", "leader"): ("mine", 0.3, 9),
        ("agent_1", "follower"): ("mine", 0, 2048),
        ("agent_2", "leader"): ("large", 0.3, 9),
        ("agent_2", "follower"): ("usual", 0, 2048),
    }


def test_an_agents_model_is_never_asked_at_the_address_of_its_role() -> None:
    role = "llm.roles.leader={name: anthropic, model: large, base_url: 'https://api.anthropic.com', api_key_env: A_KEY}"
    words = [
        "agents=naive",
        "topology=centralized",
        "llm=vllm",
        "llm.model=usual",
        role,
        "llm.agents.agent_0.model=mine",
    ]
    found = Cell.compose(words).configuration.llm_of("agent_0", "leader")
    assert (found.name, found.model, found.api_key_env) == ("openai", "mine", None)
    assert found.base_url == "http://localhost:8000/v1"


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (
            LLAMAC,
            "llm.roles.assesor: agents=llamac topology=centralized .*Did you mean 'assessor'.*explorer, exploiter",
        ),
        (("agents=naive", "topology=centralized"), "Its roles: leader, follower"),
        (("agents=naive", *LED), "Its roles: leader, follower, coordinator"),
        (("agents=naive", "topology=dialogue"), "Its roles: speaker, alone"),
        (("agents=cmas", *LED), "Its roles: centre, coordinator"),
        (("agents=naive", "topology=debate"), "It has no roles"),
    ],
    ids=lambda value: value if isinstance(value, str) else value[0],
)
def test_an_unknown_role_is_told_with_those_of_the_team(words: tuple[str, ...], expected: str) -> None:
    with pytest.raises(UserError, match=f"(?s){expected}"):
        Cell.compose([*words, "llm.roles.assesor.poor=0.5"])


def test_show_refuses_an_unknown_role(quorum: Quorum) -> None:
    shown = quorum("show", "agents=naive", "topology=centralized", "llm.roles.assessor.poor=0.5")
    assert shown.returncode == 2
    assert "llm.roles.assessor" in shown.stderr
    assert "leader, follower" in shown.stderr


def test_roles_are_part_of_the_name_and_how_they_are_reached_is_not() -> None:
    base = ["agents=naive", "topology=centralized"]
    other = Cell.compose([*base, "llm.roles.leader.poor=0.5"])
    assert other.name != Cell.compose(base).name
    assert Cell.compose([*base, "llm.roles.leader={poor: 0.5, tries: 2}"]).hash == other.hash
    named = ["llm=vllm", "llm.model=a", "llm.roles.leader.model=b"]
    assert Cell.compose([*base, *named]).name.startswith("cube-n4-naive-a+1-centralized-s0-")


@pytest.mark.parametrize("key", ["agents", "roles"])
def test_values_of_a_role_hold_none_of_others(key: str) -> None:
    with pytest.raises(UserError, match=f"llm.roles.leader.{key}: set this once for all models"):
        Cell.compose(["agents=naive", "topology=centralized", f"llm.roles.leader.{key}={{x: {{poor: 1}}}}"])


def test_a_call_has_the_deadline_of_its_role_or_the_longest_of_its_turn() -> None:
    deadlines = {"talk": 20.0, "interrupted": 5.0, "assessor": 300.0}

    def found(role: str, *turn: str) -> float | None:
        return deadline_of(deadlines, 120.0, Origin("agent_0", 0, role, turn))

    assert found("", "talk") == 20
    assert found("", "plan") is None
    assert found("", "plan", "talk") == 120
    assert found("", "talk", "interrupted") == 20
    assert found("assessor", "talk") == 300


def test_a_slow_answer_is_waited_for_as_long_as_its_turn_says(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    plain = dict.fromkeys(SimulatedSettings.model_fields, 0.0)
    team = ["agents=naive", "topology=debate", "n=2", "env.blocks={1: 1}", "max_steps=1", "llm.tries=1"]
    with served(SimulatedModel(SimulatedSettings(**{**plain, "seed": 0, "latency": 0.5}))) as slow:
        words = [*team, *_over_http(slow)]
        waited = run_cell(Cell.compose([*words, "llm.deadline=0.1", "llm.deadlines={plan: 30, talk: 30}"]), tmp_path)
        cut = run_cell(Cell.compose([*words, "llm.deadline=30", "llm.deadlines.plan=0.1"]), tmp_path)
    assert waited.outcome == "truncated"
    assert cut.outcome == "error"
    failed = [call for call in _calls(cut) if "failure" in call]
    assert {tuple(call["turn"]) for call in failed} == {("plan",)}
    assert "within 0.1 s" in failed[0]["failure"]["message"]


def test_a_deadline_of_nothing_is_reported() -> None:
    with pytest.raises(UserError, match=r"llm.deadlines.tallk: there is no such turn or role\nDid you mean 'talk'"):
        Cell.compose(["agents=naive", "llm.deadlines.tallk=3"])
    with pytest.raises(UserError, match=r"llm.deadlines.talk: 0 is not allowed: it must be more than 0"):
        Cell.compose(["agents=naive", "llm.deadlines.talk=0"])

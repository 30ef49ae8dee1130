"""Whole episodes through the real clients and real HTTP: swapped, replayed, refused, and without a leak of a key."""

from __future__ import annotations

import importlib.util
import json
import logging
from collections.abc import Iterator
from pathlib import Path

import pytest

from maeil.metrics import reproducible
from maeil.trace import comparable, read_trace
from maeil.trace.events import ThoughtEnd
from quorum.agents.simulated import SimulatedSettings
from quorum.agents.simulated.model import SimulatedModel
from quorum.configuration.cell import Cell
from quorum.episode.runner import Result, run_cell
from quorum_base.user_errors import UserError
from tests.conftest import Quorum, one_each
from tests.loopback import Addresses, Fault, FaultKind
from tests.loopback.echoes import Echo, found_in
from tests.serving import served

CANARY = "sk-canary-5e8d1c07b3f24a96"
NEEDS_LITELLM = pytest.mark.skipif(importlib.util.find_spec("litellm") is None, reason="the extra litellm is missing")
TEAM = ("agents=naive", "topology=debate", "n=2", "max_steps=60")
SPOILED = {"malformed": 0.1, "invalid": 0.1, "poor": 0.1, "refusal": 0.05, "prose": 0.2}


def _brain(**rates: float) -> SimulatedModel:
    plain = dict.fromkeys(SimulatedSettings.model_fields, 0.0)
    return SimulatedModel(SimulatedSettings(**{**plain, "seed": 0, **rates}))


@pytest.fixture(scope="module")
def addresses() -> Iterator[Addresses]:
    with served(_brain(**SPOILED)) as found:
        yield found


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY"):
        monkeypatch.delenv(name, raising=False)


def _llm(wire: str, addresses: Addresses, **changes: str) -> list[str]:
    name, url, model = {
        "openai": ("openai", addresses.openai, "simulated"),
        "anthropic": ("anthropic", addresses.anthropic, "simulated"),
        "openai_responses": ("openai_responses", addresses.openai, "simulated"),
        "gemini": ("gemini", addresses.anthropic, "simulated"),
        "litellm": ("litellm", addresses.openai, "openai/simulated"),
    }[wire]
    keyless = "QUORUM_TEST_KEY" if wire == "litellm" else "null"
    values = {"base_url": url, "model": model, "cache": "false", "api_key_env": keyless, **changes}
    return [f"llm={name}", *(f"llm.{key}={value}" for key, value in values.items())]


def _coordinated(name: str) -> tuple[str, ...]:
    return (f"agents={name}", "topology=centralized", "topology.leader=coordinator", "topology.rounds=3", "max_steps=4")


def _run(out: Path, *arguments: str) -> Result:
    return run_cell(Cell.compose(one_each(*TEAM, *arguments)), out)


def _decisions(result: Result) -> list[dict]:
    """The trace without what only a provider's accounts tell."""
    lines = [json.loads(line) for line in comparable(result.folder)]
    for line in lines:
        for call in line.get("calls", ()):
            call.pop("not_sent", None)
            call.pop("model")
    return lines


@pytest.mark.parametrize("wire", ["anthropic", pytest.param("litellm", marks=NEEDS_LITELLM)])
@pytest.mark.parametrize("team", ["llamac", "hmas2"])
def test_a_joint_plan_is_of_its_form_by_every_wire(wire, team, addresses, tmp_path, monkeypatch) -> None:
    """Anthropic's format has no bounds of lists, by which a plan was distinguished from other objects."""
    monkeypatch.setenv("QUORUM_TEST_KEY", CANARY)
    first = _run(tmp_path, *_coordinated(team), *_llm("openai", addresses))
    other = _run(tmp_path, *_coordinated(team), *_llm(wire, addresses))
    assert first.outcome == other.outcome == "truncated"
    assert _decisions(first) == _decisions(other)


@pytest.mark.parametrize(
    "wire", ["anthropic", "openai_responses", "gemini", pytest.param("litellm", marks=NEEDS_LITELLM)]
)
def test_swapping_the_provider_changes_no_decision_and_no_metric(wire, addresses, tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("QUORUM_TEST_KEY", CANARY)
    first = _run(tmp_path, *_llm("openai", addresses))
    other = _run(tmp_path, *_llm(wire, addresses))
    assert _decisions(first) == _decisions(other)
    assert reproducible(first.metrics) == reproducible(other.metrics)
    assert first.metrics["model.repairs"] > 0, "the brain must go wrong for this to say something"


@pytest.mark.parametrize("wire", ["openai", "anthropic"])
def test_an_episode_recorded_through_http_is_replayed_without_a_network(wire: str, tmp_path: Path) -> None:
    shaken = [Fault(FaultKind.SERVER_ERROR), None, Fault(FaultKind.RATE_LIMIT, 0.01), None, Fault(FaultKind.STALE)]
    with served(_brain(**SPOILED), faults=shaken) as addresses:
        live = _run(tmp_path / "live", *_llm(wire, addresses), "llm.agents.agent_1.max_tokens=900")
    again = _run(tmp_path / "again", "llm=replay", f"llm.run={live.folder}")
    assert comparable(again.folder) == comparable(live.folder)
    assert reproducible(again.metrics) == reproducible(live.metrics)
    calls = [call for thought in read_trace(live.folder).of(ThoughtEnd) for call in thought.calls]
    assert sum(call["repairs"] for call in calls) > 0
    assert sum(call["retries"] for call in calls) > 0


def test_everything_that_a_simulated_model_answered_says_so(addresses: Addresses, tmp_path: Path) -> None:
    result = _run(tmp_path, *_llm("openai", addresses))
    assert result.answering_models.simulated
    meta = json.loads((result.folder / "meta.json").read_text())
    assert (meta["models"], meta["simulated"]) == (["simulated"], True)


def test_the_provider_that_does_not_answer_ends_the_episode_as_an_error(tmp_path: Path) -> None:
    with served(_brain(), faults=lambda _: Fault(FaultKind.RATE_LIMIT, 600)) as addresses:
        result = _run(tmp_path, *_llm("openai", addresses))
    assert result.outcome == "error"
    assert "InfrastructureFailed" in result.reason


@pytest.mark.parametrize(
    "wire", ["openai", "anthropic", "openai_responses", "gemini", pytest.param("litellm", marks=NEEDS_LITELLM)]
)
def test_a_key_that_the_server_repeats_is_in_no_file_of_a_run(wire, tmp_path, monkeypatch, caplog) -> None:
    caplog.set_level(logging.DEBUG)
    monkeypatch.setenv("QUORUM_TEST_KEY", CANARY)
    made: list[Echo] = []
    with served(_brain(), spoiled=lambda app: made.append(Echo(app)) or made[0]) as addresses:
        _run(tmp_path, "max_steps=3", *_llm(wire, addresses, api_key_env="QUORUM_TEST_KEY", cache="true"))
    files = [file for file in tmp_path.rglob("*") if file.is_file()]
    assert {"calls.jsonl", "meta.json", "trace.jsonl", "replies.sqlite"} <= {file.name for file in files}
    assert made[0].repeated >= 4
    assert any(b"[key]" in file.read_bytes() for file in files)
    assert [(file.name, form) for file in files for form in found_in(file.read_bytes(), CANARY)] == []
    # At DEBUG, clients of HTTP log what they receive: `--debug` leaves their loggers alone.
    ours = [record.getMessage() for record in caplog.records if record.name.startswith(("quorum", "maeil"))]
    assert ours
    assert found_in("\n".join(ours).encode(), CANARY) == []


REFUSALS = {
    "unauthorized": (Fault(FaultKind.UNAUTHORIZED), ["not accepted", "export QUORUM_CANARY"]),
    "unknown_model": (Fault(FaultKind.UNKNOWN_MODEL), ["no model 'simulated'", "llm.model=NAME"]),
    "bad_request": (Fault(FaultKind.BAD_REQUEST), ["not well formed"]),
}


@pytest.mark.parametrize("refusal", REFUSALS)
def test_a_provider_that_refuses_is_reported_in_one_message(refusal: str, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setenv("QUORUM_CANARY", CANARY)
    fault, words = REFUSALS[refusal]
    with served(_brain(), faults=lambda _: fault) as addresses, pytest.raises(UserError) as caught:
        _run(tmp_path, *_llm("openai", addresses, api_key_env="QUORUM_CANARY", structured="prompt"))
    for word in words:
        assert word in str(caught.value)


@pytest.mark.parametrize(
    "wire",
    [
        "openai",
        pytest.param("anthropic", marks=pytest.mark.conformance),
        pytest.param("litellm", marks=[NEEDS_LITELLM, pytest.mark.conformance]),
    ],
)
def test_a_key_is_found_nowhere(wire: str, quorum: Quorum, tmp_path: Path, monkeypatch, caplog) -> None:
    caplog.set_level(logging.DEBUG)
    variable = "QUORUM_TEST_KEY"
    faults = {1: Fault(FaultKind.ANSWER, text=f"Your key is {CANARY}."), 3: Fault(FaultKind.SERVER_ERROR)}
    shown = []
    others = ([["check"], ["show"]], [["check", "--json"]]) if wire == "openai" else ([], [])
    verbs = [["run", "--json", "--debug"], *others[0]], [["run", "--debug"], *others[1]]
    for plan, tried in zip((faults.get, lambda _: Fault(FaultKind.UNAUTHORIZED)), verbs, strict=True):
        with served(_brain(), faults=plan) as addresses:
            llm = _llm(wire, addresses, api_key_env=variable, cache="true")
            for verb in tried:
                words = one_each(*TEAM, "max_steps=4", *llm)
                done = quorum(*verb, *words, **{variable: CANARY, "XDG_CACHE_HOME": "cache"})
                shown += [done.stdout, done.stderr]
            monkeypatch.setenv(variable, CANARY)
            try:
                _run(tmp_path / "inside", *llm)
            except UserError as error:
                shown += [str(error), repr(error), repr(error.__cause__), repr(error.__context__)]
    files = [file for file in tmp_path.rglob("*") if file.is_file()]
    assert {"calls.jsonl", "config.yaml", "meta.json", "replies.sqlite", "trace.jsonl"} <= {file.name for file in files}
    assert [file for file in files if CANARY.encode() in file.read_bytes()] == []
    assert any("[key]" in text for text in shown), "the server must have echoed the key for this to say something"
    assert [text for text in [*shown, caplog.text] if CANARY in text] == []

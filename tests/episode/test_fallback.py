"""Models that stand in for one that cannot be reached, over real HTTP: when they are asked, and where that is shown."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from maeil.trace import comparable, read_trace
from maeil.trace.events import ThoughtEnd
from quorum.agents.llm.recording import unfolded
from quorum.agents.simulated import SimulatedSettings
from quorum.agents.simulated.model import SimulatedModel
from quorum.comparison.comparison import Question, compare
from quorum.comparison.notes import notes
from quorum.configuration.cell import Cell
from quorum.configuration.team_models import fallbacks_of
from quorum.episode.runner import Result, run_cell
from quorum.runs import read_results
from quorum_base.user_errors import UserError
from tests.loopback import Addresses, Fault, FaultKind
from tests.serving import served

TEAM = ("agents=naive", "topology=individual", "n=2", "env.blocks={1: 1}", "max_steps=4")
SHORT = ("llm.tries=2", "llm.max_wait=3")


def _brain() -> SimulatedModel:
    plain = dict.fromkeys(SimulatedSettings.model_fields, 0.0)
    return SimulatedModel(SimulatedSettings(**{**plain, "seed": 0}))


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("quorum.episode.models.FIRST_WAIT", 0.01)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture(scope="module")
def sound() -> Iterator[Addresses]:
    with served(_brain()) as found:
        yield found


@pytest.fixture(scope="module")
def broken() -> Iterator[Addresses]:
    """A server whose every answer is 500."""
    with served(_brain(), faults=lambda _: Fault(FaultKind.SERVER_ERROR)) as found:
        yield found


@pytest.fixture(scope="module")
def refusing() -> Iterator[Addresses]:
    """A server that takes no key."""
    with served(_brain(), faults=lambda _: Fault(FaultKind.UNAUTHORIZED)) as found:
        yield found


def _primary(addresses: Addresses) -> list[str]:
    return ["llm=openai", f"llm.base_url={addresses.openai}", "llm.model=simulated", "llm.api_key_env=null", *SHORT]


def _uncached(addresses: Addresses) -> list[str]:
    return [*_primary(addresses), "llm.cache=false"]


def _anthropic(addresses: Addresses, **more: str) -> str:
    rest = "".join(f", {key}: {value}" for key, value in more.items())
    return f"{{name: anthropic, model: simulated, base_url: '{addresses.anthropic}', api_key_env: null{rest}}}"


def _calls(result: Result) -> list[dict[str, Any]]:
    return list(unfolded((result.folder / "calls.jsonl").read_bytes().splitlines(keepends=True)))


def _run(out: Path, *words: str) -> Result:
    return run_cell(Cell.compose([*TEAM, *words]), out)


def test_a_fallback_answers_what_cannot_be_reached_and_everything_names_it(sound, broken, tmp_path: Path) -> None:
    result = _run(tmp_path / "runs", *_uncached(broken), f"llm.fallback=[{_anthropic(sound)}]")
    host = sound.anthropic.removeprefix("http://")
    name = f"{host}/simulated"
    assert result.outcome == "truncated"
    calls = _calls(result)
    assert calls
    assert {call["reply"]["fallback"] for call in calls} == {name}
    assert {call["reply"]["wall"]["attempts"] for call in calls} == {3}
    assert {call["reply"]["not_sent"][0] for call in calls} == {"temperature"}  # Anthropic's client answered
    records = [call for thought in read_trace(result.folder).of(ThoughtEnd) for call in thought.calls]
    assert {record["fallback"] for record in records} == {name}
    assert result.metrics["model.fallbacks"] == len(records) == len(calls)
    assert result.metrics["model.retries"] == 2 * len(calls)
    assert json.loads((result.folder / "meta.json").read_text())["fallbacks"] == [name]
    assert name in result.answering_models.text
    (row,) = read_results(tmp_path / "runs").rows
    assert row.record()["fallbacks"] == name
    assert row.record()["providers"] == broken.openai.removeprefix("http://").removesuffix("/v1")


def test_a_fallback_is_asked_with_its_own_values(sound, broken, tmp_path: Path) -> None:
    words = [*_uncached(broken), f"llm.fallback=[{_anthropic(sound, max_tokens='7')}]", "max_repairs=0"]
    assert {call["reply"]["finish"] for call in _calls(_run(tmp_path, *words))} == {"length"}


def test_a_comparison_says_that_another_model_answered(sound, broken, tmp_path: Path) -> None:
    _run(tmp_path / "runs", *_uncached(broken), f"llm.fallback=[{_anthropic(sound)}]")
    _run(tmp_path / "runs", *_uncached(sound), f"llm.fallback=[{_anthropic(sound)}]")
    remarks = notes(compare([read_results(tmp_path / "runs")], Question()))
    assert any(note.startswith("In 1 runs, a fallback model answered") for note in remarks), remarks


def test_without_a_failure_nobody_else_is_asked_and_nothing_is_named(sound, broken, tmp_path: Path) -> None:
    result = _run(tmp_path, *_uncached(sound), f"llm.fallback=[{_anthropic(broken)}]")
    assert result.metrics["model.fallbacks"] == 0
    assert all("fallback" not in call["reply"] for call in _calls(result))
    assert "fallbacks" not in json.loads((result.folder / "meta.json").read_text())


def test_a_wrong_key_is_no_reason_for_a_fallback(sound, refusing, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="not accepted"):
        _run(tmp_path, *_uncached(refusing), f"llm.fallback=[{_anthropic(sound)}]")


def test_a_used_budget_is_no_reason_for_a_fallback(sound, tmp_path: Path) -> None:
    result = _run(tmp_path, *_uncached(sound), f"llm.fallback=[{_anthropic(sound)}]", "budget.calls=1")
    assert result.outcome == "budget"
    assert result.metrics["model.fallbacks"] == 0


def test_where_no_fallback_can_be_reached_the_episode_ends_with_all_that_was_tried(broken, tmp_path: Path) -> None:
    result = _run(tmp_path, *_uncached(broken), f"llm.fallback=[{_anthropic(broken)}]")
    assert result.outcome == "error"
    assert result.reason.count("no answer within 2 tries") == 2
    assert "/simulated: no answer" in result.reason


def test_the_price_is_that_of_the_model_that_answered(sound, broken, tmp_path: Path) -> None:
    prices = "llm.prices={input: 1000000, output: 1000000}"
    own = "{input: 1, output: 1}"
    result = _run(tmp_path, *_uncached(broken), prices, f"llm.fallback=[{_anthropic(sound, prices=own)}]")
    usage = [call["reply"]["usage"] for call in _calls(result)]
    tokens = sum(use["prompt"] + use["completion"] for use in usage)
    assert result.metrics["model.usd"] == pytest.approx(tokens / 1e6)


def test_a_budget_of_money_wants_the_price_of_every_fallback(sound, broken, tmp_path: Path) -> None:
    prices = "llm.prices={input: 1, output: 1}"
    with pytest.raises(UserError, match=r"price of '.*simulated' is unknown"):
        _run(tmp_path, *_uncached(broken), prices, f"llm.fallback=[{_anthropic(sound)}]", "budget.usd=1")


def test_its_answers_are_cached_as_its_own(sound, broken, tmp_path: Path) -> None:
    cached = ["llm.cache=true", f"llm.fallback=[{_anthropic(sound)}]"]
    first = _run(tmp_path / "a", *_primary(broken), *cached)
    again = _run(tmp_path / "b", *_primary(broken), *cached)
    assert {call["reply"]["wall"]["cache_hit"] for call in _calls(first)} == {False}
    assert {(c["reply"]["wall"]["cache_hit"], bool(c["reply"]["fallback"])) for c in _calls(again)} == {(True, True)}
    other = ["llm=anthropic", f"llm.base_url={sound.anthropic}", "llm.model=simulated", "llm.api_key_env=null"]
    direct = _run(tmp_path / "c", *other, "llm.cache=true")
    assert {call["reply"]["wall"]["cache_hit"] for call in _calls(direct)} == {True}
    assert all("fallback" not in call["reply"] for call in _calls(direct))


def test_what_a_fallback_answered_is_replayed(sound, broken, tmp_path: Path) -> None:
    live = _run(tmp_path / "live", *_uncached(broken), f"llm.fallback=[{_anthropic(sound)}]")
    again = _run(tmp_path / "again", "llm=replay", f"llm.run={live.folder}")
    assert comparable(again.folder) == comparable(live.folder)
    assert again.metrics["model.fallbacks"] == live.metrics["model.fallbacks"]


NAIVE = ("agents=naive", "llm=openai", "llm.model=gpt-5")


def test_a_preset_or_the_name_of_a_provider_is_enough() -> None:
    words = [
        *NAIVE,
        "llm.temperature=1",
        "llm.fallback=[{model: gpt-5-mini}, {name: anthropic, model: c}, {preset: groq, model: l}]",
    ]
    c = Cell.compose(words).configuration
    found = [(one.name, one.model, one.base_url, one.api_key_env, one.temperature) for one in fallbacks_of(c.llm)]
    assert found == [
        ("openai", "gpt-5-mini", "https://api.openai.com/v1", "OPENAI_API_KEY", 1),
        ("anthropic", "c", "https://api.anthropic.com", "ANTHROPIC_API_KEY", 1),
        ("openai", "l", "https://api.groq.com/openai/v1", "GROQ_API_KEY", 1),
    ]
    assert Cell.of(Cell.compose(words).plain).hash == Cell.compose(words).hash


def test_a_preset_serves_agents_and_roles_too() -> None:
    own = ["llm.agents.agent_0={preset: vllm, model: a}", "llm.roles.leader={name: anthropic, model: c}"]
    c = Cell.compose([*NAIVE, "topology=centralized", *own]).configuration
    agent, role = c.llm_of("agent_0"), c.llm_of("agent_1", "leader")
    assert (agent.base_url, agent.grounded_schema, agent.api_key_env) == ("http://localhost:8000/v1", True, None)
    assert (role.name, role.base_url) == ("anthropic", "https://api.anthropic.com")


@pytest.mark.parametrize(
    ("fallback", "expected"),
    [
        ("[{preset: grok, model: a}]", r"llm.fallback.0.preset: there is no preset 'grok'\n.*'groq'"),
        ("[anthropic]", "llm.fallback.0: 'anthropic' is not a map"),
        (
            "[{name: antropic, model: a}]",
            "llm.fallback.0.name: no provider is called 'antropic'.*Did you mean 'anthropic'",
        ),
        ("[{preset: groq}]", "llm.fallback.*model"),
        ("[{}]", "llm.fallback.0: it asks the same model at the same address"),
        ("[{model: a, fallback: [{model: b}]}]", "llm.fallback.0.fallback: a fallback cannot have this key"),
        ("[{model: a, mdoel: b}]", "llm.fallback.0.mdoel: there is no such key. Did you mean 'model'"),
        ("[{name: replay, run: x}]", "llm.fallback.0: .*replay"),
    ],
)
def test_a_fallback_that_is_none_is_reported(fallback: str, expected: str) -> None:
    with pytest.raises(UserError, match=f"(?s){expected}"):
        Cell.compose([*NAIVE, f"llm.fallback={fallback}"])


def test_a_fallback_is_part_of_the_name_and_none_is_not() -> None:
    base = Cell.compose(NAIVE)
    assert "fallback" not in base.configuration.identity()["llm"]
    other = Cell.compose([*NAIVE, "llm.fallback=[{model: gpt-5-mini}]"])
    assert other.hash != base.hash
    assert other.name.startswith("cube-n4-naive-gpt-5+1-")
    assert Cell.compose([*NAIVE, "llm.fallback=[{model: gpt-5-mini, tries: 2}]"]).hash == other.hash

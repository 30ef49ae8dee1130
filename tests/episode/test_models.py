"""The language models of an episode, with a third party's provider in the place of a real one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from maeil.trace import read_trace
from maeil.trace.events import ThoughtEnd
from quorum.agents.llm.recording import unfolded
from quorum.configuration.cell import Cell
from quorum.configuration.plugins import load_plugins
from quorum.episode.call_ledger import CallLedger
from quorum.episode.model_pool import ModelPool
from quorum.episode.models import EpisodeModels
from quorum.episode.runner import Result, run_cell
from quorum.installation.extension_errors import ExtensionError
from quorum_base.user_errors import UserError
from tests.conftest import PLUGINS


@pytest.fixture(scope="module", autouse=True)
def _plugins() -> None:
    load_plugins(["corridor", "parrot"])


@pytest.fixture(autouse=True)
def _cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def _cell(*arguments: str, folder: Path = PLUGINS / "parrot_configs") -> Cell:
    return Cell.compose(["env=corridor", "agents=asker", "llm=parrot", "n=2", *arguments], folder)


def _run(tmp_path: Path, *arguments: str) -> Result:
    return run_cell(_cell(*arguments), tmp_path / "runs")


def _calls(folder: Path) -> list[dict[str, Any]]:
    return list(unfolded((folder / "calls.jsonl").read_bytes().splitlines(keepends=True)))


def test_a_third_partys_model_answers_and_every_call_is_recorded(tmp_path: Path) -> None:
    result = _run(tmp_path)
    assert (result.outcome, result.metrics["outcome.reached"]) == ("success", 2)
    assert result.cell.name.startswith("corridor-n2-asker-parrot-individual-s0-")
    calls = _calls(result.folder)
    assert len(calls) == result.metrics["model.calls"] == 10
    assert [call["agent"] for call in calls[:2]] == ["walker_0", "walker_1"]
    assert calls[0]["request"]["messages"][0]["content"] == "walker_0 is in cell 0 of 5. How far does it walk?"
    assert calls[0]["reply"]["text"] == '{"cells": 1}'


def test_the_configuration_decides_how_answers_are_drawn(tmp_path: Path) -> None:
    result = _run(tmp_path, "llm.temperature=0.7", "llm.max_tokens=55", "llm.sampling_seed=3")
    assert _calls(result.folder)[0]["request"]["sampling"] == {"temperature": 0.7, "max_tokens": 55, "seed": 3}


def test_an_agent_may_have_its_own_model(tmp_path: Path) -> None:
    result = _run(tmp_path, """llm.agents.walker_1={says: '{"cells": 5}', temperature: 0.5}""")
    calls = _calls(result.folder)
    assert {(call["agent"], call["reply"]["text"]) for call in calls} == {
        ("walker_0", '{"cells": 1}'),
        ("walker_1", '{"cells": 5}'),
    }
    assert {call["request"]["sampling"]["temperature"] for call in calls if call["agent"] == "walker_1"} == {0.5}


def test_a_model_for_nobody_is_a_users_mistake_and_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"llm.agents.walker_7: there is no such participant\nDid you mean 'walker_1'"):
        _run(tmp_path, "llm.agents.walker_7.temperature=1")
    assert list(tmp_path.iterdir()) == []


def test_minds_that_do_not_declare_that_they_use_models_get_none(tmp_path: Path, monkeypatch) -> None:
    import dataclasses

    from quorum.configuration.registry import minds

    monkeypatch.setitem(minds._registered, "asker", dataclasses.replace(minds.get("asker"), uses_models=False))
    with pytest.raises(ExtensionError, match=r"parrot\.py:\d+, .*uses_models=True"):
        _run(tmp_path)


def test_unknown_money_is_unknown_and_never_nothing(tmp_path: Path) -> None:
    result = _run(tmp_path)
    assert result.metrics["model.usd"] is None
    assert _calls(result.folder)[0]["reply"]["usd"] is None
    with pytest.raises(UserError, match=r"^llm: the price of 'parrot' is unknown.*\nBound the tokens or the calls"):
        _run(tmp_path, "budget.usd=1")


@pytest.mark.parametrize(("limit", "calls"), [("budget.calls=5", 5), ("budget.tokens=60", 5)])
def test_a_budget_that_is_used_up_ends_the_episode_scored_and_labelled(tmp_path: Path, limit: str, calls: int) -> None:
    result = _run(tmp_path, limit)
    assert result.outcome == "budget"
    assert "BudgetReached" in result.reason
    assert sum("reply" in call for call in _calls(result.folder)) <= calls
    meta = json.loads((result.folder / "meta.json").read_text())
    assert (meta["outcome"], meta["reason"], meta["error"]) == ("budget", result.reason, None)
    assert json.loads((result.folder / "metrics.json").read_text())["outcome.success"] is False


def test_every_episode_has_the_budget_for_itself(tmp_path: Path) -> None:
    assert [_run(tmp_path, "budget.calls=10").outcome for _ in range(2)] == ["success", "success"]


def test_an_answer_of_the_wrong_form_is_asked_for_again_and_then_a_users_matter(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="llm: "):
        _run(tmp_path, 'llm.says="no json"', "max_repairs=1")
    (folder,) = (tmp_path / "runs").iterdir()
    calls = [call for call in _calls(folder) if call["agent"] == "walker_0"]
    assert [call["reply"]["text"] for call in calls] == ["no json"] * 2
    assert "This answer cannot be taken" in calls[1]["request"]["messages"][-1]["content"]


def test_the_cache_answers_at_temperature_0_alone_unless_it_is_asked_for(tmp_path: Path) -> None:
    def hits(*arguments: str) -> int:
        return sum(call["reply"]["wall"]["cache_hit"] for call in _calls(_run(tmp_path, *arguments).folder))

    assert [hits("llm.cache=auto") for _ in range(2)] == [0, 10]
    assert [hits("llm.cache=auto", "llm.temperature=1") for _ in range(2)] == [0, 0]
    assert [hits("llm.cache=true", "llm.temperature=1") for _ in range(2)] == [0, 10]
    assert [hits("llm.cache=false") for _ in range(2)] == [0, 0]
    assert (tmp_path / "cache" / "quorum" / "replies.sqlite").is_file()


def test_a_cache_that_cannot_be_opened_is_a_users_mistake(tmp_path: Path) -> None:
    (tmp_path / "bad.sqlite").write_text("not a database, and long enough to be taken for one by its first bytes" * 9)
    with pytest.raises(UserError, match=r"llm.cache_path: .*bad.sqlite cannot be opened"):
        _run(tmp_path, "llm.cache=true", f"llm.cache_path={tmp_path / 'bad.sqlite'}")


async def test_agents_and_episodes_share_the_client_of_a_provider_and_its_limits() -> None:
    pool = ModelPool()
    configuration = _cell("llm.agents.walker_1.temperature=0.3").configuration
    first = pool.client(configuration.llm_of("walker_0"))
    assert pool.client(configuration.llm_of("walker_1")) is first
    assert pool.client(_cell("seed=1", "llm.tries=2").configuration.llm) is first
    assert pool.client(_cell("llm.says=x").configuration.llm) is not first
    await pool.close()


def test_a_replay_has_the_same_trace_and_asks_nobody(tmp_path: Path) -> None:
    from maeil.trace import comparable

    live = _run(tmp_path, "llm.temperature=0.7", "llm.agents.walker_1.temperature=0.2")
    cell = Cell.compose(
        ["env=corridor", "agents=asker", "llm=replay", "n=2", f"llm.run={live.folder}"], PLUGINS / "parrot_configs"
    )
    first = run_cell(cell, tmp_path / "again")
    assert comparable(first.folder) == comparable(live.folder)
    again = Cell.compose(
        ["env=corridor", "agents=asker", "llm=replay", "n=2", f"llm.run={first.folder}"], PLUGINS / "parrot_configs"
    )
    assert comparable(run_cell(again, tmp_path / "again").folder) == comparable(live.folder)


def test_a_replay_of_something_else_is_reported_with_the_difference(tmp_path: Path) -> None:
    live = _run(tmp_path)
    cell = Cell.compose(
        ["env=corridor", "env.length=7", "agents=asker", "llm=replay", "n=2", f"llm.run={live.folder}"],
        PLUGINS / "parrot_configs",
    )
    with pytest.raises(UserError) as caught:
        run_cell(cell, tmp_path / "again")
    difference = str(caught.value)
    assert "-walker_0 is in cell 0 of 5." in difference
    assert "+walker_0 is in cell 0 of 7." in difference
    assert "same configuration" in difference


@pytest.mark.parametrize("content", [None, "{", '{"a": 1}\n'])
def test_a_run_that_cannot_be_replayed_is_a_users_mistake(tmp_path: Path, content: str | None) -> None:
    live = _run(tmp_path)
    (live.folder / "calls.jsonl").unlink()
    if content is not None:
        (live.folder / "calls.jsonl").write_text(content)
    configuration = Cell.compose(
        ["env=corridor", "agents=asker", "llm=replay", f"llm.run={live.folder}"], PLUGINS / "parrot_configs"
    ).configuration
    with pytest.raises(UserError, match=r"^llm.run: .*calls.jsonl"):
        EpisodeModels(configuration, ModelPool(), CallLedger(configuration, None))("walker_0")


def test_the_trace_of_an_asked_mind_holds_its_calls(tmp_path: Path) -> None:
    trace = read_trace(_run(tmp_path).folder)
    assert all(len(thought.calls) == 1 for thought in trace.of(ThoughtEnd))


def test_only_its_user_may_read_the_calls_of_a_run(tmp_path: Path) -> None:
    assert (_run(tmp_path).folder / "calls.jsonl").stat().st_mode & 0o777 == 0o600

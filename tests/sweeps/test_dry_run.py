"""What a dry run says, and that it writes nothing."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from rich.console import Console

from quorum.agents.llm.prices import find_price
from quorum.configuration.cell import Cell
from quorum.episode.expected import SECONDS_PER_CALL, expectation
from quorum.sweeps.command import show_plan
from quorum.sweeps.estimate import Forecast
from quorum.sweeps.run import SweepRequest
from tests.conftest import Quorum
from tests.sweeps.conftest import Sweep

PARROT = ("agents=asker", "llm=parrot", "llm.usd=0.5", "env.length=1", "seed=0,1")


def shown(forecast: Forecast, width: int = 200) -> str:
    console = Console(width=width)
    with console.capture() as captured:
        console.print(forecast.table())
    return captured.get()


def test_it_sums_up_the_cells_and_writes_nothing(asked: Callable[..., SweepRequest], tmp_path: Path) -> None:
    forecast = show_plan(asked("agents=walker", "n=1,2", "seed=0,1,1"))
    assert list(tmp_path.iterdir()) == []
    assert (forecast.planned, forecast.done, len(forecast.cells), forecast.repeated) == (4, 0, 4, 2)
    assert (forecast.answers, forecast.usd) == (0, 0.0)
    text = shown(forecast)
    assert not any(cell.name in text for cell in forecast.cells)
    assert "4 (2 more points repeat them): 0 done, 4 to run now" in text
    assert "4 episodes from boards of their kind, played" in text


def test_where_a_file_stands_nothing_is_done(asked: Callable[..., SweepRequest], tmp_path: Path) -> None:
    (tmp_path / "s").touch()
    assert show_plan(asked("agents=walker", "n=1")).done == 0


def test_what_it_comes_to_stands_first_and_fits_eighty_columns(asked: Callable[..., SweepRequest]) -> None:
    words = ("env=cube", "agents=naive", "llm=openai", "llm.model=gpt-5-mini", "n=2,3", "max_steps=3", "seed=0,1")
    forecast = show_plan(asked(*words, "topology=individual,debate", limit=5))
    lines = [line.rstrip() for line in shown(forecast, 80).splitlines()]
    labels = [line[:14].strip() for line in lines[: lines.index("")]]
    assert labels == ["episodes", "varied", "model answers", "tokens", "money", "time"]
    assert lines[1].split() == ["varied", "n=2,3", "topology=individual,debate"]
    assert max(map(len, lines)) <= 80
    assert "…" not in "".join(lines)
    assert forecast.to_json()["varied"] == {"n": ["2", "3"], "topology": ["individual", "debate"]}


def test_an_estimate_rests_on_finished_cells_first_and_says_so(
    sweep: Sweep, asked: Callable[..., SweepRequest], tmp_path: Path
) -> None:
    sweep(*PARROT, "n=2", limit=1)
    before = sorted(path.name for path in tmp_path.rglob("*"))
    forecast = show_plan(asked(*PARROT, "n=2,4"))
    assert sorted(path.name for path in tmp_path.rglob("*")) == before
    assert forecast.sources == {"finished": 1, "scaled": 2}
    assert (forecast.answers, forecast.usd) == (2 + 4 + 4, 5.0)
    assert forecast.to_json()["estimated_from"] == {"finished": 1, "scaled": 2}
    assert "1 episodes from finished cells of the same kind" in shown(forecast)
    assert "2 episodes from finished cells of other kinds, in proportion" in shown(forecast)


def test_a_real_model_is_stood_in_for_by_a_simulated_one_and_that_is_said(asked: Callable[..., SweepRequest]) -> None:
    words = ("env=cube", "agents=naive", "llm=openai", "llm.model=gpt-5-mini", "n=1", "max_steps=3", "seed=0,1")
    forecast = show_plan(asked(*words))
    price = find_price("openai", "gpt-5-mini")
    assert price is not None
    assert forecast.answers >= 1
    assert 0 < forecast.usd < forecast.tokens * 2e-6
    assert forecast.seconds >= SECONDS_PER_CALL * forecast.answers / 2
    assert forecast.to_json()["simulated"] is True
    assert "from boards of their kind, played with the simulated model, at 3 s an answer" in shown(forecast)
    unknown = show_plan(asked(*words[:3], "llm.model=no-such-model", *words[4:]))
    assert unknown.usd is None
    assert "unknown: the model's price is unknown" in shown(unknown)


def test_given_prices_are_reckoned_with_and_a_replay_has_none(
    sweep: Sweep, asked: Callable[..., SweepRequest], tmp_path: Path
) -> None:
    words = ("env=cube", "agents=naive", "llm=vllm", "llm.model=m", "n=1", "max_steps=3", "seed=0")
    priced = show_plan(asked(*words, "llm.prices={input: 1, output: 1}"))
    assert priced.usd == pytest.approx(priced.tokens / 1e6, rel=1e-2)
    assert priced.usd > 0
    sweep(*PARROT, "n=2", limit=1)
    (run,) = (path.parent for path in tmp_path.glob("s/*/calls.jsonl"))
    replayed = show_plan(asked("agents=asker", "llm=replay", f"llm.run={run}", "n=2", name="again"))
    assert (replayed.usd, replayed.sources) == (None, {"unknown": 1})  # no model stands in for these prompts
    assert "unknown: the cost of some cells is unknown" in shown(replayed)


def test_what_finished_cells_cost_at_an_unknown_price_is_not_forecast_as_nothing(
    sweep: Sweep, asked: Callable[..., SweepRequest]
) -> None:
    words = ("agents=asker", "llm=parrot", "n=2", "seed=0,1")
    sweep(*words, limit=1)
    forecast = show_plan(asked(*words))
    assert forecast.sources == {"finished": 1}
    assert forecast.usd is None


def test_a_limit_bounds_what_is_forecast(asked: Callable[..., SweepRequest]) -> None:
    assert len(show_plan(asked("agents=walker", "n=1", "seed=range(0,9)", limit=4)).cells) == 4


@pytest.mark.parametrize("retry_failed", [False, True])
def test_failed_cells_are_forecast_when_they_are_to_be_run_again(
    retry_failed: bool, sweep: Sweep, asked: Callable[..., SweepRequest]
) -> None:
    words = ("agents=walker", "n=1", "agents.fails_at=1")
    sweep(*words)
    assert len(show_plan(asked(*words, retry_failed=retry_failed)).cells) == int(retry_failed)


def test_money_of_simulated_models_is_called_so(asked: Callable[..., SweepRequest]) -> None:
    forecast = show_plan(asked("env=cube", "agents=naive", "n=1", "max_steps=3"))
    assert forecast.to_json()["simulated"] is True
    (money,) = (line for line in shown(forecast).splitlines() if line.startswith("money"))
    assert money.rstrip().endswith(" (simulated)")
    assert show_plan(asked("env=cube", "n=1", "max_steps=3")).to_json()["simulated"] is False


def test_the_command_names_the_cells_on_request_only(quorum: Quorum) -> None:
    words = ("sweep", "n=2", "seed=range(0,3)", "max_steps=3", "--dry-run")
    plain, named = quorum(*words), quorum(*words, "--names")
    assert plain.returncode == named.returncode == 0, plain.stderr + named.stderr
    summary, _, names = named.stdout.rpartition("\n\n")
    assert [line.rstrip() for line in summary.splitlines()] == [line.rstrip() for line in plain.stdout.splitlines()]
    assert len(names.splitlines()) == 3
    assert all(name.startswith("cube-n2-") and name not in summary for name in names.splitlines())
    reported = quorum(*words[:-1], "--names")
    assert (reported.returncode, "--names works only with --dry-run" in reported.stderr) == (2, True)


def test_it_says_what_tiers_and_batches_cost_where_their_prices_are_known(asked: Callable[..., SweepRequest]) -> None:
    words = ("env=cube", "agents=naive", "llm=openai", "llm.model=gpt-5-mini", "n=2", "max_steps=3", "seed=0,1")
    usual = show_plan(asked(*words))
    assert usual.usd is not None
    assert usual.by_tier == pytest.approx(
        {"": usual.usd, "batch": usual.usd / 2, "flex": usual.usd / 2, "priority": usual.usd * 1.8}
    )
    assert "in batches: engine=batch" in shown(usual)
    assert "with llm.service_tier=flex" in shown(usual)
    assert usual.waves is None
    flex = show_plan(asked(*words, "llm.service_tier=flex"))
    batch = show_plan(asked(*words, engine=("engine=batch",)))
    assert flex.usd == batch.usd == pytest.approx(usual.usd / 2)
    assert batch.waves is not None
    assert batch.waves >= 1
    assert f"at least {batch.waves} waves of batches, each within 24 hours" in shown(batch)
    assert batch.to_json()["usd_by_tier"]["usual"] == pytest.approx(usual.usd, abs=1e-5)
    local = show_plan(asked(*words[:2], "llm=vllm", "llm.model=m", "llm.prices={input: 1, output: 1}", *words[4:]))
    assert list(local.by_tier) == [""]


def test_minds_that_the_simulated_model_cannot_answer_have_an_unknown_cost(
    asked: Callable[..., SweepRequest], options: Path
) -> None:
    words = ("agents=asker", "llm=vllm", "llm.model=m", "n=2")
    forecast = show_plan(asked(*words))
    assert (forecast.usd, forecast.sources) == (None, {"unknown": 1})
    said = expectation(Cell.compose(["env=corridor", *words], options))
    assert said == "cost unknown: the simulated model cannot play agents=asker"

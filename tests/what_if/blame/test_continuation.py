"""What agents and messages are worth where the minds of a team think on without them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from maeil.metrics import compute_metrics
from maeil.trace import Instant
from quorum.agents.simulated import SimulatedSettings
from quorum.agents.simulated.model import SimulatedModel
from quorum.configuration.cell import Cell
from quorum.episode.in_memory import play_in_memory
from quorum.episode.runner import run_cell
from quorum.runs.recorded_episode import open_episode
from quorum.what_if.blame.attempts import Budget
from quorum.what_if.blame.credit import Bill, Continuations, Kind, credits_of
from quorum.what_if.blame.ending import Ender, ending_of
from quorum.what_if.branch.change import Change
from quorum.what_if.branch.parent import Parent
from quorum.what_if.metrics.credit import Utility
from quorum_base.user_errors import UserError
from tests.conftest import PLUGINS, Quorum
from tests.episode.till import PRICES, Till
from tests.serving import served


def worth(run: Path) -> Utility:
    ending = ending_of(open_episode(run).trace)
    return Utility(ending.returned, ending.reached, ending.score)


ORDERS = ("--plugin", "orders", "--config-dir", str(PLUGINS / "corridor_configs"))
TEAM = ("env=corridor", "agents=orders", "topology=chain", "n=3", "max_steps=12")
CREDIT = ("--plugin", "orders", "--json", "--of")


def ordered(quorum: Quorum) -> str:
    done = quorum("run", *ORDERS, *TEAM, "--json")
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert result["metrics"]["outcome.steps"] == 5  # the corridor is five cells long, and each step costs 0.01
    folder: str = result["folder"]
    return folder


def test_the_message_with_the_only_order_is_worth_all_that_it_set_going_and_small_talk_nothing(quorum: Quorum) -> None:
    folder = ordered(quorum)
    done = quorum("credit", folder, *CREDIT, "message")
    (found,) = json.loads(done.stdout)
    rows = found["message"]
    assert [(row["value_reached"], row["value_score"]) for row in rows] == [(2, 2.0), (0, 0.0)]
    assert [row["value"] for row in rows] == pytest.approx([0.12 - 0.05, 0.0])
    credits = found["metrics"]
    assert credits.pop("credit.message_mean") == pytest.approx(0.035)
    assert credits == {
        "credit.message_helped": 0.5,
        "credit.message_neutral": 0.5,
        "credit.message_harmed": 0,
    }
    assert done.stderr.strip().endswith("playing it 2 times")


def test_without_the_one_who_orders_a_team_that_reacts_loses_all(quorum: Quorum) -> None:
    """Had they acted as recorded, the others would have walked without a request."""
    folder = ordered(quorum)
    done = quorum("credit", folder, *CREDIT, "live", "--of", "agent")
    rows = json.loads(done.stdout)[0]["agent"]
    assert [row["live_difference_reached"] for row in rows] == [3, 1, 1]
    assert [row["difference_reached"] for row in rows] == [1, 1, 1]
    assert [row["live_difference"] for row in rows] == pytest.approx([0.07, 0.07, 0.07])


@pytest.mark.parametrize(
    "words",
    [
        "n=3 seed=1 agents=naive topology=debate max_steps=30",
        "env=transport n=4 seed=3 agents=naive topology=debate",
        "env=squeeze n=3 max_steps=5 agents=naive topology=chain",
        "n=3 seed=2 agents=negotiator topology=debate max_steps=30",
    ],
)
def test_what_is_played_aside_is_the_branch_that_is_run(words: str, tmp_path: Path) -> None:
    run = run_cell(Cell.compose(words.split()), tmp_path).folder
    parent = Parent.open(run)
    again = Continuations(parent)
    first = parent.episode.trace.start.agents[1]
    change = Change((f"agents.members.{first}=idle",))
    planned = parent.branch(Instant(0), change)
    branch = run_cell(planned.cell, tmp_path / "branches", start=planned.start)
    without = worth(branch.folder)
    names = ("outcome.return", "outcome.reached", "outcome.score")
    assert [branch.metrics[name] for name in names] == [without.returned, without.reached, without.score]
    assert again.without_agent(first) == again.whole - without
    message = next(iter(again.messages))
    planned = parent.branch(None, Change(drops=(message,)))
    dropped = run_cell(planned.cell, tmp_path / "branches", start=planned.start)
    assert again.without_message(message) == again.whole - worth(dropped.folder)


def test_the_run_itself_played_aside_is_worth_what_it_was_worth(tmp_path: Path) -> None:
    run = run_cell(Cell.compose(["n=3", "seed=1", "agents=naive", "topology=debate", "max_steps=20"]), tmp_path)
    ender = Ender()
    planned = Parent.open(run.folder).branch(Instant(0), Change())
    play_in_memory(planned.cell, [ender], start=planned.start)
    assert ender.ending == ending_of(open_episode(run.folder).trace)
    metrics = compute_metrics(open_episode(run.folder).trace)
    assert ender.ending.returned == metrics["outcome.return"]


def test_a_message_to_those_who_do_not_listen_is_worth_nothing(tmp_path: Path) -> None:
    words = "n=2 seed=1 agents=heuristic agents.members.agent_0=naive topology=chain max_steps=25"
    again = Continuations(Parent.open(run_cell(Cell.compose(words.split()), tmp_path).folder))
    messages = list(again.messages)
    assert messages
    assert all(again.without_message(message).is_nothing for message in messages)


@pytest.fixture
def paid(tmp_path: Path) -> Iterator[tuple[Path, Till]]:
    """A run whose minds have asked a server that counts, which goes on to serve."""
    till = Till(SimulatedModel(SimulatedSettings(**dict.fromkeys(SimulatedSettings.model_fields, 0))))
    with served(till) as addresses:
        model = ("llm=openai", "llm.model=simulated", f"llm.base_url={addresses.openai}", "llm.api_key_env=null")
        words = ("env=squeeze", "n=3", "max_steps=3", "agents=naive", "topology=debate", "llm.cache=false", PRICES)
        run = run_cell(Cell.compose([*words, *model]), tmp_path / "runs").folder
        till.answers = till.prompt = till.completion = till.asked = 0
        yield run, till


def test_without_a_budget_no_paid_model_is_asked(paid: tuple[Path, Till]) -> None:
    run, till = paid
    assert credits_of(run, [Kind.AGENT]).metrics["credit.difference"] is not None
    for kind in (Kind.LIVE, Kind.MESSAGE):
        with pytest.raises(UserError, match=r"paid language models(.|\n)*--budget-calls"):
            credits_of(run, [kind])
    assert till.answers == 0


@pytest.mark.parametrize("kind", [Kind.LIVE, Kind.MESSAGE])
def test_a_paid_credit_costs_what_was_estimated_and_is_paid_for_once(kind: Kind, paid: tuple[Path, Till]) -> None:
    run, till = paid
    expected = Bill(stands_in=True)
    credits_of(run, [kind], bill=expected)
    assert (till.answers, sorted(run.parent.iterdir())) == (0, [run])
    half = Bill(Budget(calls=expected.spent.answers // 2))
    with pytest.raises(UserError, match="To resume, give a larger budget"):
        credits_of(run, [kind], bill=half)
    assert 0 < half.spent.answers == till.answers <= expected.spent.answers // 2
    whole = Bill(Budget(calls=10_000))
    found = credits_of(run, [kind], bill=whole)
    assert whole.reruns == expected.reruns
    for spent in (whole.spent, expected.spent):
        amounts = (till.answers, till.prompt + till.completion, till.usd)
        assert (spent.answers, spent.tokens, spent.usd) == pytest.approx(amounts, rel=0.2 * (spent is expected.spent))
    before = till.answers
    assert credits_of(run, [kind], bill=Bill(Budget(calls=1))) == found
    assert till.answers == before


def test_a_team_in_which_nobody_can_idle_is_refused_by_the_name_of_its_run(tmp_path: Path) -> None:
    planned = "n=2 agents=planner agents.starts=2 agents.changes=4 agents.rollouts=2 max_steps=4"
    run = run_cell(Cell.compose(planned.split()), tmp_path).folder
    with pytest.raises(UserError, match=rf"{run.name}: it cannot be played without agent_0: .*cannot share"):
        credits_of(run, [Kind.LIVE])
    assert credits_of(run, [Kind.AGENT]).metrics


def test_a_run_that_broke_off_is_refused(tmp_path: Path) -> None:
    run = run_cell(
        Cell.compose(["env=squeeze", "n=3", "max_steps=4", "agents=naive", "topology=debate"]), tmp_path
    ).folder
    killed = tmp_path / "killed"
    killed.mkdir()
    for name in ("config.yaml", "calls.jsonl"):
        (killed / name).write_bytes((run / name).read_bytes())
    meta = json.loads((run / "meta.json").read_text())
    meta |= {"outcome": None, "end": None, "files": None}
    (killed / "meta.json").write_text(json.dumps(meta))
    lines = (run / "trace.jsonl").read_bytes().splitlines(keepends=True)
    (killed / "trace.jsonl").write_bytes(b"".join(lines[:-1]))
    with pytest.raises(UserError, match="the run broke off"):
        credits_of(killed, [Kind.MESSAGE])
    assert credits_of(killed, [Kind.AGENT]).metrics

"""What agents and messages are worth where the minds of a team think on without them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from maeil.metrics import compute_metrics
from maeil.trace import Instant
from maeil.user_errors import UserError
from quorum.agents.llm.protocol import Reply, Request
from quorum.agents.simulated import SimulatedSettings
from quorum.agents.simulated.model import SimulatedModel
from quorum.experiments.blame.credit import Continuations, Kind, Valuing, credits_of, utility_of
from quorum.experiments.branch.change import Change
from quorum.experiments.branch.parent import Parent
from quorum.experiments.configuration.cell import Cell
from quorum.experiments.episode.runner import run_cell
from quorum.experiments.results.recorded_episode import open_episode
from tests.conftest import PLUGINS, Quorum
from tests.serving import served

ORDERS = ("--plugin", "orders", "--config-dir", str(PLUGINS / "corridor_configs"))
TEAM = ("env=corridor", "agents=orders", "topology=chain", "n=3", "max_steps=12")
CREDIT = ("--plugin", "orders", "--json", "--credit")


def ordered(quorum: Quorum) -> str:
    done = quorum("run", *ORDERS, *TEAM, "--json")
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert result["metrics"]["outcome.steps"] == 5  # the corridor is five cells long, and each step costs 0.01
    folder: str = result["folder"]
    return folder


def test_the_message_with_the_only_order_is_worth_all_that_it_set_going_and_small_talk_nothing(quorum: Quorum) -> None:
    folder = ordered(quorum)
    done = quorum("results", folder, *CREDIT, "message", "--per", "message")
    rows = json.loads(done.stdout)[0]["rows"]
    assert [(row["value_reached"], row["value_score"]) for row in rows] == [(2, 2.0), (0, 0.0)]
    assert [row["value"] for row in rows] == pytest.approx([0.12 - 0.05, 0.0])
    (found,) = json.loads(quorum("results", "--recompute", folder, *CREDIT, "message").stdout)
    credits = {name: value for name, value in found["metrics"].items() if name.startswith("credit.")}
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
    done = quorum("results", folder, *CREDIT, "live", "--credit", "agent", "--per", "agent")
    rows = json.loads(done.stdout)[0]["rows"]
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
    branch = run_cell(planned.cell, tmp_path / "branches", branching=planned.branching)
    without = utility_of(open_episode(branch.folder).trace)
    names = ("outcome.return", "outcome.reached", "outcome.score")
    assert [branch.metrics[name] for name in names] == [without.returned, without.reached, without.score]
    assert again.without_agent(first) == again.whole - without
    message = next(iter(again.messages))
    planned = parent.branch(None, Change(drops=(message,)))
    dropped = run_cell(planned.cell, tmp_path / "branches", branching=planned.branching)
    assert again.without_message(message) == again.whole - utility_of(open_episode(dropped.folder).trace)


def test_the_run_itself_played_aside_is_worth_what_it_was_worth(tmp_path: Path) -> None:
    run = run_cell(Cell.compose(["n=3", "seed=1", "agents=naive", "topology=debate", "max_steps=20"]), tmp_path)
    valuing = Valuing()
    Parent.open(run.folder).branch(Instant(0), Change()).play_in_memory([valuing])
    assert valuing.utility == utility_of(open_episode(run.folder).trace)
    metrics = compute_metrics(open_episode(run.folder).trace)
    assert valuing.utility.returned == metrics["outcome.return"]


def test_a_message_to_those_who_do_not_listen_is_worth_nothing(tmp_path: Path) -> None:
    words = "n=2 seed=1 agents=heuristic agents.members.agent_0=naive topology=chain max_steps=25"
    again = Continuations(Parent.open(run_cell(Cell.compose(words.split()), tmp_path).folder))
    messages = list(again.messages)
    assert messages
    assert all(again.without_message(message).is_nothing for message in messages)


class Counting:
    """A simulated model that counts what it is asked."""

    def __init__(self) -> None:
        self._brain = SimulatedModel(SimulatedSettings(**dict.fromkeys(SimulatedSettings.model_fields, 0)))
        self.requests = 0

    async def complete(self, request: Request) -> Reply:
        self.requests += 1
        return await self._brain.complete(request)


def test_a_model_that_is_paid_for_is_asked_nothing(tmp_path: Path) -> None:
    brain = Counting()
    with served(brain) as addresses:
        model = ["llm=openai", "llm.model=simulated", f"llm.base_url={addresses.openai}", "llm.api_key_env=null"]
        words = ["env=squeeze", "n=3", "max_steps=3", "agents=naive", "topology=debate", "llm.cache=false"]
        run = run_cell(Cell.compose([*words, *model]), tmp_path).folder
        before = brain.requests
        assert before
        assert credits_of(run, [Kind.AGENT]).metrics["credit.difference"] is not None
        for kind in (Kind.LIVE, Kind.MESSAGE):
            with pytest.raises(UserError, match="would ask a paid model"):
                credits_of(run, [kind])
        assert brain.requests == before


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

"""Choice probes of recorded runs: a listening and a deaf model of known probabilities, over HTTP."""

from __future__ import annotations

import csv
import io
import json
import re
from collections import defaultdict
from collections.abc import Sequence
from math import exp, isclose, log
from pathlib import Path

import pytest

from quorum.agents.llm.protocol import Finish, Reply, TokenLogprobs, Usage
from quorum.agents.llm.recording import unfolded
from quorum.agents.llm.records import describe_reply, read_reply
from quorum.configuration.cell import Cell
from quorum.episode.runner import run_cell
from quorum.storage.run_files import RunFiles
from quorum.what_if.choice import probe
from quorum.what_if.choice.probe import Question, counts, measure, plan
from quorum.what_if.choice.table import Table
from quorum_base.user_errors import UserError
from tests.conftest import Quorum
from tests.what_if.choice.listening import OUTSIDE, Listener, listening

GAIN = 1.5
CALLS = {"calls": 10_000}
TEAM = "n=2 agents=naive topology=centralized max_steps=4 prompts=terse prompts.thoughts=off llm.poor=0"


@pytest.fixture(scope="module")
def sweep(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("talk")
    for seed in range(2):
        run_cell(Cell.compose([*TEAM.split(), f"seed={seed}"]), out)
    return out


def words(address: str, *more: str) -> tuple[str, ...]:
    return ("llm=llamacpp", f"llm.base_url={address}", *more)


def measured(sweep: Path, model: Listener, *more: str) -> Table:
    with listening(model) as address:
        question = Question((sweep,), words(address, *more), at=("0",), budget=CALLS)
        planned = plan(question)
        return Table(measure(planned, question), counts(planned)["decisions"])


def without_messages(prompt: str) -> str:
    return re.sub(r"<(memory|unread)>.*?</\1>\n", "", prompt, flags=re.DOTALL)


def effects(table: Table) -> dict[str, float]:
    return {row.arm: row.effect.value for row in table.rows if row.by == "asked"}


@pytest.mark.parametrize("raw", [True, False], ids=["raw", "renormalised"])
@pytest.mark.parametrize("grounded", ["true", "false"])
def test_the_log_odds_are_those_of_the_model(sweep: Path, raw: bool, grounded: str) -> None:
    table = measured(sweep, Listener(GAIN, raw=raw), f"llm.grounded_schema={grounded}")
    assert len(table.measured) == table.planned >= 4
    assert {one.decision.heard.asked for one in table.measured} == {True, False}
    for one in table.measured:
        heard = one.decision.heard
        assert heard.choices == ("block_0", "block_1", "block_2")
        others = [choice for choice in heard.choices if choice != heard.named]
        after = heard.choices[(heard.choices.index(heard.named) + 1) % 3]
        for arm in ("none", "empty"):
            assert all(isclose(share, 1 / 3) for share in one.arms[arm].shares.values())
        total = exp(GAIN) + 2
        assert isclose(one.arms["heard"].shares[heard.named], exp(GAIN) / total)
        assert all(isclose(one.arms["heard"].shares[other], 1 / total) for other in others)
        assert isclose(one.arms["contradicting"].shares[after], exp(GAIN) / total)
        assert isclose(one.arms["heard"].listed, 1 - OUTSIDE if raw else 1)
    found = effects(table)
    assert isclose(found["heard"], 0, abs_tol=1e-12)
    assert isclose(found["none"], GAIN)
    assert isclose(found["empty"], GAIN)
    assert isclose(found["contradicting"], GAIN + log(1 + exp(GAIN)) - log(2))


def test_a_deaf_model_is_found_deaf_whatever_it_prefers(sweep: Path) -> None:
    table = measured(sweep, Listener(0.0))
    assert all(isclose(effect, 0, abs_tol=1e-9) for effect in effects(table).values())
    assert all(isclose(row.distance, 0, abs_tol=1e-9) for row in table.rows)


def test_the_prompt_as_heard_is_that_of_the_run_and_the_others_differ_in_messages_alone(sweep: Path) -> None:
    recorded = {
        (folder.name, call["agent"], call["t"]): [message["content"] for message in call["request"]["messages"]]
        for folder in sweep.iterdir()
        for call in unfolded(RunFiles(folder).lines("calls.jsonl"))
        if call["turn"] == ["plan"]
    }
    planned = plan(Question((sweep,), words("http://127.0.0.1:9/v1")))
    decisions = [one for asked in planned for one in asked.decisions]
    leaders = [one for one in decisions if one.agent == "agent_0"]
    assert leaders
    assert len(leaders) < len(decisions)
    for one in decisions:
        prompts = {arm: [message.content for message in request.messages] for arm, request in one.requests.items()}
        own = recorded[one.run, one.agent, one.t]
        assert (prompts["heard"] == own) == (one in leaders)
        assert len({messages[0] for messages in prompts.values()}) == 1
        outside = {
            re.sub(r"<(memory|unread)>.*?</\1>\n", "", messages[-1], flags=re.DOTALL) for messages in prompts.values()
        }
        assert outside == {re.sub(r"<(memory|unread)>.*?</\1>\n", "", own[-1], flags=re.DOTALL)}
        assert len({messages[-1] for messages in prompts.values()}) >= 4


def test_a_board_counts_once(sweep: Path) -> None:
    table = measured(sweep, Listener(GAIN))
    (row, *_) = (row for row in table.rows if row.arm == "none")
    doubled = Table([*table.measured, *table.measured[:1]], table.planned)
    (again, *_) = (row for row in doubled.rows if row.arm == "none")
    assert row.odds.boards == again.odds.boards == 2
    assert again.decisions == row.decisions + 1


def test_the_command_compares_models_and_writes_its_files(sweep: Path, quorum: Quorum, tmp_path: Path) -> None:
    before = {file: file.read_bytes() for file in sweep.rglob("*") if file.is_file()}
    with listening(Listener(GAIN)) as good, listening(Listener(0.0)) as deaf:
        asked = ("branch", str(sweep), "--probe", "choice", "llm=llamacpp", f"llm.base_url={good},{deaf}")
        dry = json.loads(quorum(*asked, "--dry-run", "--json").stdout)
        assert dry["models"] == 2
        made = quorum(*asked, "--budget-calls", "1000", "--out", "out", "--name", "both", "--json")
        assert made.returncode == 0, made.stderr
        again = quorum(*asked, "--budget-calls", "1000", "--out", "out", "--name", "both")
        assert again.returncode == 2
        assert "already exists" in again.stderr
        shown = quorum(*asked, "--budget-calls", "1000", "--at", "0", "--out", "out", "--name", "first")
        without = quorum(*asked)
        assert (without.returncode, "--budget-calls" in without.stderr) == (2, True)
        small = quorum(*asked, "--budget-calls", "12", "--out", "out", "--name", "small", "--json")
    found = json.loads(made.stdout)
    assert found["decisions"] == found["measured"] == dry["decisions"]
    models = {row["model"] for row in found["rows"]}
    assert models == {f"llm.base_url={good}", f"llm.base_url={deaf}"}
    effect = {row["model"]: row["effect"]["value"] for row in found["rows"] if row["arm"] == "none"}
    assert isclose(effect[f"llm.base_url={good}"], GAIN)
    assert isclose(effect[f"llm.base_url={deaf}"], 0, abs_tol=1e-9)
    folder = Path(found["folder"]) if Path(found["folder"]).is_absolute() else tmp_path / found["folder"]
    assert {file.name for file in folder.iterdir()} == {f"choices.{form}" for form in ("csv", "json", "pdf", "png")}
    rows = list(csv.DictReader(io.StringIO((folder / "choices.csv").read_text())))
    sums: defaultdict[tuple[str, ...], float] = defaultdict(float)
    for row in rows:
        sums[row["model"], row["run"], row["agent"], row["t"], row["t_hat"], row["arm"]] += float(row["probability"])
    assert len(sums) == 6 * found["decisions"]
    assert all(isclose(total, 1) for total in sums.values())
    assert (folder / "choices.pdf").read_bytes().startswith(b"%PDF")
    assert shown.returncode == 0, shown.stderr
    assert "heard - arm" in shown.stdout
    part = json.loads(small.stdout)
    assert 0 < part["measured"] < part["decisions"]
    assert {file: file.read_bytes() for file in sweep.rglob("*") if file.is_file()} == before


def test_models_behind_different_servers_have_the_names_that_they_report(sweep: Path) -> None:
    done: list[None] = []
    with listening(Listener(GAIN, name="good")) as good, listening(Listener(0.0, name="deaf")) as deaf:
        question = Question((sweep,), ("llm=llamacpp", f"llm.base_url={good},{deaf}"), at=("0",), budget=CALLS)
        planned = plan(question)
        found = measure(planned, question, lambda: done.append(None))
    assert {one.model for one in found} == {"good", "deaf"}
    assert len(done) == counts(planned)["decisions"] == len(found)
    effect = {row.model: row.effect.value for row in Table(found, len(found)).rows if row.arm == "none"}
    assert isclose(effect["deaf"], 0, abs_tol=1e-9)
    assert effect["good"] > 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--luck",), "--luck would have no effect"),
        (("--say", "agent_0:hi", "--draws", "2"), "--say, --draws would have no effect"),
        ((), "llm=simulated gives no log-probabilities"),
        (("llm=echo",), "llm=echo gives no log-probabilities"),
        (("llm=llamacpp", "topology=debate"), "the messages are those of the run"),
        (("--at", "3", "llm=llamacpp"), "in no turn"),
        (("llm=llamacpp", "agents=heuristic"), "no log-probabilities"),
    ],
)
def test_what_cannot_be_measured_is_refused(
    arguments: Sequence[str], message: str, sweep: Path, quorum: Quorum, tmp_path: Path
) -> None:
    found = quorum("branch", str(sweep), "--probe", "choice", *arguments)
    assert found.returncode == 2
    assert message in found.stderr
    assert not (tmp_path / "runs").exists()


def test_a_service_without_log_probabilities_is_named(sweep: Path) -> None:
    with pytest.raises(UserError, match="its service gives no log-probabilities") as error:
        measured(sweep, Listener(GAIN, lists=False))
    assert "llm=vllm" in error.value.hint


def test_a_recorded_answer_keeps_its_log_probabilities() -> None:
    tokens = (TokenLogprobs("a", -0.5, {"a": -0.5, "b": -1.0}),)
    reply = Reply("a", Finish.STOP, Usage(1, 1), None, 0.0, "m", logprobs=tokens)
    assert read_reply(json.loads(json.dumps(describe_reply(reply)))) == reply
    assert "logprobs" not in describe_reply(Reply("a", Finish.STOP, Usage(1, 1), None, 0.0, "m"))
    assert probe.OPTION == "--probe choice"

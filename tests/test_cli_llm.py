"""The verbs and flags around language models, as a user meets them."""

from __future__ import annotations

import json
import os
import re
import signal
import sqlite3
import subprocess
from contextlib import closing
from pathlib import Path

import pytest

from quorum.agents.simulated import SimulatedSettings
from quorum.agents.simulated.model import SimulatedModel
from quorum.episode.prompt import Wanted, find_prompt
from tests.conftest import Quorum, command, environment
from tests.loopback import Fault, FaultKind
from tests.serving import served

TEAM = ("agents=naive", "topology=debate", "n=2", "max_steps=40")
BRAIN = SimulatedModel(SimulatedSettings(**{**dict.fromkeys(SimulatedSettings.model_fields, 0), "seed": 0}))


def _local(url: str, *arguments: str) -> list[str]:
    return ["llm=openai", f"llm.base_url={url}", "llm.model=simulated", "llm.api_key_env=null", *arguments]


def test_a_run_of_simulated_minds_says_so_wherever_it_is_shown(quorum: Quorum, tmp_path: Path) -> None:
    printed = quorum("run", *TEAM).stdout
    assert re.search(r"language model +simulated \(no real model\)", printed)
    data = json.loads(quorum("run", *TEAM, "--json").stdout)
    assert (data["models"], data["simulated"]) == (["simulated"], True)
    (folder, *_) = (tmp_path / "runs").iterdir()
    assert json.loads((folder / "meta.json").read_text())["simulated"] is True
    assert "simulated (no real model)" in quorum("results", str(folder)).stdout
    assert json.loads(quorum("results", str(folder), "--json").stdout)[0]["simulated"] is True
    many = quorum("results", *[str(folder)] * 5).stdout
    assert many.count("simulated (no real model)") == 5


def test_minds_without_a_model_show_none(quorum: Quorum) -> None:
    assert "language model" not in quorum("run", "n=1").stdout
    assert "simulated" not in json.loads(quorum("run", "n=1", "--json").stdout)


def test_unknown_money_is_shown_as_unknown(quorum: Quorum) -> None:
    with served(BRAIN) as addresses:
        done = quorum("run", *TEAM, *_local(addresses.openai, "llm.cache=false"))
    assert re.search(r"cost +unknown", done.stdout)


def test_a_run_that_its_budget_ends_says_what_it_has_used_and_leaves_no_task_behind(quorum: Quorum) -> None:
    done = quorum("run", "n=4", "agents=naive", "--budget-calls", "4")
    assert done.returncode == 0
    assert "Traceback" not in done.stderr  # and no task whose failure nobody has seen: the fixture looks for it
    assert re.search(r"model answers +4 \(calls: 4\)", done.stdout)
    assert re.search(r"budget +4 of 4 requests for an answer", done.stdout)


def test_the_summary_of_a_run_has_at_most_eight_rows_and_all_has_more(quorum: Quorum) -> None:
    def rows(*words: str) -> list[str]:
        done = quorum("run", "n=2", "topology=debate", "max_steps=20", "--budget-calls", "99", *words)
        assert done.returncode == 0, done.stderr
        return re.findall(r"^([a-z][a-z: ]*?) {2,}\S", done.stdout, re.MULTILINE)

    short, long = rows(), rows("--all")
    assert short == [
        "language model", "outcome", "goals reached", "steps", "messages", "model answers", "budget", "time",
    ]  # fmt: skip
    assert long[: len(short)] == short
    assert "plans: coherence" in long


def test_a_budget_counts_the_answers_that_are_asked_for_again(quorum: Quorum) -> None:
    done = quorum("run", *TEAM, "llm.malformed=0.5", "budget.calls=9", "--json")
    metrics = json.loads(done.stdout)["metrics"]
    assert metrics["model.answers"] + metrics["model.unanswered"] == 9
    assert metrics["model.calls"] < metrics["model.answers"]


def test_a_run_that_the_cache_answers_says_so(quorum: Quorum, tmp_path: Path) -> None:
    cache = ("llm.cache=true", f"llm.cache_path={tmp_path / 'replies.sqlite'}")
    first, second = (json.loads(quorum("run", *TEAM, *cache, "--json").stdout)["metrics"] for _ in range(2))
    assert (first["model.cached_answers"], second["model.cached_answers"]) == (0, second["model.answers"])
    assert second["model.latency_median_seconds"] is None
    printed = quorum("run", *TEAM, *cache).stdout
    assert re.search(rf"model: cached answers +{second['model.answers']} of {second['model.answers']}\b", printed)
    assert "answers came from the cache" in quorum("compare", "runs", "--by", "n").stdout


def test_a_price_that_is_not_known_is_nowhere_nothing(quorum: Quorum) -> None:
    words = ("agents=naive", "n=2", "max_steps=5", "seed=0,1", "--name", "s")
    with served(BRAIN) as addresses:
        model = _local(addresses.openai, "llm.cache=false")
        done = quorum("sweep", *words, *model)
        ahead = quorum("sweep", "agents=naive", "n=2", "max_steps=5", "seed=0,1,2", *model, "--name", "s", "--dry-run")
        prices = "llm.prices={input: 1, output: 1}"
        priced = quorum("run", "agents=naive", "n=2", "max_steps=5", *model, prices, "--json")
    assert done.returncode == 0, done.stderr
    assert re.search(r"money +price unknown", done.stdout)
    assert "price unknown" in done.stderr.splitlines()[-1]
    assert re.search(r"money +unknown", ahead.stdout)
    for text in (done.stdout, done.stderr, ahead.stdout, quorum("compare", "runs/s", "--by", "n").stdout):
        assert "$0.00" not in text
    metrics = json.loads(priced.stdout)["metrics"]
    tokens = metrics["model.prompt_tokens"] + metrics["model.completion_tokens"]
    assert metrics["model.usd"] == pytest.approx(tokens / 1e6)


@pytest.mark.parametrize(
    ("flags", "kind"),
    [(["--budget-calls", "3"], "calls"), (["--budget-tokens", "4000"], "tokens"), (["--budget-usd", "0.001"], "usd")],
)
def test_a_budget_that_is_used_up_is_a_notice_and_no_failure(flags: list[str], kind: str, quorum: Quorum) -> None:
    done = quorum("run", *TEAM, *flags, "--json")
    data = json.loads(done.stdout)
    assert (done.returncode, data["outcome"]) == (0, "budget")
    assert f"notice: the episode ended because its budget was used up: BudgetReached: {kind}: " in done.stderr
    assert "BudgetReached" in data["reason"]
    assert data["metrics"]["model.calls"] <= 3 or kind != "calls"


@pytest.mark.parametrize("flags", [["--budget-calls", "0"], ["--budget-usd", "-1"], ["--budget-tokens", "0"]])
def test_a_budget_of_nothing_is_a_mistake(flags: list[str], quorum: Quorum) -> None:
    done = quorum("run", *TEAM, *flags)
    assert done.returncode == 2
    assert f"error: budget.{flags[0].removeprefix('--budget-')}: " in done.stderr


def test_a_provider_that_does_not_answer_is_an_error_with_its_reason(quorum: Quorum) -> None:
    with served(BRAIN, faults=lambda _: Fault(FaultKind.SERVER_ERROR)) as addresses:
        done = quorum("run", *TEAM, *_local(addresses.openai, "llm.tries=1"))
    assert done.returncode == 1
    assert "error: the episode ended with an error: InfrastructureFailed: no answer within 1 tries" in done.stderr
    assert "Traceback" not in done.stderr


CHECKS = {
    "no key": (["llm=openai", "llm.model=x"], "no key: set the environment variable OPENAI_API_KEY"),
    "no server": (
        ["llm=vllm", "llm.base_url=http://127.0.0.1:9/v1", "llm.model=x"],
        "Is a server running at http://127.0.0.1:9/v1?",
    ),
    "no run": (["agents=heuristic", "llm=replay", "llm.run=nowhere"], "nowhere/calls.jsonl cannot be read"),
}


@pytest.mark.parametrize("case", CHECKS)
def test_check_says_what_is_wrong_with_a_model_and_how_to_mend_it(case: str, quorum: Quorum) -> None:
    arguments, expected = CHECKS[case]
    done = quorum("check", *arguments, "--json", OPENAI_API_KEY="")
    assert done.returncode == 1
    (finding,) = [finding for finding in json.loads(done.stdout) if finding["subject"] == "llm"]
    assert not finding["fine"]
    assert expected in finding["detail"]
    assert "\n" not in finding["detail"]


FAULTS = {
    FaultKind.UNAUTHORIZED: "not accepted",
    FaultKind.UNKNOWN_MODEL: "no model 'simulated'",
    FaultKind.REFUSAL: "no structured output",
    FaultKind.HTML: "llm.base_url ends in /v1",
    FaultKind.NO_CREDIT: "no credit left",
    FaultKind.RATE_LIMIT: "its limit is reached",
}


@pytest.mark.parametrize("fault", FAULTS)
def test_check_tells_the_faults_of_a_provider_apart(fault: FaultKind, quorum: Quorum) -> None:
    with served(BRAIN, faults=lambda _: Fault(fault)) as addresses:
        done = quorum("check", *_local(addresses.openai), "--json")
    finding = json.loads(done.stdout)[-1]
    assert (done.returncode, finding["fine"]) == (1, False)
    assert FAULTS[fault] in finding["detail"]


@pytest.mark.parametrize(
    ("fault", "bound", "expected"),
    [
        (Fault(FaultKind.SILENCE), "llm.first_byte_timeout=0.3", "llm.first_byte_timeout=null waits"),
        (None, "llm.max_reply_bytes=50", "allow longer replies: llm.max_reply_bytes=N"),
    ],
    ids=["silence", "length"],
)
def test_check_names_the_bound_that_a_provider_goes_beyond(
    fault: Fault | None, bound: str, expected: str, quorum: Quorum
) -> None:
    with served(BRAIN, faults=lambda _: fault) as addresses:
        done = quorum("check", *_local(addresses.openai, bound), "--json")
    finding = json.loads(done.stdout)[-1]
    assert (done.returncode, finding["fine"]) == (1, False)
    assert expected in finding["detail"]


def test_check_asks_every_model_of_the_team_once_and_only_when_one_is_named(quorum: Quorum) -> None:
    found = json.loads(quorum("check", "agents=naive", "llm.agents.agent_1.poor=0.1", "--json").stdout)
    models = {finding["subject"]: finding for finding in found if finding["subject"].startswith("llm")}
    assert set(models) == {"llm", "llm.agents.agent_1"}
    assert all(finding["fine"] and "simulated" in finding["detail"] for finding in models.values())
    assert "llm" not in [finding["subject"] for finding in json.loads(quorum("check", "--json").stdout)]


def test_show_prompt_prints_the_first_turn_of_a_participant_and_asks_no_provider(quorum: Quorum) -> None:
    arguments = ("n=4", "topology=debate", "agent=1", "llm=openai", "llm.model=x")
    printed = quorum("show", "prompt", *arguments).stdout
    assert printed.startswith("--- system ---\nYou belong to a team of agents in the world")
    assert "\nYou are agent_1, " in printed.partition("--- user ---")[2]
    for words in (
        "--- user ---",
        "<observation>",
        "<unread>",
        '"messages":[{"author":"agent_0",',
        "--- expected answer: turn ---",
    ):
        assert words in printed
    data = json.loads(quorum("show", "prompt", *arguments, "--json").stdout)
    assert data["participant"] == "agent_1"
    assert [message["role"] for message in data["messages"]] == ["system", "user"]
    leader = ("topology=centralized", "topology.leader=coordinator", "agent=coordinator")
    assert "You are coordinator" in quorum("show", "prompt", *leader).stdout


def test_prompts_that_the_simulated_model_cannot_read_are_shown_although_it_stands_in(quorum: Quorum) -> None:
    done = quorum("show", "prompt", "n=2", "agents=naive", "topology=debate", "prompts=short", "llm=llamacpp")
    assert done.returncode == 0, done.stderr
    assert "\nagent_0 of agent_0 agent_1 to agent_1: messages\n" in done.stdout


LEADER = ("topology=centralized", "topology.leader=coordinator", "topology.rounds=3")
LLAMAC = ("n=3", "agents=llamac", *LEADER)


@pytest.mark.parametrize(
    ("words", "asked"),
    [
        (["n=3", "topology=debate", "turn=talk"], ("agent_0", "", {"talk"})),
        (["n=3", "topology=decentralized", "agent=1", "turn=interrupted"], ("agent_1", "", {"interrupted", "talk"})),
        (["env=transport", "topology=debate", "turn=interrupted"], ("agent_1", "", {"interrupted"})),
        (["env=squeeze", "topology=hierarchy", "turn=interrupted"], ("agent_0", "root", {"interrupted"})),
        (["env=squeeze", "n=3", *LEADER, "agent=2", "turn=interrupted"], ("agent_2", "follower", {"interrupted"})),
        (["n=3", "topology=centralized", "turn=acknowledge"], ("agent_1", "follower", {"acknowledge"})),
        (["n=3", "agent=1", "turn=refused"], ("agent_1", "", {"plan", "refused"})),
        ([*LLAMAC, "agent=coordinator", "role=assessor"], ("coordinator", "assessor", {"talk"})),
        ([*LLAMAC, "role=explorer", "turn=refused"], ("coordinator", "explorer", {"talk", "refused"})),
        ([*LLAMAC, "role=actor", "max_steps=20"], ("agent_0", "actor", {"acknowledge"})),
        (["env=transport", "agents=hmas2", *LEADER, "role=reviewer"], ("agent_0", "reviewer", {"acknowledge"})),
    ],
)
def test_any_turn_can_be_shown(words: list[str], asked: tuple[str, str, set[str]]) -> None:
    found = find_prompt(Wanted.read(words))
    assert (found.participant, found.role, set(found.turn)) == asked
    shown = "".join(message.content for message in found.messages)
    assert ("<feedback>" in shown or "<problems>" in shown) == ("refused" in found.turn)
    forced = "refused" in found.turn or found.role == "actor" or found.turn == ("interrupted",)
    assert (found.remark != "") == forced


def test_a_turn_of_a_recorded_run_is_shown_as_it_was_asked(quorum: Quorum, tmp_path: Path) -> None:
    team = ("n=3", "agents=naive", "topology=debate", "max_steps=12")
    folder = json.loads(quorum("run", *team, "seed=4", "--json").stdout)["folder"]
    first = json.loads(quorum("show", "prompt", *team, "seed=4", "agent=1", "--json").stdout)
    again = json.loads(quorum("show", "prompt", f"at={folder}:0", "agent=1", "--json").stdout)
    assert again == first
    plan = json.loads(quorum("show", "prompt", f"at={folder}:0", "agent=1", "turn=plan", "--json").stdout)
    assert plan["turn"] == ["plan"]
    assert plan["messages"][0] == first["messages"][0]
    late = quorum("show", "prompt", f"at={folder}:11", "agent=1")
    assert (late.returncode, late.stdout) == (2, "")
    assert "agent_1 got no prompt in step 11\nNearest steps with a prompt: " in late.stderr


def test_of_a_run_without_calls_no_prompt_is_shown_and_none_is_changed(quorum: Quorum) -> None:
    folder = json.loads(quorum("run", "n=2", "max_steps=20", "--json").stdout)["folder"]
    silent = quorum("show", "prompt", f"at={folder}:9", "agent=1")
    assert (silent.returncode, silent.stdout) == (2, "")
    assert "agent_1 asked no language model in this run" in silent.stderr
    changed = quorum("show", "prompt", f"at={folder}:9", "agents=naive")
    assert (changed.returncode, changed.stdout) == (2, "")
    assert "it shows a recorded prompt, which agents=naive cannot change" in changed.stderr


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["agent=9"], "agent=9: there is no such participant"),
        (["agents=heuristic"], "agents=heuristic thinks without a language model"),
        (["nn=3"], "nn: there is no such key"),
        (["turn=plann"], "turn=plann: there is no such turn\nDid you mean 'plan'?"),
        (
            ["turn=interrupted", "max_steps=3"],
            "turn=interrupted: topology=individual interrupts nobody in this episode",
        ),
        (
            ["turn=interrupted", "agent=1", "topology=negotiation", "max_steps=5"],
            "topology=negotiation does not interrupt agent_1 in this episode\n"
            "An agent that carries out a plan gets no message",
        ),
        (
            ["turn=talk", "agent=0", "max_steps=3"],
            "agent_0 does not get such a prompt in this episode\nThese have a turn: agent_0 (turn=plan), agent_1",
        ),
        (
            [*LLAMAC, "role=assesor", "max_steps=3"],
            "nobody gets such a prompt in this episode\nDid you mean 'assessor'? These have a turn: ",
        ),
        ([*LLAMAC, "role=assesor", "max_steps=3"], "coordinator (role=assessor, exploiter, explorer; turn=talk"),
        ([*LLAMAC, "role=explorer", "agent=0", "max_steps=3"], "coordinator (role=assessor, exploiter, explorer"),
        (["at=runs"], "at=runs: give the folder of a run and a step"),
        (["at=nowhere:3"], "nowhere: there is no such folder"),
    ],
)
def test_show_prompt_tells_a_mistake(arguments: list[str], expected: str, quorum: Quorum) -> None:
    done = quorum("show", "prompt", *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert expected in done.stderr


def test_a_damaged_cache_is_reported_and_kept(quorum: Quorum, tmp_path: Path) -> None:
    variables = {"XDG_CACHE_HOME": str(tmp_path / "kept")}
    file = tmp_path / "kept" / "quorum" / "replies.sqlite"
    assert quorum("run", *TEAM, "llm.cache=true", **variables).returncode == 0
    file.write_bytes(b"torn" * 4096)
    refused = quorum("run", *TEAM, "llm.cache=true", **variables)
    assert (refused.returncode, "You can delete a damaged one" in refused.stderr) == (2, True)
    assert str(file) in refused.stderr
    assert file.read_bytes() == b"torn" * 4096
    file.unlink()
    assert quorum("run", *TEAM, "llm.cache=true", **variables).returncode == 0


def test_a_cache_path_leaves_the_files_of_others_as_they_are(quorum: Quorum, tmp_path: Path) -> None:
    unmarked = tmp_path / "unmarked.sqlite"
    with closing(sqlite3.connect(unmarked)) as database:
        database.execute("create table answers (key text)")
        database.execute("create table photographs (picture blob)")
        database.commit()
    foreign = tmp_path / "foreign.sqlite"
    with closing(sqlite3.connect(foreign)) as database:
        database.execute("pragma application_id = 252006674")
        database.execute("create table answers (key text primary key, reply blob not null) without rowid")
        database.commit()
    (tmp_path / "notes.txt").write_text("mine")
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    before = {path: (path.stat(), path.read_bytes() if path.is_file() else b"") for path in tmp_path.iterdir()}
    for path in before:
        done = quorum("run", *TEAM, "llm.cache=true", f"llm.cache_path={path}")
        assert (done.returncode, f"llm.cache_path: {path} cannot be opened: " in done.stderr) == (2, True), path
    after = {path: (path.stat(), path.read_bytes() if path.is_file() else b"") for path in tmp_path.iterdir()}
    assert after.keys() == before.keys()
    for path, (stat, content) in before.items():
        assert (after[path][0].st_mode, after[path][0].st_mtime_ns, after[path][1]) == (
            stat.st_mode, stat.st_mtime_ns, content,
        )  # fmt: skip


def test_serve_simulated_prints_addresses_and_commands_that_work(quorum: Quorum, tmp_path: Path) -> None:
    server = subprocess.Popen(
        command("serve-simulated", "--port", "0"), cwd=tmp_path, env=environment(), stdout=subprocess.PIPE, text=True
    )
    try:
        lines = [server.stdout.readline() for _ in range(6)]
        tries = [line.split() for line in lines if line.startswith("  quorum run ")]
        assert len(tries) == 2
        for words in tries:
            done = quorum(*words[1:], "max_steps=5", "--json")
            assert (done.returncode, json.loads(done.stdout)["simulated"]) == (0, True), done.stderr
    finally:
        server.send_signal(signal.SIGINT)
        assert server.wait(30) in (0, 130)
        server.stdout.close()


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--faults", "fire=0.1"], "there is no fault 'fire'"),
        (["--faults", "rate_limit=much"], "'much' is not a number"),
        (["--faults", "rate_limit=0.7", "--faults", "overloaded=0.7"], "at most 1 together"),
        (["llm.poor=7"], "llm.poor: 7 is not allowed"),
        (["n=3"], "the server takes only values of its model"),
        (["--port", "1"], "--port 1: "),
        (["--port", "99999"], "Invalid value for '--port'"),
    ],
)
def test_serve_simulated_tells_a_mistake(arguments: list[str], expected: str, quorum: Quorum) -> None:
    if arguments == ["--port", "1"] and os.geteuid() == 0:
        pytest.skip("root may take any port")
    done = quorum("serve-simulated", *arguments)
    assert done.returncode == 2
    assert expected in done.stderr


def test_a_budget_of_money_without_a_price_says_how_to_give_one(quorum: Quorum) -> None:
    words = ("run", "agents=naive", "n=1", "--budget-usd", "1", *_local("http://127.0.0.1:9/v1", "llm.tries=1"))
    done = quorum(*words)
    assert done.returncode == 2
    assert "the price of 'simulated' is unknown" in done.stderr
    assert "Set its prices: llm.prices='{input: DOLLARS, output: DOLLARS}'" in done.stderr
    assert "price" not in quorum(*words, "llm.prices={input: 0.2, output: 0.8}").stderr

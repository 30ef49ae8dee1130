"""The command of verifiers plays teams against the loopback server, by `integrations/verifiers`. Run by `.ci/run`."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from openai import AsyncOpenAI

import quorum
from quorum.train.policy import Completion, PolicyRequest
from tests.conftest import PATIENCE, command, environment

pytestmark = [pytest.mark.tools, pytest.mark.filterwarnings("default")]
LIMIT = 40
TEAM = ("env=cube", "n=2", "topology=debate", "agents=naive", "prompts=terse", f"max_steps={LIMIT}")

Evaluate = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Give the address of a server of the simulated model."""
    with subprocess.Popen(
        command("serve-simulated", "--port", "0"),
        cwd=tmp_path_factory.mktemp("server"),
        env=environment(),
        stdout=subprocess.PIPE,
        text=True,
    ) as server:
        assert server.stdout is not None
        yield next(line.split()[-1] for line in server.stdout if line.strip().startswith("OpenAI"))
        server.terminate()


@pytest.fixture
def evaluate(address: str, tmp_path: Path) -> Evaluate:
    """Run `vf-eval` on boards 3 and 4, in an empty folder."""

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        words = (
            *("vf-eval", "quorum-verifiers", "--model", "simulated", "--no-push", "--no-rich"),
            *("--client.base-url", address, "--client.api-key-var", "NONE", "--run.dir", "played"),
            *("--select.include.idx", "3:5", "--env.team", " ".join(TEAM)),
        )
        program = str(Path(sys.executable).with_name(words[0]))
        return subprocess.run(
            (program, *words[1:], *arguments),
            cwd=tmp_path,
            env=environment(),
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )

    return run


def played(folder: Path) -> list[dict[str, Any]]:
    """Return the episodes that `vf-eval` has written, by board."""
    lines = (folder / "outputs" / "played" / "traces.jsonl").read_text("utf-8").splitlines()
    return sorted(map(json.loads, lines), key=lambda episode: episode["task"]["data"]["idx"])


def trained(episode: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the traces of an episode that are trained, by seat."""
    return {trace["task"]["data"]["seat"]: trace for trace in episode["traces"] if trace["agent"]["trainable"]}


def conversations(trace: dict[str, Any]) -> list[list[tuple[str, str]]]:
    """Return role and content of the messages of each call: the path from the root to each answer."""
    found, nodes = [], trace["nodes"]
    for at in [node for node in nodes if node["sampled"]]:
        path = [at]
        while "parent" in path[0]:
            path.insert(0, nodes[path[0]["parent"]])
        found.append([(node["message"]["role"], node["message"]["content"]) for node in path])
    return found


def test_verifiers_plays_the_episodes_of_rollouts_and_records_the_calls_of_each_seat(
    address: str, evaluate: Evaluate, tmp_path: Path
) -> None:
    async def direct(request: PolicyRequest) -> Completion:
        async with AsyncOpenAI(base_url=address, api_key="none") as client:
            answer = await client.chat.completions.create(model="simulated", messages=list(request.messages))
        used = answer.usage
        return Completion(answer.choices[0].message.content, None, used.prompt_tokens, used.completion_tokens)

    done = evaluate()
    assert done.returncode == 0, done.stderr
    for expected, episode in zip(quorum.rollouts(*TEAM, policy=direct, boards=(3, 4)), played(tmp_path), strict=True):
        assert (episode["ok"], trained(episode).keys()) == (True, expected.seats.keys())
        for name, trace in trained(episode).items():
            seat = expected.seats[name]
            assert conversations(trace) == [
                [*((one["role"], one["content"]) for one in call.request.messages), ("assistant", call.text)]
                for call in seat.calls
            ]
            assert trace["rewards"]["team"]["score"] == seat.reward.team
            assert trace["info"]["steps"] == [call.request.step for call in seat.calls]
            assert trace["info"]["outcome"] == expected.outcome


def test_difference_rewards_come_from_shadow_episodes_that_are_not_trained(
    address: str, evaluate: Evaluate, tmp_path: Path
) -> None:
    done = evaluate("--env.difference", "true")
    assert done.returncode == 0, done.stderr
    rollouts = quorum.rollouts(*TEAM, policy=address, model="simulated", boards=(3, 4), difference=True)
    for expected, episode in zip(rollouts, played(tmp_path), strict=True):
        for name, trace in trained(episode).items():
            reward = expected.seats[name].reward
            assert trace["rewards"]["difference"]["score"] == reward.difference
            assert trace["metrics"]["team"] == reward.team
            assert trace["info"]["per_step"] == list(reward.per_step)
        shadows = [trace for trace in episode["traces"] if not trace["agent"]["trainable"]]
        found = {(trace["task"]["data"]["seat"], trace["task"]["data"]["idle"]) for trace in shadows}
        assert (len(shadows), found) == (2, {("agent_0", "agent_1"), ("agent_1", "agent_0")})
        assert all(trace["rewards"] == {} for trace in shadows)


def test_a_configuration_that_cannot_be_played_is_refused_before_any_episode(
    evaluate: Evaluate, tmp_path: Path
) -> None:
    done = evaluate("--env.seats", "agent_7")
    assert done.returncode != 0
    assert "agent_7 asks no model in this team" in done.stdout + done.stderr
    assert list(tmp_path.iterdir()) == []


def test_an_episode_fails_when_a_seat_reaches_a_limit_of_verifiers(evaluate: Evaluate, tmp_path: Path) -> None:
    done = evaluate("--env.seat.max-turns", "1")
    assert done.returncode == 0, done.stderr
    for episode in played(tmp_path):
        assert not episode["ok"]
        assert "gave no answer: max_turns" in episode["errors"][0]["message"]
        assert all(trace["rewards"] == {} for trace in episode["traces"])

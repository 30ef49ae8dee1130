"""`quorum credit`: what it prints, what it writes, and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from crafter_env import CrafterEnv
from maeil.trace import read_trace
from maeil.trace.events import StepTaken
from tests.conftest import Quorum

TRANSPORT = ("env=transport", "n=4", "seed=2")


def run(quorum: Quorum, *keys: str, out: str = "runs") -> str:
    done = quorum("run", *keys, "--out", out, "--json")
    assert done.returncode == 0, done.stderr
    folder: str = json.loads(done.stdout)["folder"]
    return folder


def test_credits_are_written_when_asked_for_stay_there_and_are_known_to_all_readers(
    quorum: Quorum, tmp_path: Path
) -> None:
    folders = [run(quorum, *TRANSPORT[:2], f"seed={seed}") for seed in (2, 3)]
    files = [tmp_path / folder / "metrics.json" for folder in folders]
    before = [file.read_bytes() for file in files]
    done = quorum("credit", "runs", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    shown = [found["metrics"] for found in json.loads(done.stdout)]
    assert all(metrics.keys() > {"credit.difference", "credit.most"} for metrics in shown)
    assert [file.read_bytes() for file in files] == before
    assert quorum("credit", "runs", "--write").returncode == 0
    written = [file.read_bytes() for file in files]
    for old, new, metrics in zip(before, written, shown, strict=True):
        assert list(json.loads(new).items())[: len(json.loads(old))] == list(json.loads(old).items())
        assert json.loads(new) == {**json.loads(old), **metrics}
    assert quorum("results", *folders, "--write").returncode == 0
    assert [file.read_bytes() for file in files] == written
    checked = quorum("check", "runs")
    assert checked.returncode == 0, checked.stdout + checked.stderr
    assert "quorum credit" in checked.stdout + checked.stderr
    assert "no module registers" not in checked.stdout + checked.stderr
    compared = json.loads(quorum("compare", "runs", "--metric", "credit.difference", "--json").stdout)
    assert [(one["runs"], one["undefined"]) for one in compared["estimates"]] == [(2, 0)]
    assert compared["estimates"][0]["mean"] == sum(metrics["credit.difference"] for metrics in shown) / 2


def test_the_table_per_agent_has_them_as_columns(quorum: Quorum) -> None:
    folder = run(quorum, *TRANSPORT, "agents=naive", "topology=centralized", "topology.leader=coordinator")
    (found,) = json.loads(quorum("credit", folder, "--json").stdout)
    rows = {row["agent"]: row for row in found["agent"]}
    assert list(rows["agent_0"])[-3:] == ["difference", "difference_reached", "difference_score"]
    assert rows["coordinator"]["difference"] is None
    assert found["metrics"]["credit.most"] == max(row["difference"] or 0 for row in rows.values())
    shown = quorum("credit", folder).stdout.splitlines()
    assert shown[1].split()[-3:] == list(rows["agent_0"])[-3:]
    late = quorum("credit", folder, "--idle-from", "1", "--json")
    assert json.loads(late.stdout)[0]["agent"][0].keys() == rows["agent_0"].keys()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--of", "agents"], "Did you mean 'agent'?"),
        (["--idle-from", "9999"], "the last step is"),
        (["--idle-from", "1", "--write"], "Leave out --write"),
        (["--of", "live", "--idle-from", "1"], "works only with --of agent"),
    ],
)
def test_a_mistake_is_one_message(quorum: Quorum, arguments: list[str], words: str) -> None:
    folder = run(quorum, *TRANSPORT)
    done = quorum("credit", folder, *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert words in done.stderr
    assert "Traceback" not in done.stderr


def test_a_world_of_luck_is_refused_and_the_other_runs_are_credited(quorum: Quorum) -> None:
    lucky = run(quorum, "env=crafter", "n=1", "max_steps=3", "agents=heuristic")
    good = run(quorum, *TRANSPORT)
    done = quorum("credit", lucky, good, "--json")
    assert done.returncode == 2
    assert [found["run"] for found in json.loads(done.stdout)] == [good]
    assert "one random stream" in done.stderr
    assert len(done.stderr.splitlines()) <= 2


def test_in_the_open_world_a_credit_is_what_the_run_loses_while_the_agent_idles(quorum: Quorum, tmp_path: Path) -> None:
    """The joint actions of the trace are played by another world, made from the profile: both meet the same luck."""
    seed, n = 3, 3
    folder = run(quorum, "env=crafter_coop", f"n={n}", "max_steps=60", f"seed={seed}", "agents=heuristic")
    (found,) = json.loads(quorum("credit", folder, "--json").stdout)
    joints = [step.joint for step in read_trace(tmp_path / folder).of(StepTaken)]

    def returned(idle: int | None) -> float:
        env = CrafterEnv(n, profile="coop", max_steps=60)
        env.reset(seed=seed)
        total = 0.0
        for joint in joints:
            acts = {f"agent_{i}": 0 if i == idle else action for i, action in enumerate(joint)}
            total += sum(env.step({agent: acts[agent] for agent in env.agents})[1].values()) / n
        return total

    expected = [returned(None) - returned(agent) for agent in range(n)]
    assert [row["difference"] for row in found["agent"]] == pytest.approx(expected)
    assert len(set(expected)) > 1


def test_a_trace_alone_says_that_its_folder_is_needed(quorum: Quorum) -> None:
    folder = run(quorum, *TRANSPORT)
    done = quorum("credit", f"{folder}/trace.jsonl")
    assert done.returncode == 2
    assert "Give the folder of a run" in done.stderr

"""`quorum check RUN|SWEEP` finds what was changed and says what cannot be verified and what to type."""

from __future__ import annotations

import gzip
import hashlib
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from quorum.runs.derived import recompute, write_metrics
from quorum.runs.verify import check_folder, verify_run
from quorum_base.user_errors import UserError
from tests.conftest import Quorum
from tests.folders import real_sweep, unsealed, write_plan


@pytest.fixture(scope="module")
def sweep(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("checked") / "s"
    real_sweep(folder, [("env=squeeze", "n=3", "max_steps=4", f"seed={seed}") for seed in range(2)])
    return folder


@pytest.fixture
def run(sweep: Path, tmp_path: Path) -> Path:
    """Give a run, in a copy of its sweep."""
    shutil.copytree(sweep, tmp_path / "s")
    return min(path for path in (tmp_path / "s").iterdir() if path.is_dir())


def edit(file: Path, **changes: Any) -> None:
    file.write_text(json.dumps({**json.loads(file.read_text()), **changes}))


def resealed(run: Path) -> None:
    """Recompute the digests, like somebody who changes a run and hides it."""
    files = [file for file in run.iterdir() if file.name != "meta.json"]
    edit(run / "meta.json", files={file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in files})


def test_whole_runs_are_whole_and_nothing_is_changed(sweep: Path) -> None:
    before = {file: file.stat().st_mtime_ns for file in sweep.rglob("*")}
    found = check_folder(sweep)
    assert [(len(found.runs), found.damaged, found.missing, found.advice)] == [(2, (), (), ())]
    assert not any(run.unverified for run in found.runs)
    assert list(found.lines()) == [f"{sweep}: 2 runs: 2 whole"]
    assert {file: file.stat().st_mtime_ns for file in sweep.rglob("*")} == before


def another_steps(run: Path) -> None:
    edit(run / "metrics.json", **{"outcome.steps": 99})


def another_seed(run: Path) -> None:
    edit(run / "meta.json", seed=7)


def another_configuration(run: Path) -> None:
    meta = json.loads((run / "meta.json").read_text())
    edit(run / "meta.json", configuration={**meta["configuration"], "max_repairs": 9})


def another_hash(run: Path) -> None:
    edit(run / "meta.json", hash="0" * 64)


def another_outcome(run: Path) -> None:
    edit(run / "meta.json", outcome="budget")


def another_reward(run: Path) -> None:
    lines = [json.loads(line) for line in (run / "trace.jsonl").read_text().splitlines()]
    for event in lines:
        if event["event"] == "step":
            event["reward"] += 1
    (run / "trace.jsonl").write_text("".join(json.dumps(event) + "\n" for event in lines))


def half(run: Path) -> None:
    lines = (run / "trace.jsonl").read_bytes().splitlines(keepends=True)
    (run / "trace.jsonl").write_bytes(b"".join(lines[: len(lines) // 2]))


CHANGES: dict[str, tuple[Callable[[Path], object], str]] = {
    "metrics": (another_steps, "metrics.json: outcome.steps is 99.0, but the trace gives 4"),
    "reward": (another_reward, "metrics.json: outcome.return is"),
    "seed": (another_seed, "meta.json: its seed differs from the seed of its configuration"),
    "configuration": (another_configuration, "config.yaml: it differs from the configuration in meta.json"),
    "hash": (another_hash, "meta.json: its hash differs from the hash of its configuration"),
    "outcome": (another_outcome, "trace.jsonl: damaged: it ends as 'success', but meta.json says 'budget'"),
    "half": (half, "trace.jsonl: damaged: it breaks off before the end of the episode"),
}


@pytest.mark.parametrize("case", CHANGES)
def test_a_change_that_hides_behind_fresh_digests_is_found(run: Path, case: str) -> None:
    change, reported = CHANGES[case]
    change(run)
    resealed(run)
    found = verify_run(run)
    assert any(problem.startswith(reported) for problem in found.problems), found.problems


@pytest.mark.parametrize("name", ["trace.jsonl", "metrics.json", "config.yaml"])
def test_without_fresh_digests_every_change_is_found(run: Path, name: str) -> None:
    data = bytearray((run / name).read_bytes())
    data[len(data) // 2] ^= 1
    (run / name).write_bytes(data)
    (damaged,) = check_folder(run.parent).damaged
    assert damaged.name == run.name
    assert damaged.problems[0].startswith(f"{name}: damaged: it is not what the run wrote")


def test_a_compressed_trace_is_whole(run: Path) -> None:
    trace = run / "trace.jsonl"
    (run / "trace.jsonl.gz").write_bytes(gzip.compress(trace.read_bytes()))
    trace.unlink()
    assert verify_run(run).problems == []


def test_of_other_versions_it_is_said_what_cannot_be_verified(run: Path) -> None:
    meta = json.loads((run / "meta.json").read_text())
    edit(run / "meta.json", versions={**meta["versions"], "quorum-harness": "0.9.0"}, hash="0" * 64)
    found = verify_run(run)
    assert found.problems == []
    assert len(found.unverified) == 1
    assert "it was run with 0.9.0" in found.unverified[0]


def test_a_run_whose_digests_were_taken_away_is_damaged(run: Path) -> None:
    assert "meta.json: damaged: it contains no digest of trace.jsonl" in verify_run(unsealed(run)).problems


def test_what_to_type_is_said(run: Path) -> None:
    another_steps(run)
    advice = check_folder(run).advice
    assert advice == (f"compute the metrics again: quorum results {run} --write",)
    write_metrics(recompute(run))
    assert check_folder(run.parent).damaged == ()
    (run / "trace.jsonl").write_bytes(b"")
    for folder in (run, run.parent):
        (line,) = check_folder(folder).advice
        assert line.endswith(": quorum sweep n=2")
    (run.parent / "sweep.json").unlink()
    assert "quorum view RUN" in check_folder(run).advice[0]


def test_a_plan_is_held_against_what_is_there(run: Path) -> None:
    other = next(path for path in run.parent.iterdir() if path.is_dir() and path != run)
    hashes = {path.name: json.loads((path / "meta.json").read_text())["hash"] for path in (run, other)}
    cells = [(run.name, hashes[other.name], None), (other.name, hashes[other.name], None), ("absent", "1" * 64, None)]
    write_plan(run.parent, cells)
    (run.parent / "killed.partial-1").mkdir()
    (run.parent / "killed.partial-1" / "meta.json").write_text((run / "meta.json").read_text())
    (run.parent / "linked").symlink_to(other)
    found = check_folder(run.parent)
    reported = {one.name: one.problems for one in found.damaged}
    assert reported == {
        run.name: [f"it is the run of another cell, with hash {hashes[run.name][:8]}"],
        "linked": ["it is a link, which is not followed"],
    }
    assert found.missing == ("absent",)
    assert "1 whole, 2 damaged, 1 unfinished, 1 not run yet" in "\n".join(found.lines())


def test_many_runs_are_verified_in_their_own_processes(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("quorum.runs.verify._FEW", 1)
    monkeypatch.setattr("os.sched_getaffinity", lambda _: {0, 1})
    another_steps(run)
    assert [one.name for one in check_folder(run.parent).damaged] == [run.name]


@pytest.mark.parametrize("words", [("nowhere",), ("s/sweep.json",), ("empty",)])
def test_what_is_no_run_is_one_message(run: Path, words: tuple[str, ...]) -> None:
    (run.parents[0] / "empty").mkdir()
    with pytest.raises(UserError):
        check_folder(run.parents[0] / words[0])


def test_the_command_tells_folders_from_a_configuration(run: Path, quorum: Quorum) -> None:
    whole = quorum("check", "s")
    assert (whole.returncode, whole.stdout) == (0, "s: 2 runs: 2 whole\n")
    another_steps(run)
    damaged = quorum("check", "s", f"s/{run.name}")
    assert damaged.returncode == 1
    assert damaged.stdout.count(f"damaged: {run.name}: metrics.json:") == 2
    (data,) = json.loads(quorum("check", "s", "--json").stdout)
    assert [one["name"] for one in data["runs"] if one["problems"]] == [run.name]
    run.rename(run.parent / "seed=0")
    assert "seed=0: metrics.json:" in quorum("check", "s/seed=0").stdout
    mixed = quorum("check", "s", "n=2")
    assert mixed.returncode == 2
    assert "give one of the two" in mixed.stderr
    assert "there is no such folder" in quorum("check", "nowhere").stderr
    assert "composes" in quorum("check", "n=2").stdout

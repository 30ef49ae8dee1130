"""What a cluster says of jobs: a `squeue` and a `scancel` that tell what a file says, as Slurm 22.05 does."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from quorum.cluster.slurm_jobs import GONE, LOOK_EVERY, JobState, SlurmJobs, cancel

Says = Callable[[str], None]


@pytest.fixture
def says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Says:
    """Let `squeue` print lines; none of them: let it fail as it does without a controller."""
    answer = tmp_path / "answer"
    squeue = tmp_path / "squeue"
    squeue.write_text(f"#!/bin/sh\ncat {answer} || {{ echo 'slurm_load_jobs error: no controller' >&2; exit 1; }}\n")
    scancel = tmp_path / "scancel"
    scancel.write_text(f'#!/bin/sh\necho "$@" >> {tmp_path / "cancelled"}\n')
    for script in (squeue, scancel):
        script.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin:/usr/bin")

    def say(lines: str) -> None:
        answer.unlink(missing_ok=True)
        if lines:
            answer.write_text(lines)

    return say


class _Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_states_are_those_of_squeue_and_a_forgotten_job_is_gone(says: Says) -> None:
    says("7|PENDING|Resources\n8|RUNNING|None\n9|NODE_FAIL|None\n")
    states = SlurmJobs().look(["7", "8", "9", "10"])
    assert states is not None
    assert [str(states[number]) for number in ("7", "8", "9", "10")] == [
        "PENDING (Resources)",
        "RUNNING",
        "NODE_FAIL",
        "GONE",
    ]
    assert [state.waits for state in states.values()] == [True, False, False, False]
    assert [state.over for state in states.values()] == [False, False, True, True]


def test_the_cluster_is_asked_seldom_and_its_silence_is_no_news(says: Says) -> None:
    clock = _Clock()
    jobs = SlurmJobs(clock)
    says("7|RUNNING|None\n")
    assert jobs.look(["7"]) == {"7": JobState("RUNNING")}
    assert jobs.look(["7"]) is None
    clock.now = LOOK_EVERY
    says("")
    assert jobs.look(["7"]) is None
    assert jobs.silent == "slurm_load_jobs error: no controller"
    clock.now = 2 * LOOK_EVERY
    says("7|RUNNING|None\n")
    assert jobs.look(["7"]) == {"7": JobState("RUNNING")}
    assert jobs.silent == ""


def test_a_job_that_was_seen_at_its_end_keeps_its_reason_when_it_is_forgotten(says: Says) -> None:
    clock = _Clock()
    jobs = SlurmJobs(clock)
    says("7|OUT_OF_MEMORY|OutOfMemory\n")
    jobs.look(["7", "8"])
    clock.now = LOOK_EVERY
    says("\n")
    assert jobs.look(["7", "8"]) == {"7": JobState("OUT_OF_MEMORY", "OutOfMemory"), "8": GONE}


def test_only_jobs_that_wait_are_cancelled_when_cells_shall_end(says: Says, tmp_path: Path) -> None:
    says("")
    cancel(["7", "8"], waiting_only=True)
    assert (tmp_path / "cancelled").read_text() == "--quiet --state=PENDING 7 8\n"
    cancel([])
    assert len((tmp_path / "cancelled").read_text().splitlines()) == 1


def test_those_at_work_are_named_at_once(says: Says) -> None:
    jobs = SlurmJobs(_Clock())
    says("7|PENDING|Priority\n8|RUNNING|None\n9|COMPLETING|None\n10|COMPLETED|None\n")
    assert jobs.running(["7", "8", "9", "10"]) == ["8", "9"]
    assert jobs.running([]) == []

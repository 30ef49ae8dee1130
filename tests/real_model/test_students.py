"""The shipped student that can listen, against the floor that copies the example in the prompt: the same boards."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

import quorum
from tests.conftest import EXAMPLES
from tests.real_model.serving import real_model
from tests.real_model.test_chance import by_luck

pytestmark = pytest.mark.real_model
STUDENTS = EXAMPLES / "train" / "students"
TEAM = ("env=cube", "n=2", "max_steps=40", "memory.messages=4", "topology=individual,debate,centralized,decentralized")
"""The experiment's team, on three of its boards; the episodes that succeed take fewer than 40 steps."""
BOARDS = "seed=0,1,2"


@pytest.mark.xdist_group("students")
def test_listener_delivers_more_than_an_echo_in_every_topology(tmp_path: Path) -> None:
    experiment = yaml.safe_load((STUDENTS / "configs" / "experiment" / "students.yaml").read_text("utf-8"))

    def delivered(arm: str, *words: str) -> dict[tuple[str, int], float]:
        own = [word for word in experiment["arms"][arm] if not word.startswith(("llm.base_url", "llm.max_concurrency"))]
        quorum.sweep(*TEAM, BOARDS, *own, *words, out=tmp_path, name=arm)
        rows = quorum.results(tmp_path / arm).records()
        assert len(rows) == 12
        return {
            (str(row["topology.name"]), int(row["seed"] or 0)): float(row["outcome.completion"] or 0) for row in rows
        }

    with real_model(2048, lora=STUDENTS / "listener.gguf", slots=4) as address:
        listener = delivered("listener", f"llm.base_url={address}", "llm.cache=false", "llm.max_concurrency=4")
    echo = delivered("echo")
    for topology in {name for name, _ in listener}:
        mean = [sum(value for (name, _), value in arm.items() if name == topology) for arm in (listener, echo)]
        assert mean[0] > mean[1], (topology, listener, echo)
    assert by_luck([listener[key] for key in echo], list(echo.values())) <= 0.05, (listener, echo)

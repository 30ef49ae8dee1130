"""The shipped student that can listen, against the two floors: the same boards."""

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
def test_listener_delivers_more_than_chance_in_every_topology_and_no_less_than_an_echo(tmp_path: Path) -> None:
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
    chance, echo = delivered("chance"), delivered("echo")
    for topology in {name for name, _ in listener}:
        mean = [sum(value for (name, _), value in arm.items() if name == topology) for arm in (listener, chance)]
        assert mean[0] > mean[1], (topology, listener, chance)
    found = [listener[key] for key in echo]
    assert by_luck(found, [chance[key] for key in echo]) <= 0.05, (listener, chance)
    assert by_luck(list(echo.values()), found) > 0.05, (listener, echo)

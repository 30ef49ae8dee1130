"""Debaters are asked at the same time, and none of them is left behind when one cannot answer."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest

from maeil.errors import EpisodeStop
from quorum.agents.coordination.asking import AskResult
from quorum.agents.coordination.joint import Proposal
from quorum.agents.llm.errors import BudgetReached, InfrastructureFailed
from quorum.methods.baselines.asking import Panel

VIEW: Any = SimpleNamespace(names=("agent_0",))


class Asker:
    """The first debater fails; the others wait for `seconds`."""

    retries = 0

    def __init__(self, failure: EpisodeStop, seconds: float) -> None:
        self.failure, self.seconds = failure, seconds
        self.ended: list[str] = []

    async def propose(
        self, _role: object, _view: object, _asked: object, blocks: dict[str, Any]
    ) -> AskResult[Proposal]:
        if blocks["debater"] == "debater_0":
            raise self.failure
        try:
            await asyncio.sleep(self.seconds)
        except asyncio.CancelledError:
            self.ended.append("cancelled")
            raise
        self.ended.append("answered")
        return AskResult(Proposal({}), (), ())


@pytest.mark.parametrize(
    ("failure", "seconds", "ended"),
    [(InfrastructureFailed("gone"), 60.0, "cancelled"), (BudgetReached("calls", 1, 1), 0.01, "answered")],
)
async def test_no_debater_is_left_behind(failure: EpisodeStop, seconds: float, ended: str) -> None:
    asker: Any = Asker(failure, seconds)
    with pytest.raises(type(failure)):
        await Panel([asker] * 3, 1, merge=lambda plans, _: plans[0]).plan(VIEW, [0], {})
    assert asker.ended == [ended, ended]
    assert asyncio.all_tasks() == {asyncio.current_task()}

"""Every role in which a mind asks a model has rules in the simulated model."""

from __future__ import annotations

import pytest

from quorum.agents.llamac.settings import LlamacRole
from quorum.agents.simulated.model import players
from quorum.methods.baselines.asking import BaselineRole
from quorum.methods.drwell.mind import DrwellRole
from quorum.methods.tom.answers import TomRole


@pytest.mark.parametrize("role", [*LlamacRole, *BaselineRole, *DrwellRole, *TomRole])
def test_the_simulated_model_answers_in_every_role(role: str) -> None:
    assert callable(players.get(role))


def test_an_agent_that_is_asked_as_such_has_no_role_of_these() -> None:
    assert {"", "leader", "follower", "member", "root"}.isdisjoint(players.names())

"""The gates of level-based foraging, a rule at a time, and the team whose plans keep them all."""

from __future__ import annotations

import pytest

from lbf_env import Load, Wait
from maeil.plans import Plan
from quorum.agents.coordination.joint import Joint, look
from quorum.other_worlds.foraging.gates import ForagingGates
from quorum.other_worlds.foraging.teams import groups
from tests.lbf_env.test_foraging_world import placed

GATES = ForagingGates()


def load(row: int = 3, col: int = 3, patience: int = 20) -> Plan:
    return Plan((Load(row=row, col=col, patience=patience),))


@pytest.mark.parametrize(
    ("level", "agents", "codes"),
    [
        (3, [0], ["V-QUORUM"]),
        (3, [0, 1], []),
        (1, [0, 1, 2, 3, 4], ["V-ROOM"]),
    ],
)
def test_scrutiny_counts_levels_and_room(level: int, agents: list[int], codes: list[str]) -> None:
    where = placed({(3, 3): level}, (0, 0, 2), (0, 1, 1), (0, 2, 1), (0, 3, 1), (0, 4, 1))
    found = GATES.scrutinize(look(where, 0), Joint({agent: load() for agent in agents}))
    assert [rejection.code for rejection in found] == codes
    assert all(rejection.agents == tuple(agents) for rejection in found)
    assert GATES.scrutinize(look(where, 0), Joint({4: Plan((Wait(),))}, {agent: load() for agent in agents})) == []


def test_confirmation_knows_what_the_agent_sees_and_when_its_partners_come() -> None:
    where = placed({(3, 3): 3}, (2, 3, 2), (7, 7, 1))
    seen = where.observe(0)

    def code(plan: Plan) -> str | None:
        found = GATES.confirm(0, seen, Joint({0: plan, 1: load()}))
        return found.code if found is not None else None

    assert [code(load(patience=6)), code(load(patience=7))] == ["C-WAIT", None]
    assert [code(load(5, 5)), code(Plan((Wait(),)))] == ["C-AVAIL", None]


def test_a_group_has_the_nearest_who_suffice_and_nobody_more() -> None:
    where = placed({(3, 3): 2, (6, 6): 3}, (2, 3, 1), (3, 1, 2), (6, 4, 2), (7, 7, 1), (0, 0, 1))
    field = where.global_observation()
    assert groups(field, range(5), field.food_levels) == {1: (3, 3), 2: (6, 6), 3: (6, 6)}
    assert groups(field, [0, 4], {(6, 6): 3}) == {}

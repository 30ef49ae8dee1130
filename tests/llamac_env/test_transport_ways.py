"""The way of a move of grid transportation is that of its box."""

from __future__ import annotations

import pytest

from tests.llamac_env.test_transport_world import go, world


@pytest.mark.parametrize(
    ("difficulty", "box", "to", "end"),
    [
        ("easy", "0.5_0.5", "square[0.5, 1.5]", (1.5, 0.5)),
        ("hard", "0.0_1.0", "position[1.0, 0.0]", (0, 1)),
        ("hard", "1.0_1.0", "target_red", (0.5, 0.5)),
    ],
)
def test_a_move_leads_from_where_its_box_is_to_where_it_is_brought(
    difficulty: str, box: str, to: str, end: tuple[float, float]
) -> None:
    transport = world({"box_red": box, "target_red": "0.5_0.5"}, difficulty=difficulty)
    way = transport.way(transport.start_action(0, go("red", to)))
    assert way is not None
    row, col = map(float, box.split("_"))
    assert way.points == ((col, row), end)
    assert way.target is not None
    x, y, width, height = way.target
    assert (x + width / 2, y + height / 2) == end


def test_who_waits_leads_nowhere() -> None:
    transport = world({"box_red": "0.5_0.5", "target_red": "0.5_1.5"})
    assert transport.way(transport.start_action(0, transport.idle)) is None

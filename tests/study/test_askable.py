"""Whether a question can be asked of a team: some arm must differ from chance, and from copies of the example."""

from __future__ import annotations

import pytest

from maeil.metrics import METRICS
from quorum.comparison.differences import Cells
from quorum.study.askable import floors_not_exceeded

STEPS = METRICS["outcome.steps"]
BOARDS = 12


def cells(value: float, boards: int = BOARDS) -> Cells:
    """Return values that vary over boards, by board."""
    return {(board,): [value + board % 3] for board in range(boards)}


def scattered(value: float) -> Cells:
    """Return values that differ from `cells(value)` by chance, in both directions."""
    return {(board,): [value + board % 3 + (-1) ** board] for board in range(BOARDS)}


@pytest.mark.parametrize(
    ("arms", "found"),
    [
        ({"treatment": cells(20), "chance": cells(50), "echo": cells(40)}, []),
        ({"treatment": cells(60), "chance": cells(50), "echo": cells(40)}, []),  # worse than both differs as well
        ({"treatment": cells(50), "chance": cells(50), "echo": cells(50)}, ["chance", "echo"]),
        ({"treatment": scattered(40), "chance": cells(50), "echo": cells(40)}, ["echo"]),
        ({"treatment": cells(50), "silent": cells(30), "chance": cells(50), "echo": cells(40)}, []),  # an arm is enough
        ({"treatment": cells(50), "silent": cells(40), "chance": cells(50), "echo": cells(40)}, ["chance", "echo"]),
        ({"treatment": cells(50), "idle": cells(99), "reference": cells(9), "chance": cells(50)}, ["chance"]),
        ({"treatment": cells(50), "silent": cells(50)}, []),  # no floor was played
        ({"treatment": cells(50, 5), "chance": cells(50, 5)}, []),  # five boards cannot tell
    ],
)  # fmt: skip
def test_a_question_needs_an_arm_that_differs_from_every_floor(arms: dict[str, Cells], found: list[str]) -> None:
    assert floors_not_exceeded(arms, STEPS) == found

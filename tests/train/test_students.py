"""The examples of the two students of `examples/train`."""

import random
from typing import Any

import pytest
import students
from hypothesis import given
from hypothesis import strategies as st


def example(board: int, turn: str = "plan", heard: int = 1, **more: Any) -> dict[str, Any]:
    lines = [
        f"step 3 of board {board}",
        *(f'new @0 agent_1 propose "of {board}, {k}"' for k in range(heard)),
        "agent_0",
    ]
    prompt = [{"role": "system", "content": "cube"}, {"role": "user", "content": "\n".join(lines)}]
    place = {"world": "cube", "n": 2, "topology": "debate", "role": "", "agent": "agent_0"}
    completion = [{"role": "assistant", "content": f"answer of {board}"}]
    return {"prompt": prompt, "completion": completion, "board": board, "turn": turn, **place, **more}


def heard_in(one: dict[str, Any]) -> list[str]:
    return students.split(one["prompt"][-1]["content"])[1]


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 3)), min_size=1), st.integers(0, 9))
def test_deaf_reads_messages_of_other_boards_and_all_else_stays(places: list[tuple[int, int]], seed: int) -> None:
    listener = [example(board, heard=heard) for board, heard in [*places, (5, 1), (6, 1)]]
    deaf = students.permuted(listener, random.Random(seed))
    for one, other in zip(listener, deaf, strict=True):
        assert one | {"prompt": None} == other | {"prompt": None}
        before, heard, after = students.split(one["prompt"][-1]["content"])
        assert students.split(other["prompt"][-1]["content"])[::2] == (before, after)
        assert bool(heard_in(other)) == bool(heard)
        assert all(f"of {one['board']}," not in line for line in heard_in(other))


def test_messages_come_from_the_same_kind_of_turn_if_another_board_has_one() -> None:
    kinds = [example(board, turn, heard=2) for board in (1, 2) for turn in ("plan", "talk")]
    alike = [
        one | {"prompt": [*one["prompt"][:1], {"role": "user", "content": f'@0 "{one["turn"]}"\n@1 ""'}]}
        for one in kinds
    ]
    for one in students.permuted(alike, random.Random(0)):
        assert heard_in(one)[0] == f'@0 "{one["turn"]}"'


def test_a_lone_board_has_no_other_messages() -> None:
    with pytest.raises(SystemExit, match="board 1"):
        students.permuted([example(1)], random.Random(0))


def test_a_sample_is_even_and_turns_that_plan_count_twice() -> None:
    many = [example(board, turn) for board in range(50) for turn in ("talk", "plan", "plan,talk")]
    many += [example(board, "talk", world="foraging") for board in range(50)]
    chosen = students.sample(many, 60, random.Random(1))
    counts = dict.fromkeys([("cube", "talk"), ("cube", "plan"), ("cube", "plan,talk"), ("foraging", "talk")], 0)
    for one in chosen:
        counts[one["world"], one["turn"]] += 1
    assert counts == {("cube", "talk"): 10, ("cube", "plan"): 20, ("cube", "plan,talk"): 20, ("foraging", "talk"): 10}
    assert len(students.sample(many, 1000, random.Random(1))) == len(many)

"""Each board of the library fails in the way that it is named after, and has a way out or provably none."""

import os
import re

import numpy as np
import pytest

from cube_env import (
    CubeEnv,
    CubeState,
    Face,
    Layout,
    LayoutError,
    MoveFailure,
    PushOutcome,
    board_names,
    layout_from,
    load_board,
)
from tests.cube_env.boards import LETTERS, drawing


def start(name):
    env = CubeEnv(layout=load_board(name))
    env.reset(seed=0)
    return env


def step(env, letters):
    return env.step_array([LETTERS[letter] for letter in letters])


def test_the_library_lists_its_boards():
    assert board_names() == ("congestion", "misaligned_line", "occluded_face", "staging_race", "wall_trapped")
    for name in board_names():
        assert Layout.parse(str(load_board(name))) == load_board(name)


def test_an_occluded_face_asks_for_the_force_of_both_blocks():
    env = start("occluded_face")
    faces = env.symbolic_observation(0).blocks[0].faces
    assert faces[Face.left].free == faces[Face.left].taken == (), "B stands on all of the face"
    (push,) = step(env, "RR..").pushes
    assert (push.block, push.force, push.required, push.outcome) == (1, 2, 4, PushOutcome.force)


def test_an_occluded_face_is_free_when_the_block_in_front_of_it_is_moved_away():
    env = start("occluded_face")
    for _ in range(2):
        (push,) = step(env, "..DD").pushes
        assert (push.block, push.outcome) == (1, PushOutcome.moved)
    assert env.symbolic_observation(0).blocks[0].faces[Face.left].free == ((4, 3),)
    step(env, "..U.")
    step(env, "..R.")
    (push,) = step(env, "..RR").pushes
    assert (push.block, push.required, push.outcome) == (0, 2, PushOutcome.moved)


def test_no_sequence_of_actions_brings_a_wall_trapped_block_off_its_wall():
    first = CubeState.from_layout(load_board("wall_trapped"))
    todo, seen = [first], set()
    while todo:
        state = todo.pop()
        for action in range(5):
            after = state.copy()
            after.advance(np.array([action]))
            key = after.grid.tobytes()
            if key not in seen:
                seen.add(key)
                todo.append(after)
                assert after.live == 1
                assert after.blocks[0, 1] == 0
    assert len(seen) > 100, "the search went through the whole board"


def test_one_agent_loses_the_race_for_a_staging_cell():
    env = start("staging_race")
    staging = (3, 2)
    report = step(env, "DU")
    (lost,) = report.failed_moves
    assert (lost.agent, lost.reason) == (1, MoveFailure.race)
    assert env.snapshot().agents == (staging, (4, 2))


def test_a_misaligned_line_lacks_the_force_that_its_agents_have():
    env = start("misaligned_line")
    (push,) = step(env, "RRR").pushes
    assert (push.agents, push.force, push.required, push.outcome) == ((0,), 1, 3, PushOutcome.force)
    (push,) = step(env, "RRR").pushes
    assert (push.agents, push.outcome) == ((0, 1), PushOutcome.force), "agent 1 has closed the gap"
    assert env.snapshot().agents[2] == (5, 5), "agent 2 has walked past below the block"


def test_a_line_that_is_aligned_moves_the_block():
    env = start("misaligned_line")
    step(env, ".RU")
    (push,) = step(env, "RRR").pushes
    assert (push.force, push.required, push.outcome) == (3, 3, PushOutcome.moved)


def test_nobody_gets_through_a_congested_corridor_until_one_goes_back():
    env = start("congestion")
    while env.snapshot().agents[1][1] - env.snapshot().agents[0][1] > 1:
        step(env, "R." if env.snapshot().agents[0][1] < 3 else ".L")
    before = drawing(env)
    for _ in range(20):
        report = step(env, "RL")
        assert {move.reason for move in report.failed_moves} == {MoveFailure.agent}
    assert drawing(env) == before
    step(env, "UU")
    step(env, "DD")
    assert drawing(env) == before, "one agent alone pushes neither wall of the corridor away"
    for letters in (".R", ".R", ".R", ".U"):
        step(env, letters)
    for _ in range(5):
        step(env, "R.")
    assert env.snapshot().agents[0] == (5, 8)


def test_a_layout_comes_from_its_drawing_its_name_or_its_file(tmp_path):
    board = load_board("staging_race")
    file = tmp_path / "mine.txt"
    file.write_text(f"\n# One line about it.\n#\n{board}\n")
    for source in (str(board), "staging_race", str(file)):
        assert layout_from(source) == board


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("# a comment\n0.|\n.?|\n..|", "mine.txt: line 3, column 2: '?' is not one of"),
        ("\n\n  0.|\n  ..|\n  ..\n", "mine.txt: line 5 has 2 characters"),
        ("# x\n  0A.|\n  .A.|\n  ...|\n  ...|", "mine.txt: line 2, column 4: block 0 (A) covers 2 cells"),
        ("....|\n.AA.|\n0AAB|\n..BB|\n....|", "block 1 (B)"),
        ("0.|\n..|\n# below\n", "line 3 has 7 characters"),
        ("##.|\n##.|\n0..|\n...|", "line 1, column 1: '#' is not one of"),
        ("# nothing else\n", "an empty text is not a board"),
    ],
)
def test_a_wrong_file_is_reported_with_its_place(tmp_path, text, message):
    file = tmp_path / "mine.txt"
    file.write_text(text)
    with pytest.raises(LayoutError, match=re.escape(message)):
        layout_from(str(file))


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (
            "ocluded_face",
            "no file and no board 'ocluded_face': did you mean 'occluded_face'? The boards are congestion,",
        ),
        ("nothing_like_it", "no board 'nothing_like_it'. The boards are"),
        ("nowhere/board.txt", "nowhere/board.txt cannot be read: No such file"),
        ("occluded_face.text", "cannot be read: No such file or directory: did you mean 'occluded_face'?"),
    ],
)
def test_an_unknown_board_is_answered_with_the_nearest(source, message):
    with pytest.raises(LayoutError, match=re.escape(message)):
        layout_from(source)


def test_a_file_that_is_no_text_cannot_be_read(tmp_path):
    file = tmp_path / "board.txt"
    file.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(LayoutError, match="cannot be read"):
        layout_from(str(file))


def test_of_an_endless_file_no_more_is_read_than_a_board_can_have(tmp_path):
    file = tmp_path / "board.txt"
    file.touch()
    os.truncate(file, 1 << 40)
    with pytest.raises(LayoutError, match="line 1 has 10000000 characters"):
        layout_from(str(file))


def test_load_board_refuses_what_the_library_does_not_have():
    with pytest.raises(LayoutError, match="did you mean 'congestion'"):
        load_board("congestoin")

"""The paper's text format: written, read back, and refused with a code."""

from __future__ import annotations

import json

import pytest

from llamac_env import (
    Colour,
    FailureCode,
    LayoutError,
    observation_line,
    read_board,
    read_joint,
    write_board,
    write_joint,
)
from tests.llamac_env.boards import SHAPES, board, drawn, grid, moves

EASY = board(
    grid(2, 2, "easy"), box_red="0.5_0.5", target_red="0.5_1.5", box_green="1.5_0.5", target_green="1.5_0.5"
)  # fmt: skip
HARD = board(
    grid(2, 2, "hard"), box_orange="1.0_0.0", target_orange="0.5_1.5", box_green="0.0_0.0", target_green="0.5_0.5"
)  # fmt: skip


def codes(state, text):
    return [(refusal.code, refusal.agent) for refusal in read_joint(state, text).refusals]


def test_a_board_lists_every_cell_and_on_hard_ones_every_corner():
    assert write_board(EASY) == {
        "0.5_0.5": ["box_red"], "0.5_1.5": ["target_red"], "1.5_0.5": ["box_green", "target_green"], "1.5_1.5": [],
    }  # fmt: skip
    written = write_board(HARD)
    assert len(written) == 4 + 9
    assert (written["1.0_0.0"], written["0.5_1.5"]) == (["box_orange"], ["target_orange"])


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("difficulty", ["easy", "hard"])
def test_boards_and_joint_actions_read_back_as_they_were(shape, difficulty):
    for seed in range(10):
        state = drawn(*shape, difficulty, seed)
        assert read_board(state.grid, json.loads(json.dumps(write_board(state)))) == state
        joint = {agent: found[-1] for agent in range(state.grid.agents) if (found := state.available(agent))}
        reading = read_joint(state, json.dumps(write_joint(state.grid, joint)))
        assert (reading.moves, reading.refusals) == (joint, ())


def test_the_format_is_that_of_the_paper():
    joint = moves(HARD.grid, a0="move(box_green, target_green)", a2="move(box_orange, position[1.0, 1.0])")
    assert write_joint(HARD.grid, joint) == {
        "Agent[0.5, 0.5]": "move(box_green, target_green)",
        "Agent[1.5, 0.5]": "move(box_orange, position[1.0, 1.0])",
    }
    assert list(write_joint(EASY.grid, moves(EASY.grid, a0="move(box_red, square[0.5, 1.5])")).values()) == [
        "move(box_red, square[0.5, 1.5])"
    ]


def test_an_observation_is_the_line_of_the_figure_with_the_cells_contents_and_round_corners():
    assert observation_line(HARD, 3) == "Agent[1.5, 1.5]: I am in square[1.5, 1.5], I can observe [], I can do []"
    assert observation_line(HARD, 0) == (
        "Agent[0.5, 0.5]: I am in square[0.5, 0.5], I can observe ['target_green'], I can do "
        "['move(box_green, position(0.0, 1.0))', 'move(box_green, position(1.0, 0.0))', "
        "'move(box_green, position(1.0, 1.0))', 'move(box_green, target_green)', "
        "'move(box_orange, position(0.0, 0.0))', 'move(box_orange, position(0.0, 1.0))', "
        "'move(box_orange, position(1.0, 1.0))']"
    )
    assert observation_line(EASY, 2) == (
        "Agent[1.5, 0.5]: I am in square[1.5, 0.5], I can observe ['box_green', 'target_green'], I can do "
        "['move(box_green, square[0.5, 0.5])', 'move(box_green, square[1.5, 1.5])', 'move(box_green, target_green)']"
    )


@pytest.mark.parametrize(
    "text",
    [
        '{"Agent[1.5, 0.5]": "move(box_orange, position[1.0, 1.0])"}',
        '{"Agent[1.5, 0.5]": "move(box_orange, position(1.0, 1.0))"}',
        '{"Agent(1.5,0.5)": "move(box_orange,position( 1 , 1 ))"}',
        '{"agent[1.5, 0.5]": " Move(box_Orange, Position[1.0, 1.0]) "}',
        '```json\n{"Agent[1.5, 0.5]": "move(box_orange, position[1.0, 1.0])"}\n```',
        'I think:\n```\n{"Agent[1.5, 0.5]": "move(box_orange, position[1.0, 1.0])"}\n```\nThat helps.',
        'So: {"Agent[1.5, 0.5]": "move(box_orange, position[1.0, 1.0])"} is best.',
    ],
)
def test_both_bracket_styles_fences_and_words_around_are_read(text):
    reading = read_joint(HARD, text)
    assert reading.refusals == ()
    assert {agent: tuple(move) for agent, move in reading.moves.items()} == {2: (Colour.orange, (2, 2))}


@pytest.mark.parametrize(
    ("text", "code", "agent"),
    [
        ("nothing", FailureCode.not_json, None),
        ('{"Agent[0.5, 0.5]": ', FailureCode.not_json, None),
        ("```json\n```", FailureCode.not_json, None),
        ("[" * 100_000, FailureCode.not_json, None),
        ("[1]", FailureCode.not_an_object, None),
        ('{"Agent[9.5, 0.5]": "move(box_green, target_green)"}', FailureCode.unknown_agent, None),
        ('{"Agent[1.0, 1.0]": "move(box_green, target_green)"}', FailureCode.unknown_agent, None),
        ('{"agent_0": "move(box_green, target_green)"}', FailureCode.unknown_agent, None),
        ('{"Agent[0.5, 0.5]": 3}', FailureCode.not_an_action, 0),
        ('{"Agent[0.5, 0.5]": "wait"}', FailureCode.not_an_action, 0),
        ('{"Agent[0.5, 0.5]": "move(box_green)"}', FailureCode.not_an_action, 0),
        ('{"Agent[0.5, 0.5]": "move(box_pink, target_pink)"}', FailureCode.unknown_colour, 0),
        ('{"Agent[0.5, 0.5]": "move(box_green, target_pink)"}', FailureCode.unknown_colour, 0),
        ('{"Agent[0.5, 0.5]": "move(box_green, target_orange)"}', FailureCode.other_colour, 0),
        ('{"Agent[0.5, 0.5]": "move(box_green, position[9.0, 1.0])"}', FailureCode.no_such_place, 0),
        ('{"Agent[0.5, 0.5]": "move(box_green, position[0.3, 1.0])"}', FailureCode.no_such_place, 0),
        ('{"Agent[0.5, 0.5]": "move(box_green, the corner)"}', FailureCode.no_such_place, 0),
        ('{"Agent[0.5, 0.5]": "move(box_green, square[0.5, 1.5])"}', FailureCode.no_such_place, 0),
        ('{"Agent[0.5, 0.5]": "move(box_red, target_red)"}', FailureCode.no_such_box, 0),
        ('{"Agent[1.5, 1.5]": "move(box_green, target_green)"}', FailureCode.box_not_here, 3),
        ('{"Agent[1.5, 0.5]": "move(box_orange, position[0.0, 0.0])"}', FailureCode.out_of_reach, 2),
        ('{"Agent[1.5, 0.5]": "move(box_orange, position[1.0, 0.0])"}', FailureCode.already_there, 2),
        ('{"Agent[1.5, 0.5]": "move(box_orange, target_orange)"}', FailureCode.no_target, 2),
    ],
)
def test_what_cannot_be_read_or_done_is_refused_with_a_code(text, code, agent):
    assert codes(HARD, text) == [(code, agent)]
    assert read_joint(HARD, text).moves == {}


def test_an_agent_named_twice_has_no_action_and_the_others_keep_theirs():
    twice = (
        '{"Agent[0.5, 0.5]": "move(box_green, target_green)", "Agent(0.5, 0.5)": "move(box_green, position[0.0, 1.0])",'
        ' "Agent[1.5, 0.5]": "move(box_orange, position[1.0, 1.0])"}'
    )
    assert codes(HARD, twice) == [(FailureCode.duplicate_agent, 0)]
    assert list(read_joint(HARD, twice).moves) == [2]
    same = '{"Agent[0.5, 0.5]": "move(box_green, target_green)", "Agent[0.5, 0.5]": "move(box_green, target_green)"}'
    assert codes(HARD, same) == [(FailureCode.duplicate_agent, 0)]


def test_refusals_do_not_take_the_good_part_along():
    text = '{"Agent[7.5, 7.5]": "move(box_red, target_red)", "Agent[0.5, 0.5]": "move(box_red, square(0.5, 1.5))"}'
    assert codes(EASY, text) == [(FailureCode.unknown_agent, None)]
    assert list(read_joint(EASY, text).moves) == [0]


@pytest.mark.parametrize("items", [{"0.5": ["box_red"]}, {"0.5_0.5": ["ball_red"]}, {"0.5_0.5": ["box_pink"]}])
def test_a_text_that_is_no_board_is_refused(items):
    with pytest.raises(LayoutError):
        read_board(EASY.grid, items)

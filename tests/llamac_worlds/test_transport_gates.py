"""The gates of grid transportation: each rule on a board that breaks it, and on one that does not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from llamac_env import Board, BoxName, Move, NoPlan, Wait, greedy_plan
from llamac_env.transport.observation import Frame
from maeil import Plan, SymbolicAction
from maeil.tasks import Constraint
from quorum.agents.coordination.joint import Fault, Joint, Sight
from quorum.llamac_worlds.transport.moves import TransportBriefing, TransportGates, one_step, plan_of
from tests.llamac_env.boards import SHAPES, board, drawn, grid

GATES = TransportGates()
LIMIT = 40

ALIKE = board(grid(2, 2, "easy"), box_red="0.5_0.5 0.5_0.5 0.5_1.5", target_red="0.5_1.5 1.5_0.5 1.5_0.5")
"""Red boxes: two in the cell of agent 0, one in that of agent 1."""
SHARED = board(grid(2, 2, "hard"), box_red="1.0_1.0", target_red="0.5_0.5")
"""One red box, on the corner that all four agents share."""
PAIR = {"box_red": "0.0_0.0", "box_blue": "0.0_2.0", "target_red": "1.5_1.5", "target_blue": "1.5_0.5"}
APART = board(grid(2, 2, "hard"), **PAIR)
"""Red on the top left corner of agent 0, blue on the top right corner of agent 1."""
QUEUE = {"box_red": "0.0_0.0", "box_blue": "0.0_1.0", "target_red": "1.5_1.5", "target_blue": "0.5_1.5"}
TIGHT = board(grid(2, 2, "hard"), **QUEUE)
"""Red on the top left corner, and blue on the corner to its right."""
STRICT = board(grid(2, 2, "hard", "start_empty"), **QUEUE)


def go(colour: str, to: str) -> Move:
    return Move(box=BoxName(f"box_{colour}"), to=to)


def sight(where: Board, step: int = 0) -> Sight:
    frame = Frame(where, step, LIMIT, len(where.boxes), "local")
    return Sight(step, frame.observe(None), tuple(frame.observe(agent) for agent in range(where.grid.agents)))


def plans(actions: Mapping[int, tuple[SymbolicAction, ...]]) -> dict[int, Plan]:
    return {agent: Plan(own) for agent, own in actions.items()}


def scrutinize(where: Board, suggested, running=(), step=0):
    found = GATES.scrutinize(sight(where, step), Joint(plans(suggested), plans(dict(running))))
    return [(rejection.code, rejection.agents) for rejection in found]


def confirm(where: Board, agent: int, *actions: SymbolicAction):
    return GATES.confirm(agent, sight(where).global_observation, Joint(plans({agent: actions})))


CENTRE = "position[1.0, 1.0]"
TOP = "position[0.0, 1.0]"
TO_TOP = {0: (go("red", TOP),), 1: (go("blue", TOP),)}
TAKE_PLACE = {0: (go("red", TOP),), 1: (go("blue", "position[0.0, 2.0]"),)}

TRIPS = [
    ("V-BOX", (0, 1), SHARED, {0: (go("red", "target_red"),), 1: (go("red", TOP),)}),
    ("V-BOX", (0, 1, 3), SHARED, {0: (go("red", TOP),), 1: (go("red", TOP),), 3: (go("red", "position[2.0, 2.0]"),)}),
    ("V-BOX", (0, 1), SHARED, {a: (Wait(steps=3), go("red", TOP)) for a in (0, 1)}),
    ("V-CORNER", (0, 1), APART, TO_TOP),
    ("V-CORNER", (0,), TIGHT, {0: (go("red", TOP),)}),
    ("V-CORNER", (0, 1), APART, {a: (Wait(), *moves) for a, moves in TO_TOP.items()}),
]  # fmt: skip
PASSES = [
    ("V-BOX", SHARED, {0: (go("red", "target_red"),), 1: (Wait(),)}),
    ("V-BOX", ALIKE, {0: (go("red", "square[1.5, 0.5]"),), 1: (go("red", "target_red"),)}),
    ("V-BOX", SHARED, {1: (go("red", TOP),), 0: (Wait(), go("red", "target_red"))}),
    ("V-CORNER", APART, {0: (go("red", TOP),), 1: (go("blue", CENTRE),)}),
    ("V-CORNER", TIGHT, TAKE_PLACE),
    ("V-CORNER", TIGHT, {0: (go("red", TOP),), 1: (go("blue", "target_blue"),)}),
    ("V-CORNER", ALIKE, {0: (go("red", "square[0.5, 1.5]"), go("red", "square[0.5, 1.5]"))}),
    ("V-CORNER", STRICT, {0: (Wait(steps=2), go("red", TOP)), 1: (go("blue", "target_blue"),)}),
    ("V-CORNER", STRICT, {0: (Wait(), go("red", TOP))}),
    ("V-BOX", APART, {0: (go("red", TOP),), 2: (Wait(), go("red", "position[2.0, 1.0]"))}),
    ("V-BOX", ALIKE, {1: (go("red", "target_red"), go("red", "target_red"), Wait(steps=1000))}),
]


@pytest.mark.parametrize(("code", "agents", "where", "suggested"), TRIPS)
def test_scrutiny_finds_what_a_rule_forbids(code, agents, where, suggested):
    assert scrutinize(where, suggested) == [(code, agents)]


@pytest.mark.parametrize(("code", "where", "suggested"), PASSES)
def test_scrutiny_lets_pass_what_it_does_not(code, where, suggested):
    assert scrutinize(where, suggested) == [], code


def test_every_code_has_a_board_that_trips_it_and_one_that_does_not_and_a_constraint():
    scrutiny = {code for code in GATES.rules if code.startswith("V-")}
    assert {case[0] for case in TRIPS} == {case[0] for case in PASSES} == scrutiny
    assert {"C-AVAIL", "C-PROG"} == GATES.rules.keys() - scrutiny
    assert all(code.constraint in Constraint for code in GATES.rules.values())
    assert not any(code.fault is Fault.GRAMMAR for code in GATES.rules.values()), "grammar is common to all worlds"


def test_with_start_empty_two_boxes_still_cannot_come_to_one_corner():
    strict = board(grid(2, 2, "hard", "start_empty"), **PAIR)
    assert scrutinize(strict, TO_TOP) == [("V-CORNER", (0, 1))]


def test_plans_under_way_count_also_where_nobody_is_suggested_to_take_part():
    red, blue = {0: (go("red", TOP),)}, {1: (go("blue", TOP),)}
    assert scrutinize(APART, red, blue) == [("V-CORNER", (0, 1))]
    assert scrutinize(APART, {}, {**red, **blue}) == [("V-CORNER", (0, 1))]
    assert scrutinize(TIGHT, {3: (Wait(),)}, {0: (go("red", TOP),)}) == [("V-CORNER", (0,))]
    assert scrutinize(SHARED, {0: (go("red", "target_red"),)}, {3: (go("red", CENTRE), Wait())}) == []


def test_after_a_wait_under_way_of_several_steps_only_the_first_step_is_judged():
    later = {0: (Wait(), go("red", TOP))}
    assert scrutinize(APART, later, {1: (Wait(), go("blue", TOP))}) == [("V-CORNER", (0, 1))]
    assert scrutinize(APART, later, {1: (Wait(steps=2), go("blue", CENTRE))}) == []
    both = {agent: (Wait(), go("red", TOP)) for agent in (0, 1)}
    assert scrutinize(SHARED, both, {3: (Wait(),)}) == [("V-BOX", (0, 1))]
    assert scrutinize(SHARED, both, {3: (Wait(steps=2),)}) == []
    first = {agent: (go("red", to),) for agent, to in ((0, "target_red"), (1, TOP))}
    assert scrutinize(SHARED, first, {3: (Wait(steps=2),)}) == [("V-BOX", (0, 1))]


def test_what_comes_after_the_last_step_of_the_episode_is_not_judged():
    late = {a: (Wait(steps=2), *moves) for a, moves in TO_TOP.items()}
    assert scrutinize(APART, late, step=LIMIT - 3) == [("V-CORNER", (0, 1))]
    assert scrutinize(APART, late, step=LIMIT - 2) == []


def test_a_rejection_says_what_when_and_where():
    (found,) = GATES.scrutinize(sight(APART), Joint(plans(TO_TOP)))
    assert (
        found.text
        == "in the first step box_blue and box_red come to be on position[0.0, 1.0], moved by agent_0, agent_1"
    )
    (found,) = GATES.scrutinize(sight(SHARED), Joint(plans(TRIPS[2][3])))
    assert found.text == "in step 4 of the plan agent_0, agent_1 all act on box_red; one of them can"


@pytest.mark.parametrize(
    ("where", "agent", "action", "reason"),
    [
        (SHARED, 3, go("blue", "target_blue"), "no_such_box"),
        (APART, 3, go("red", CENTRE), "box_not_here"),
        (SHARED, 1, go("red", "target_red"), "no_target"),
        (SHARED, 0, go("red", "position[2.0, 2.0]"), "out_of_reach"),
        (STRICT, 0, go("red", TOP), "corner_taken"),
        (SHARED, 0, go("red", "target_pink"), "unknown_colour"),
        (SHARED, 0, go("red", "square[0.5, 1.5]"), "no_such_place"),
    ],
)
def test_a_move_that_cannot_be_made_is_unavailable(where, agent, action, reason):
    found = confirm(where, agent, action)
    assert (found.code, GATES.rules[found.code].fault) == ("C-AVAIL", Fault.UNAVAILABLE)
    assert reason in found.text
    assert confirm(where, agent, Wait(), action) is None, "what the agent does now is nothing"


@pytest.mark.parametrize(
    ("where", "agent", "to", "text"),
    [
        (ALIKE, 1, "square[1.5, 1.5]", "is 0 cells from its nearest target, and would be 1"),
        (SHARED, 1, "position[0.0, 1.0]", "is 1 cells from its nearest target, and would be 1"),
        (SHARED, 3, "position[2.0, 2.0]", "is 1 cells from its nearest target, and would be 3"),
    ],
)
def test_a_move_that_brings_nothing_nearer_is_fruitless(where, agent, to, text):
    found = confirm(where, agent, go("red", to))
    assert (found.code, GATES.rules[found.code].fault) == ("C-PROG", Fault.FRUITLESS)
    assert text in found.text


@pytest.mark.parametrize(
    ("where", "agent", "to"),
    [
        (ALIKE, 1, "target_red"),
        (ALIKE, 0, "square[1.5, 0.5]"),
        (ALIKE, 0, "square(0.5, 1.5)"),
        (SHARED, 0, "target_red"),
        (APART, 0, CENTRE),
        (APART, 0, TOP),
    ],
)
def test_placing_and_coming_nearer_are_confirmed(where, agent, to):
    assert confirm(where, agent, go("red", to)) is None


def test_the_critics_see_the_board_and_what_each_agent_can_do():
    state = TransportBriefing().state(sight(SHARED, step=4)).shown()
    assert state["board"]["1.0_1.0"] == ("box_red",)
    assert (state["grid"], state["step"], state["max_steps"]) == ([2, 2], 4, LIMIT)
    assert list(state["can_do"]) == [f"agent_{agent}" for agent in range(4)]
    assert state["can_do"]["agent_0"]["box_red"][-1] == "target_red"
    large = board(grid(8, 8, "easy"), box_red="0.5_0.5", target_red="0.5_1.5")
    reported = TransportBriefing().state(sight(large)).shown()
    assert (list(reported["can_do"]), len(reported["board"])) == (["agent_0"], 2), "nothing that is empty or idle"
    assert TransportBriefing().digest(sight(ALIKE)) == {"boxes": 3, "distance": 2.0}


DRAWINGS = st.tuples(
    st.sampled_from(SHAPES),
    st.sampled_from([("easy", "final_state"), ("hard", "final_state"), ("hard", "start_empty")]),
    st.integers(0, 10**6),
)


@given(DRAWINGS)
def test_greedy_plans_pass_scrutiny_as_a_whole_and_step_by_step(drawing):
    (rows, cols), (difficulty, rule), seed = drawing
    where = drawn(rows, cols, difficulty, seed, rule)
    try:
        plan = greedy_plan(where)
    except NoPlan:
        assume(False)
    agents = {agent for joint in plan for agent in joint}
    whole = {a: plan_of(where.grid, a, [joint.get(a) for joint in plan], "") for a in agents}
    assert GATES.scrutinize(sight(where), Joint(whole)) == []
    for joint in plan:
        step = {agent: one_step(where.grid, agent, move, "") for agent, move in joint.items()}
        assert GATES.scrutinize(sight(where), Joint(step)) == []
        where = where.after(joint).board


@given(st.sampled_from(SHAPES), st.integers(0, 10**6), st.randoms(use_true_random=False))
def test_the_first_step_is_judged_as_a_count_of_boxes_says(shape, seed, random):
    where = drawn(*shape, "hard", seed)
    options = {agent: where.available(agent) for agent in range(where.grid.agents)}
    joint = {agent: random.choice(found) for agent, found in options.items() if found and random.random() < 0.6}
    named = Counter(move.colour for move in joint.values())
    places = {box.colour: box.place for box in where.boxes}
    for agent, move in joint.items():
        if named[move.colour] == 1:
            places[move.colour] = move.to if move.to != where.grid.cells[agent] else None
    shared = [colour for colour, count in named.items() if count > 1]
    crowded = [place for place, count in Counter(places.values()).items() if place is not None and count > 1]
    step = {agent: (one_step(where.grid, agent, move, "").actions) for agent, move in joint.items()}
    codes = Counter(code for code, _ in scrutinize(where, step))
    assert codes == Counter({"V-BOX": len(shared), "V-CORNER": len(crowded)} if shared or crowded else {})

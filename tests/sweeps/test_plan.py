"""From words to cells: names, repetitions, named experiments and their mistakes."""

from __future__ import annotations

from pathlib import Path

import pytest

from quorum.configuration.cell import Cell
from quorum.sweeps.plan import plan
from quorum_base.user_errors import UserError

PUBLISHED = (
    "fixed: []\ngrid: []\narms: {{}}\npublished: {{source: A paper, factors: [n], "
    "metrics: [outcome.success, outcome.steps], rows: [{row}]}}"
)
"""An experiment with a published table of one row."""


def experiment(options: Path, text: str) -> None:
    (options / "experiment" / "mine.yaml").write_text(text)


def test_the_cells_are_those_of_each_point_by_itself_in_planning_order() -> None:
    planned = plan(["n=1,2", "seed=range(0,2)", "topology=individual"])
    words = [[f"n={n}", f"seed={seed}", "topology=individual"] for n in (1, 2) for seed in (0, 1)]
    assert [(cell.name, cell.hash) for cell in planned.cells] == [
        (cell.name, cell.hash) for cell in map(Cell.compose, words)
    ]
    assert [cell.cell().plain for cell in planned.cells] == [Cell.compose(point).plain for point in words]


def test_cells_that_differ_in_the_seed_alone_are_of_one_kind() -> None:
    kinds = [cell.kind for cell in plan(["n=1,2", "seed=0,1"]).cells]
    assert kinds[0] == kinds[1] != kinds[2] == kinds[3]


def test_cells_that_differ_in_the_draw_alone_are_of_one_kind_and_their_words_name_no_draw() -> None:
    planned = plan(["n=1,2", "draw=0,1"])
    kinds = [cell.kind for cell in planned.cells]
    assert kinds[0] == kinds[1] != kinds[2] == kinds[3]
    assert list(planned.places.values()) == ["n=1", "n=2"]


def test_each_draw_of_a_board_has_its_own_line_of_episodes() -> None:
    cells = plan(["agents=drwell", "n=2", "episode=range(0,2)", "draw=0,1"]).cells
    follows = {(cell.episode, cell.cell().configuration.draw): cell.follows for cell in cells}
    names = {(cell.episode, cell.cell().configuration.draw): cell.name for cell in cells}
    assert follows == {(0, 0): "", (0, 1): "", (1, 0): names[0, 0], (1, 1): names[0, 1]}


def test_points_that_name_one_cell_are_run_once_and_counted() -> None:
    planned = plan(["n=2,2,4", "seed=0,0"])
    assert (len(planned.cells), planned.repeated) == (2, 4)


def test_the_usual_name_is_that_of_the_cells_however_they_were_written() -> None:
    assert plan(["n=1,2", "seed=0"]).name == plan(["seed=0", "n=choice(2,1)"]).name != plan(["n=1"]).name
    assert plan(["experiment=quickstart"]).name == "quickstart"
    assert plan(["experiment=quickstart", "n=2"]).name.startswith("quickstart-")


def test_arms_are_run_over_the_whole_grid_and_words_of_the_command_take_their_place(options: Path) -> None:
    experiment(
        options,
        """
fixed: [env=corridor, agents=walker, n=3]
grid: ["seed=0,1"]
arms:
  short: [env.length=3]
  long: [env.length=9, n=1]
""",
    )
    planned = plan(["experiment=mine", "seed=5"], options)
    assert planned.arms == {"short": ("env.length=3",), "long": ("env.length=9", "n=1")}
    found = [(cell.arm, cell.cell().configuration.n, cell.cell().seed) for cell in planned.cells]
    assert found == [("short", 3, 5), ("long", 1, 5)]


@pytest.mark.parametrize(
    ("text", "reported"),
    [
        ("fixed: []\ngrid: []\narms: {a: [n=1], a: [n=2]}", "the repeated key 'a' is not allowed in a configuration"),
        ("fixed: []\ngrid: []\narms: {a: [n=1], b: [n=1]}", "the arms 'a' and 'b' are the same: both run cube-n1-"),
        ("fixed: []\ngrid: []\narms: {a: ['n=1,2']}", "arms.a: n=1,2 gives several values"),
        ("fixed: ['n=1,2']\ngrid: []\narms: {}", "fixed: n=1,2 gives several values"),
        ("fixed: []\ngrid: ['seed=range(3,3)']\narms: {}", "seed=range(3,3): this names no value"),
        ("fixed: []\ngrid: []", "arms"),
        ("fixed: []\ngrid: []\narms: {}\nnotes: x", "notes"),
        ("fixed: [n=]\ngrid: 3\narms: {}", "grid"),
        ("fixed: [", "mine.yaml: "),
        ("fixed: []\ngrid: []\narms: {' ': [n=1]}", "an arm has an empty name"),
        ("fixed: [nn=3]\ngrid: []\narms: {}", "nn: there is no such key"),
        (PUBLISHED.format(row="[4, 1.0]"), "row 0 has 2 values, but there are 3 factors and metrics"),
        (PUBLISHED.format(row="[4, high, 2]"), "row 0: outcome.success: 'high' is not a mean"),
        (PUBLISHED.format(row="[4, 1.0, [9.9]]"), "row 0: outcome.steps: [9.9] is not a mean"),
        (PUBLISHED.format(row="[[4, 8], 1.0, 2]"), "row 0: n: [4, 8] cannot be the value of a factor"),
        (PUBLISHED.format(row="[4, 1.0, true]"), "row 0: outcome.steps: True is not a mean"),
    ],
)
def test_a_mistake_in_an_experiment_is_reported(text: str, reported: str, options: Path) -> None:
    experiment(options, f"# A mistake.\n{text}\n")
    with pytest.raises(UserError) as caught:
        plan(["experiment=mine"], options)
    assert reported in str(caught.value)


def test_a_word_that_makes_two_arms_the_same_is_named(options: Path) -> None:
    experiment(options, "fixed: []\ngrid: []\narms: {a: [n=1], b: [n=2]}\n")
    with pytest.raises(UserError, match=r"are the same.*\n.*override what distinguishes them.*n=3"):
        plan(["experiment=mine", "n=3"], options)

"""The exact optimum of a board by CP-SAT, with a plan: boxes as a flow through time (extra `optimum`).

The model, for a given number of steps: how many boxes of each colour are at each place at each instant; in each step
    each agent makes at most one move; every target takes one box of its colour; on hard boards a corner has at most one
    box. Steps are added until there is a solution, so the first solution is shortest. The same model serves both tasks.
    It is a check of the search in `llamac_env.transport.routing`, with which it shares only the geometry of the grid.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from llamac_env.transport.board import Board, BoxMove, Item, JointPlan
from llamac_env.transport.bounds import Bracket, bracket
from llamac_env.transport.grid import EntryRule
from quorum_base.environments.errors import WorldError

INSTALL = "pip install 'quorum-harness[optimum]'"
"""Command that installs the solver."""


class MissingSolver(WorldError):
    """The exact solver is not installed."""


def solve(board: Board) -> Bracket:
    """Find the optimum, however long it takes; the bounds of the result are equal.

    Raises:
        MissingSolver: OR-tools is not installed.
        NoPlan: no initial plan was found.
    """
    known = bracket(board)
    for steps in range(known.lower, known.upper):
        plan = plan_of(board, steps)
        if plan is not None:
            return Bracket(steps, plan)
    return Bracket(known.upper, known.plan)


def plan_of(board: Board, steps: int) -> JointPlan | None:
    """Return a plan with a given number of steps; None if there is none.

    Raises:
        MissingSolver: OR-tools is not installed.
    """
    try:
        from ortools.sat.python import cp_model  # noqa: PLC0415 (an extra)
    except ImportError as error:
        raise MissingSolver(f"the exact optimum needs OR-tools: {INSTALL}") from error
    model = cp_model.CpModel()
    flow = _model(board, steps, model)
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    solver.parameters.random_seed = 0
    if solver.solve(model) not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        return None
    plan: list[dict[int, BoxMove]] = [{} for _ in range(steps)]
    for (step, agent, move), variables in flow.items():
        if any(solver.value(variable) for variable in variables):
            plan[step][agent] = move
    return tuple(plan)


def _model(board: Board, steps: int, model: Any) -> dict[tuple[int, int, BoxMove], list[Any]]:
    """Build the model; return, by step, agent and move, a variable for each place the box comes from."""
    grid, boxes, targets = board.grid, Counter(board.boxes), Counter(board.targets)
    flow: dict[tuple[int, int, BoxMove], list[Any]] = {}
    work: dict[tuple[int, int], list[Any]] = {}
    served: dict[Item, list[Any]] = {target: [] for target in targets}
    colours = dict.fromkeys(box.colour for box in board.boxes)
    of_colour = Counter(box.colour for box in board.boxes)
    here: dict[Item, Any] = {Item(c, place): boxes[Item(c, place)] for c in colours for place in grid.box_places}
    for step in range(steps):
        leaves: dict[Item, list[Any]] = {item: [] for item in here}
        enters: dict[Item, list[Any]] = {item: [] for item in here}
        for item, leaving in leaves.items():
            colour, place = item
            moves = [(agent, BoxMove(colour, to)) for agent, to in grid.links[place]]
            moves += [(agent, BoxMove(colour, grid.cells[agent])) for agent in sorted(grid.handlers[place])]
            for agent, move in moves:
                onto = Item(*move)
                is_placing = move.to == grid.cells[agent]
                if is_placing and onto not in targets:
                    continue
                variable = model.new_bool_var("")
                leaving.append(variable)
                flow.setdefault((step, agent, move), []).append(variable)
                work.setdefault((step, agent), []).append(variable)
                (served[onto] if is_placing else enters[onto]).append(variable)
        after = {item: model.new_int_var(0, of_colour[item.colour], "") for item in here}
        for item, before in here.items():
            model.add(after[item] == before - sum(leaves[item]) + sum(enters[item]))
            model.add(sum(leaves[item]) <= before)
        if grid.is_hard:
            for place in grid.box_places:
                model.add(sum(after[Item(colour, place)] for colour in colours) <= 1)
                if grid.entry_rule is EntryRule.start_empty:
                    coming = sum(sum(enters[Item(colour, place)]) for colour in colours)
                    model.add(coming + sum(here[Item(colour, place)] for colour in colours) <= 1)
        here = after
    for variables in work.values():
        model.add_at_most_one(variables)
    for target, variables in served.items():
        model.add(sum(variables) == targets[target])
    return flow

"""The simulated speaker in grid transportation: it reads the observation in the prompt, and plans greedily.

Where all agents see the same board they plan by the same rules, so that their moves fit together without a word. Those
who see their own cell alone play by what they have heard (`local.py`). As a critic of LLaMAC it plans for all agents
that it is asked about (`propose`).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import orjson

from llamac_env import (
    Board,
    BoxMove,
    Colour,
    Grid,
    JointMove,
    Move,
    TransportObservation,
    Wait,
    box_move,
    read_shown,
)
from maeil.actions import Vocabulary
from maeil.extensions.describe.descriptors import Descriptor
from maeil.messages import Draft, MessageKind
from maeil.mind import Act, Thought, View
from maeil.plans import Plan, Task
from quorum.agents.skills.speaker import LEADING, TREE, Brief, Prospect, Speaker, take_turn
from quorum.agents.skills.transport.local import choose, describe, known_board, report, reported, telling
from quorum.agents.skills.transport.moves import (
    box_task,
    distance_left,
    fitting,
    gain,
    greedy,
    one_step,
    places,
    plan_of,
)

_WORK = re.compile(r"\bI work on box_([a-z]+):")

AHEAD = 3
"""Steps that the explorer plans ahead."""
SENTENCES = 30
"""Cells of which one message tells, at most."""


class TransportSpeaker(Speaker[TransportObservation]):
    """Follows the greedy plan of the board that its prompt shows; where it shows none, what is seen and heard."""

    observation = TransportObservation
    vocabulary = Vocabulary(Move, Wait)
    needs = frozenset({"move", "wait"})

    def read_observation(self, text: str) -> TransportObservation:
        """Read the observation of a prompt.

        Raises:
            ValueError: it is none of this world.
        """
        return read_shown(orjson.loads(text))

    def describe(self, view: View, poor: float, rng: np.random.Generator) -> Descriptor:
        """Offer the targets that are known, and ask for those of the boxes in reach; as all do with the whole board."""
        observation = view.observation
        assert isinstance(observation, TransportObservation)
        if observation.board is not None:
            return super().describe(view, poor, rng)
        return describe(known_board(observation, (*view.memory, *view.unread)), view)

    def answer(self, view: View, poor: float, rng: np.random.Generator) -> Thought:
        """Answer a turn: make the greedy plan's next move, say so, and resume when interrupted."""
        observation = view.observation
        assert isinstance(observation, TransportObservation)
        if not observation.agent:
            return _tell_all(view, observation.to_board())
        if observation.board is None:
            board = known_board(observation, (*view.memory, *view.unread))
            move, reason = choose(board, view.agent, rng)
        else:
            board = observation.to_board()
            move = _greedy(board, view.agent)
            reason = "it is next on its way" if move is not None else "no box is mine now"
        if rng.random() < poor:
            move, reason = _any(board, view.agent, rng), "it is as good as any"
        thought = take_turn(view, one_step(board.grid, view.agent, move, reason), "I wait.")
        if observation.board is not None:
            return thought
        cells = sorted({*telling(board, view)[:SENTENCES], *_passed(view, board)})
        told = [report(board, cells[start : start + SENTENCES]) for start in range(0, len(cells), SENTENCES)]
        messages = (replace(m, content=f"{m.content} {part}") for m in thought.messages for part in told)
        return replace(thought, messages=tuple(messages))

    def prospects(self, view: View, mate: int) -> list[Prospect]:
        """Return the boxes that another can move, as far as the board is known, and what it has said it works on."""
        board = _known(view)
        said = _last_said(view, mate)
        aims = {target.colour for target in board.targets}
        moves = [move for move in board.available(mate) if move.colour in aims]
        gains: dict[Colour, float] = {}
        for move in moves:
            gains[move.colour] = max(gain(board, mate, move), gains.get(move.colour, 0.0))
        found = [
            Prospect(box_task(colour), 0, left=distance_left(board, colour, place), said=colour == said)
            for colour, gained in gains.items()
            if gained > 0 and (place := board.box_at(mate, colour)) is not None
        ]
        if said is not None and said not in gains:
            found.append(Prospect(box_task(said), 0, said=True))
        return found

    def anticipate(
        self, view: View, expected: Mapping[int, Task | None], poor: float, rng: np.random.Generator
    ) -> Thought:
        """Leave a box to one with a lower index who is expected to move the same: two who act on one box both fail."""
        thought = self.answer(view, poor, rng)
        plan = thought.decision
        if not isinstance(plan, Plan) or plan.task is None:
            return thought
        board = _known(view)
        rivals = [mate for mate, task in expected.items() if mate < view.agent and task == plan.task]
        colour = _colour(plan.task)
        place = board.box_at(view.agent, colour) if colour is not None else None
        if place is None or all(board.box_at(mate, colour) != place for mate in rivals if colour is not None):
            return thought
        left = one_step(board.grid, view.agent, None, "I expect that another moves this box")
        return replace(thought, decision=left)

    def propose(self, brief: Brief) -> dict[int, Plan]:
        """Make a joint plan.

        The explorer follows the greedy plan of the whole board, which spreads the load and takes detours, some steps
        ahead; one step where others carry out plans that it does not know of. The exploiter makes the moves of this
        step that bring boxes nearest to a target, placing first. Where there is no such move, it follows the greedy
        plan for a step.
        """
        state = brief.state
        board = read_shown(state).to_board()
        grid = board.grid
        others = _next_moves(grid, brief.running)
        if brief.role == "explorer":
            steps = _whole(board, brief, others)
        else:
            nearest = _nearest(board, brief.asked, others)
            steps = (nearest,) if nearest or others else _whole(board, brief, others)[:1]
        moves = {agent: [joint.get(agent) for joint in steps] for agent in brief.asked}
        plans = {
            agent: plan_of(grid, agent, own, f"the {brief.role}'s next moves")
            for agent, own in moves.items()
            if any(own)
        }
        for agent in brief.drawn_at_random():
            plans[agent] = one_step(grid, agent, _any(board, agent, brief.rng), "at random")
        return plans


def _known(view: View) -> Board:
    """What an agent knows of the board: all of it, or what is in its cell and what others have told."""
    observation = view.observation
    assert isinstance(observation, TransportObservation)
    if observation.board is None:
        return known_board(observation, (*view.memory, *view.unread))
    return observation.to_board()


def _last_said(view: View, mate: int) -> Colour | None:
    """The colour of the box that another has said in this step that it works on."""
    said = [m.content for m in (*view.memory, *view.unread) if m.sender == mate and m.t == view.t]
    found = _WORK.search(said[-1]) if said else None
    return Colour(found[1]) if found is not None and found[1] in Colour.__members__ else None


def _colour(task: Task) -> Colour | None:
    """The colour of the box that a task is about."""
    name = task.target.removeprefix("box_")
    return Colour(name) if name in Colour.__members__ else None


def _tell_all(view: View, board: Board) -> Thought:
    """Tell those who see less where all targets are."""
    if Act.SPEAK not in view.turn.acts or not view.turn.recipients:
        return Thought()
    told = report(board, sorted(_with_targets(board)))
    return Thought(messages=(Draft(view.turn.recipients, told, MessageKind.DIRECTIVE),))


def _passed(view: View, board: Board) -> set[int]:
    """The agents whose cells one tells of in a tree of leaders: those that were just reported, down the tree all.

    What was said in earlier steps does not go up again: those whose cells it is about may have reported otherwise.
    """
    if view.turn.role not in TREE:
        return set()
    just = reported(board, view.unread)
    return just | _with_targets(board) if view.turn.role in LEADING else just


def _with_targets(board: Board) -> set[int]:
    """The agents in whose cells there are targets."""
    return {agent for agent, cell in enumerate(board.grid.cells) if any(t.place == cell for t in board.targets)}


def _next_moves(grid: Grid, running: Mapping[int, Mapping[str, Any]]) -> dict[int, BoxMove]:
    """What the agents that carry out plans do in this step."""
    first = {agent: plan["actions"][0] for agent, plan in running.items()}
    return {
        agent: box_move(grid, agent, Move.model_validate(action))
        for agent, action in first.items()
        if action["action"] == "move"
    }


def _whole(board: Board, brief: Brief, others: JointMove) -> tuple[JointMove, ...]:
    """The next steps of the greedy plan of the whole board, those who are asked alone."""
    own = [{agent: move for agent, move in joint.items() if agent in brief.asked} for joint in greedy(board)[:AHEAD]]
    return (fitting(board, own[0].items(), others),) if own and brief.running else tuple(own)


def _nearest(board: Board, asked: Iterable[int], others: JointMove) -> JointMove:
    """The moves that bring boxes nearer: placing first, then by what is gained, the longest way left, the queue."""
    queues = Counter(box.place for box in board.boxes)
    worth = {(agent, move): gain(board, agent, move) for agent in asked for move in board.available(agent)}
    wanted = sorted(
        (choice for choice, gained in worth.items() if gained > 0),
        key=lambda choice: (
            not places(board, *choice),
            -worth[choice],
            -distance_left(board, choice[1].colour, choice[1].to),
            queues[choice[1].to],
            choice[0],
        ),
    )
    return fitting(board, wanted, others)


def _greedy(board: Board, agent: int) -> BoxMove | None:
    plan = greedy(board)
    return plan[0].get(agent) if plan else None


def _any(board: Board, agent: int, rng: np.random.Generator) -> BoxMove | None:
    moves = (None, *board.available(agent))
    return moves[rng.integers(len(moves))]

"""The simulated speaker in grid transportation: it reads the observation in the prompt and plans greedily.

Agents that all see the whole board plan by the same rules, so their moves fit together without messages. Agents that
see only their own cell report its targets; they move a box toward a reported target, or anywhere if there is none. As a
LLaMAC critic, the speaker plans for all requested agents.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import orjson

from llamac_env import (
    Board,
    BoxMove,
    Colour,
    Grid,
    Item,
    JointMove,
    Move,
    TransportObservation,
    Wait,
    box_move,
    read_place,
    read_shown,
    write_place,
)
from maeil.actions import Vocabulary
from maeil.messages import Draft, Message, MessageKind
from maeil.mind import Act, Thought, View
from maeil.plans import Plan, Task
from quorum.agents.skills.chooser import Chooser
from quorum.agents.skills.speaker import LEADING, TREE, JointPlanRequest, Prospect, Speaker, take_turn
from quorum.llamac_worlds.transport.moves import (
    box_task,
    distance_left,
    fitting,
    gain,
    greedy,
    one_step,
    places,
    plan_of,
)

_REPORT = re.compile(r"In (square\[[\d., ]+\]) there (?:is|are) (no target|target_[a-z]+(?:, target_[a-z]+)*)\.")


def report(board: Board, cells: Iterable[int]) -> str:
    """Write the targets in some agents' cells; `known_board` parses it."""
    texts = []
    for agent in cells:
        place = board.grid.cells[agent]
        names = [f"target_{target.colour}" for target in board.targets if target.place == place]
        texts.append(f"In {write_place(place)} there {'are' if names[1:] else 'is'} {', '.join(names) or 'no target'}.")
    return " ".join(texts)


def telling(board: Board, view: View) -> list[int]:
    """Return the agents whose cells to report: the speaker itself, and those with a target that others look for."""
    needed = {name for wanted in view.wanted.values() for name in wanted}
    cells = {target.place for target in board.targets if f"box_{target.colour}" in needed}
    return [
        view.agent,
        *(agent for agent, cell in enumerate(board.grid.cells) if cell in cells and agent != view.agent),
    ]


def offered_and_needed(view: View) -> Mapping[str, Mapping[str, Any]]:
    """Offer the known targets, and ask for those of the boxes in reach, by box name."""
    board = _known(view)
    known = {target.colour for target in board.targets}
    lost = {move.colour for move in board.available(view.agent)} - known
    offered, needed = (tuple(sorted(f"box_{colour}" for colour in colours)) for colours in (known, lost))
    question = f"Where does {' or '.join(needed)} belong?" if needed else ""
    return {
        "offers": {"text": f"I know where {', '.join(offered) or 'nothing'} belongs.", "tasks": offered},
        "needs": {"text": question, "tasks": needed},
    }


def reported(board: Board, messages: Iterable[Message]) -> set[int]:
    """Return the agents whose cells some messages report."""
    places = {where for message in messages for where, _ in _REPORT.findall(message.content)}
    return {agent for agent, cell in enumerate(board.grid.cells) if write_place(cell) in places}


def known_board(observation: TransportObservation, messages: Iterable[Message]) -> Board:
    """Return an agent's knowledge of the board: its observation, and the targets that others reported.

    Args:
        observation: its observation, limited to its own cell.
        messages: oldest first; later reports on a cell replace earlier ones, and the observation replaces all reports.
    """
    grid = observation.grid
    targets: dict[str, list[str]] = {}
    for message in messages:
        for where, what in _REPORT.findall(message.content):
            targets[where] = what.split(", ") if what != "no target" else []
    targets[observation.square] = []
    boxes: list[Item] = []
    for where, items in observation.sees.items():
        targets.setdefault(where, []).extend(item for item in items if item.startswith("target_"))
        boxes += [_item(item, where) for item in items if item.startswith("box_")]
    targets_known = [
        _item(item, where)
        for where, items in targets.items()
        for item in items
        if item.partition("_")[2] in map(str, Colour)
    ]
    return Board(grid, tuple(boxes), tuple(item for item in targets_known if item.place in grid.agent_of))


def choose(board: Board, agent: int, chooser: Chooser) -> tuple[BoxMove | None, str]:
    """Choose a move and a reason: place a box, move one nearer to a known target, or move a box without one anywhere.

    Several agents can reach a box on a corner, and if two act on it, both fail. If its target is known, the agent that
    can bring it nearest acts. Otherwise each of the n agents acts with probability 1/n.

    Args:
        board: the agent's knowledge of the board.
        agent: its index.
        chooser: makes the choices.
    """
    taken = {box.place for box in board.boxes} if board.grid.is_hard else set()
    moves = [move for move in board.available(agent) if move.to not in taken]
    if placing := next((move for move in moves if places(board, agent, move)), None):
        return placing, "it can be placed"
    known = {target.colour for target in board.targets}
    gains = {move: gain(board, agent, move) for move in moves if move.colour in known}
    nearer = [move for move in gains if gains[move] > 0]
    if nearer and _is_mine(board, agent, best := chooser.least(nearer, lambda move: -gains[move])):
        return best, "somebody has told of its target"
    lost: dict[Colour, list[BoxMove]] = {}
    for move in moves:
        if move.colour not in known:
            lost.setdefault(move.colour, []).append(move)
    for ways in lost.values():
        if chooser.rng.random() * len(_sharers(board, agent, ways[0])) < 1:
            return chooser.any_of(ways), "nobody has told of its target"
    return None, "no box is mine now"


def _sharers(board: Board, agent: int, move: BoxMove) -> list[int]:
    """Return all agents that can reach a move's box, ascending."""
    source = board.box_at(agent, move.colour)
    assert source is not None
    return sorted(board.grid.handlers[source])


def _is_mine(board: Board, agent: int, move: BoxMove) -> bool:
    """Return whether the agent is the first of those that can bring the box nearest to its target."""

    def most(other: int) -> float:
        return max((gain(board, other, m) for m in board.available(other) if m.colour == move.colour), default=-1)

    return max(_sharers(board, agent, move), key=most) == agent


def _item(name: str, where: str) -> Item:
    place = read_place(where)
    assert place is not None, "an observation and a report name places"
    return Item(Colour(name.partition("_")[2]), place)


_WORK = re.compile(r"\bI work on box_([a-z]+):")

AHEAD = 3
"""Number of steps that the explorer plans ahead."""
LOST = 4
"""Cost in steps of a move outside the plan, for the box and for agents that wait for it."""
SENTENCES = 30
"""Maximum number of cells reported in one message."""


class TransportSpeaker(Speaker[TransportObservation]):
    """Follows the greedy plan of the board in its prompt, or of the board known from observations and messages."""

    observation = TransportObservation
    vocabulary = Vocabulary(Move, Wait)
    needs = frozenset({"move", "wait"})

    def read_observation(self, text: str) -> TransportObservation:
        """Parse the observation in a prompt.

        Raises:
            ValueError: it does not belong to this world.
        """
        return read_shown(orjson.loads(text))

    def answer(self, view: View, chooser: Chooser) -> Thought:
        """Answer a turn: make the greedy plan's next move, announce it, and resume if interrupted."""
        observation = self.seen(view)
        if not observation.agent:
            return _tell_all(view, observation.to_board())
        board = _known(view)
        if observation.board is None:
            move, reason = choose(board, view.agent, chooser)
        else:
            move = _next(board, view.agent, chooser)
            reason = "it is next on its way" if move is not None else "no box is mine now"
        if chooser.is_poor():
            move, reason = _any(board, view.agent, chooser), "it is as good as any"
        thought = take_turn(view, one_step(board.grid, view.agent, move, reason), "I wait.")
        if observation.board is not None:
            return thought
        cells = sorted({*telling(board, view)[:SENTENCES], *_passed(view, board)})
        texts = [report(board, cells[start : start + SENTENCES]) for start in range(0, len(cells), SENTENCES)]
        messages = (replace(m, content=f"{m.content} {part}") for m in thought.messages for part in texts)
        return replace(thought, messages=tuple(messages))

    def prospects(self, view: View, mate: int) -> list[Prospect]:
        """Return the boxes that a teammate can bring nearer on the known board, and the box it says it works on."""
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

    def anticipate(self, view: View, expected: Mapping[int, Task | None], chooser: Chooser) -> Thought:
        """Leave a box to an agent with a lower index expected to move it, because two agents on one box both fail."""
        thought = self.answer(view, chooser)
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

    def propose(self, request: JointPlanRequest) -> dict[int, Plan]:
        """Make a joint plan.

        The explorer follows the greedy plan of the whole board, which spreads the load and takes detours, several steps
        ahead, or only one if other agents' plans are under way. The exploiter makes this step's moves that bring boxes
        nearest to a target, placing first. If there is no such move, it follows the greedy plan for one step.
        """
        state = request.state
        board = read_shown(state).to_board()
        grid = board.grid
        others = _next_moves(grid, request.running)
        if request.role == "explorer":
            steps = _whole(board, request, others)
        else:
            nearest = _nearest(board, request.asked, others, request.chooser)
            steps = (nearest,) if nearest or others else _whole(board, request, others)[:1]
        moves = {agent: [joint.get(agent) for joint in steps] for agent in request.asked}
        plans = {
            agent: plan_of(grid, agent, own, f"the {request.role}'s next moves")
            for agent, own in moves.items()
            if any(own)
        }
        for agent in request.drawn_at_random():
            plans[agent] = one_step(grid, agent, _any(board, agent, request.chooser), "at random")
        return plans


def _known(view: View) -> Board:
    """Return an agent's knowledge of the board: all of it, or its cell and the reports of others."""
    observation = view.observation
    assert isinstance(observation, TransportObservation)
    if observation.board is None:
        return known_board(observation, (*view.memory, *view.unread))
    return observation.to_board()


def _last_said(view: View, mate: int) -> Colour | None:
    """Return the colour of the box that a teammate announced in this step."""
    said = [m.content for m in (*view.memory, *view.unread) if m.sender == mate and m.t == view.t]
    found = _WORK.search(said[-1]) if said else None
    return Colour(found[1]) if found is not None and found[1] in Colour.__members__ else None


def _colour(task: Task) -> Colour | None:
    """Return the colour of a task's box."""
    name = task.target.removeprefix("box_")
    return Colour(name) if name in Colour.__members__ else None


def _tell_all(view: View, board: Board) -> Thought:
    """Report all targets to the recipients, who see less."""
    if Act.SPEAK not in view.turn.acts or not view.turn.recipients:
        return Thought()
    text = report(board, sorted(with_targets(board)))
    return Thought(messages=(Draft(view.turn.recipients, text, MessageKind.DIRECTIVE, asks=()),))


def _passed(view: View, board: Board) -> set[int]:
    """Return the agents whose cells to report in a tree of leaders: those just reported, plus all known ones downward.

    Reports from earlier steps are not passed up again, because the agents they concern may have updated them.
    """
    if view.turn.role not in TREE:
        return set()
    just = reported(board, view.unread)
    return just | with_targets(board) if view.turn.role in LEADING else just


def with_targets(board: Board) -> set[int]:
    """Return the agents with targets in their cells."""
    return {agent for agent, cell in enumerate(board.grid.cells) if any(t.place == cell for t in board.targets)}


def _next_moves(grid: Grid, running: Mapping[int, Mapping[str, Any]]) -> dict[int, BoxMove]:
    """Return the moves of this step in the plans under way."""
    first = {agent: plan["actions"][0] for agent, plan in running.items()}
    return {
        agent: box_move(grid, agent, Move.model_validate(action))
        for agent, action in first.items()
        if action["action"] == "move"
    }


def _whole(board: Board, request: JointPlanRequest, others: JointMove) -> tuple[JointMove, ...]:
    """Return the next steps of the whole board's greedy plan, restricted to the requested agents."""
    own = [{agent: move for agent, move in joint.items() if agent in request.asked} for joint in greedy(board)[:AHEAD]]
    return (fitting(board, own[0].items(), others),) if own and request.running else tuple(own)


def _nearest(board: Board, asked: Iterable[int], others: JointMove, chooser: Chooser) -> JointMove:
    """Return the moves that bring boxes nearer: placing first, then by gain, remaining distance, and queue length."""
    queues = Counter(box.place for box in board.boxes)
    worth = {(agent, move): gain(board, agent, move) for agent in asked for move in board.available(agent)}
    wanted = sorted(
        (choice for choice, gained in worth.items() if gained > 0),
        key=lambda choice: (
            not places(board, *choice),
            -worth[choice],
            chooser.judge(-distance_left(board, choice[1].colour, choice[1].to)),
            queues[choice[1].to],
            choice[0],
        ),
    )
    return fitting(board, wanted, others)


def _next(board: Board, agent: int, chooser: Chooser) -> BoxMove | None:
    """Return the agent's move in the greedy plan's next step, or by chance another compatible move with a gain."""
    plan = greedy(board)
    rest = dict(plan[0]) if plan else {}
    own = rest.pop(agent, None)
    others = [
        move
        for move in board.available(agent)
        if move != own and gain(board, agent, move) > 0 and fitting(board, [(agent, move)], rest)
    ]
    return chooser.least((own, *others), lambda move: 0 if move == own else LOST)


def _any(board: Board, agent: int, chooser: Chooser) -> BoxMove | None:
    return chooser.any_of((None, *board.available(agent)))

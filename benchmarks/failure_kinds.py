"""Which injected failures of a known kind the rules find, and what else they find: a confusion table.

A team of greedy agents in CUBE talks: each says which block it takes. In every episode, one of them makes one mistake,
at the first occasion. No language model takes part.

python benchmarks/failure_kinds.py --boards 40
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from cube_env import Face, Idle, MoveToBlock, PushBlock, Rendezvous, SymbolicObservation
from maeil import Act, LoopSettings, Mind, Plan, Resume, Task, Thought, View, run_episode
from maeil.messages import Ask, Draft, MessageKind
from maeil.trace import Recorder, Stamped
from maeil.trace.reader import Trace
from quorum.configuration.cell import Cell
from quorum.episode.building import no_models
from quorum.episode.parts import build
from quorum.topologies.plain import Decentralized, DecentralizedConfig
from quorum.what_if.failures import Failure, FailureKind, find_failures

BOARD = ("env=cube", "agents=heuristic", "n=4", "env.side=16", "env.blocks={1:5,2:3}", "max_steps=150")
CULPRIT, MATE = 1, 2
"""The agent that makes the mistake, and the agent from which it withholds something."""
PATIENCE = 3
"""Steps that an agent with a mistake waits."""


@dataclass
class Scene:
    """State that the agents of an episode share.

    Attributes:
        known: blocks that a message has named or a plan was for.
        first: the blocks of the board.
        kept: blocks that the others avoid, so that they neither help there nor talk about them.
        placed: whether the fault is complete.
    """

    known: set[int] = field(default_factory=set)
    first: set[int] = field(default_factory=set)
    kept: set[int] = field(default_factory=set)
    placed: bool = False


class Talker:
    """Follows a mind that does not talk, and says which block it takes.

    Args:
        mind: the mind.
        scene: the shared state.
    """

    def __init__(self, mind: Mind, scene: Scene) -> None:
        self._mind = mind
        self.scene = scene

    async def think(self, view: View) -> Thought:
        """Answer a turn."""
        assert isinstance(view.observation, SymbolicObservation)
        self.scene.first |= {block.id for block in view.observation.blocks}
        thought = self.wrong(view, view.observation)
        if thought is None and view.may_resume:
            return Thought(Resume.RESUME)
        if thought is None:
            thought = await self._mind.think(view)
            plan = thought.decision
            if isinstance(plan, Plan) and plan.task in [task_of(block) for block in self.scene.kept]:
                thought = REST
            elif isinstance(plan, Plan) and plan.task is not None and Act.SPEAK in view.turn.acts:
                thought = Thought(plan, (claim(view.turn.recipients, plan.task),))
        for block in self.scene.first:
            named = any(f"block_{block}" in draft.content for draft in thought.messages)
            if named or (isinstance(thought.decision, Plan) and thought.decision.task == task_of(block)):
                self.scene.known.add(block)
        return thought

    def wrong(self, view: View, seen: SymbolicObservation) -> Thought | None:
        """Return the mistake of this turn; None if there is none."""
        return None


REST = Thought(Plan((Idle(steps=PATIENCE),)))
"""Does nothing for a while, and says nothing."""
RESTS = "I rest."
"""Message of an agent that could say something else."""


def task_of(block: int) -> Task:
    """The task of delivering a block."""
    return Task("deliver", f"block_{block}")


def claim(recipients: Sequence[int], task: Task) -> Draft:
    """Say that the agent does a task."""
    return Draft(tuple(recipients), f"{task.target} is mine.", task=task, asks=())


def push_there(block: int) -> Plan:
    """A push from the agent's position."""
    return Plan((PushBlock(block=block, steps=1),), task_of(block))


def deliver(block: int, count: int, patience: int = 20) -> Plan:
    """Go to a block, wait for `count` agents, and push it."""
    face = Face.left
    actions = (
        MoveToBlock(block=block, face=face),
        Rendezvous(block=block, face=face, count=count, timeout=patience),
        PushBlock(block=block, steps=3),
    )
    return Plan(actions, task_of(block))


def free(view: View) -> bool:
    """Whether the agent has to commit a plan, and may speak."""
    return view.plan is None and {Act.PLAN, Act.SPEAK} <= view.turn.acts


class Repeats(Talker):
    """Pushes a block that it is not next to, twice in the same way."""

    tries = 0
    block = -1

    def wrong(self, view: View, seen: SymbolicObservation) -> Thought | None:
        if not free(view) or self.tries == 2:
            return None
        if not self.tries:
            self.block = max(seen.blocks, key=lambda block: abs(block.col - (seen.cell or (0, 0))[1])).id
        self.tries += 1
        self.scene.placed = self.tries == 2
        said = () if self.tries > 1 else (claim(view.turn.recipients, task_of(self.block)),)
        return Thought(push_there(self.block), said)


class Revives(Talker):
    """Plans for a block that is delivered."""

    def wrong(self, view: View, seen: SymbolicObservation) -> Thought | None:
        gone = self.scene.first - {block.id for block in seen.blocks}
        if not free(view) or not gone or self.scene.placed:
            return None
        self.scene.placed = True
        return Thought(push_there(min(gone)))


class WaitsAlone(Talker):
    """Waits alone at a block that needs two agents, and says nothing."""

    def wrong(self, view: View, seen: SymbolicObservation) -> Thought | None:
        heavy = [block.id for block in seen.blocks if block.weight > 1 and block.id not in self.scene.known]
        if not free(view) or not heavy or self.scene.placed:
            return None
        self.scene.placed = True
        self.scene.kept.add(heavy[-1])
        return Thought(deliver(heavy[-1], 2, PATIENCE))


class Withholds(Talker):
    """Learns that a block needs more than one agent, and does not tell the teammate that tries it next."""

    block = -1
    failed = False
    spoken = False

    def wrong(self, view: View, seen: SymbolicObservation) -> Thought | None:
        if not free(view):
            return None
        heavy = [block.id for block in seen.blocks if block.weight > 1 and block.id not in self.scene.known]
        others = tuple(agent for agent in view.turn.recipients if agent != MATE)
        if self.block < 0 and heavy:
            self.block = heavy[-1]
            self.scene.kept.add(self.block)
            return Thought(deliver(self.block, 2, PATIENCE), (Draft(others, f"There is block_{self.block}.", asks=()),))
        if self.block >= 0 and not self.spoken:
            self.spoken = True
            return replace(REST, messages=(Draft(view.turn.recipients, RESTS, asks=()),))
        return None


class Unwarned(Talker):
    """The teammate: tries the block that the other agent has tried."""

    def __init__(self, mind: Mind, scene: Scene, other: Withholds) -> None:
        super().__init__(mind, scene)
        self._other = other

    def wrong(self, view: View, seen: SymbolicObservation) -> Thought | None:
        there = {block.id for block in seen.blocks}
        read = [message.content for message in (*view.memory, *view.unread) if message.sender == CULPRIT]
        if not free(view) or RESTS not in read or self.scene.placed or self._other.block not in there:
            return None
        self.scene.placed = True
        others = tuple(agent for agent in view.turn.recipients if agent != CULPRIT)
        return Thought(deliver(self._other.block, 2, PATIENCE), (claim(others, task_of(self._other.block)),))


class Orders(Talker):
    """The teammate of an agent that ignores orders: orders a task once."""

    def wrong(self, view: View, seen: SymbolicObservation) -> Thought | None:
        light = [block.id for block in seen.blocks if block.weight == 1 and block.id not in self.scene.known]
        if not free(view) or len(light) < 2 or self.scene.kept:
            return None
        self.scene.kept.update(light[:2])
        asks = (Ask(CULPRIT, task_of(light[0])),)
        orders = Draft((CULPRIT,), f"I need agent_{CULPRIT} at block_{light[0]}.", MessageKind.DIRECTIVE, asks=asks)
        return replace(REST, messages=(orders,))


class Disobeys(Talker):
    """Reads its orders, and does something else."""

    def wrong(self, view: View, seen: SymbolicObservation) -> Thought | None:
        if Act.PLAN not in view.turn.acts or not any(one.kind is MessageKind.DIRECTIVE for one in view.unread):
            return None
        self.scene.placed = True
        return Thought(deliver(max(self.scene.kept), 1))


class Misleads(Talker):
    """Says one block, and plans for another."""

    def wrong(self, view: View, seen: SymbolicObservation) -> Thought | None:
        light = [block.id for block in seen.blocks if block.weight == 1]
        if not free(view) or len(light) < 2 or self.scene.placed:
            return None
        self.scene.placed = True
        return Thought(deliver(light[0], 1), (claim(view.turn.recipients, task_of(light[1])),))


def team(minds: Sequence[Mind], kind: FailureKind | None, scene: Scene) -> list[Talker]:
    """Make a team in which one agent makes a mistake of a kind; None: nobody does."""
    found = [Talker(mind, scene) for mind in minds]
    match kind:
        case FailureKind.REPETITION:
            found[CULPRIT] = Repeats(minds[CULPRIT], scene)
        case FailureKind.TERMINATION:
            found[CULPRIT] = Revives(minds[CULPRIT], scene)
        case FailureKind.SILENCE:
            found[CULPRIT] = WaitsAlone(minds[CULPRIT], scene)
        case FailureKind.WITHHOLDING:
            found[CULPRIT] = culprit = Withholds(minds[CULPRIT], scene)
            found[MATE] = Unwarned(minds[MATE], scene, culprit)
        case FailureKind.IGNORED_INPUT:
            found[MATE] = Orders(minds[MATE], scene)
            found[CULPRIT] = Disobeys(minds[CULPRIT], scene)
        case FailureKind.MISMATCH:
            found[CULPRIT] = Misleads(minds[CULPRIT], scene)
    return found


def play(kind: FailureKind | None, seed: int) -> tuple[bool, tuple[Failure, ...]]:
    """Play an episode with one injected failure.

    Returns:
        Whether there was an occasion for it, and which failures the rules find.
    """
    parts = build(Cell.compose([*BOARD, f"seed={seed}"]), no_models)
    scene, events = Scene(), list[Stamped]()
    with Recorder(None, [events.append]) as recorder:
        asyncio.run(
            run_episode(
                parts.world,
                team(parts.minds, kind, scene),
                Decentralized(DecentralizedConfig(name="decentralized", budget=2)),
                seed=seed,
                settings=LoopSettings(),
                recorder=recorder,
            )
        )
    return scene.placed or kind is None, find_failures(Trace(tuple(events)))


@dataclass
class Confusion:
    """The findings for one injected kind.

    Attributes:
        kind: the kind; None: nothing was injected.
        episodes: number of episodes with an occasion for it.
        hits: number of these in which the kind was found for the right agent.
        found: number of episodes in which each kind was found for that agent.
        elsewhere: kinds found for other agents, each once an agent and episode.
    """

    kind: FailureKind | None
    episodes: int = 0
    hits: int = 0
    found: Counter[str] = field(default_factory=Counter)
    elsewhere: int = 0


def confusion(boards: int) -> Iterator[Confusion]:
    """Inject each kind, and nothing, on `boards` boards."""
    for kind in (*FailureKind, None):
        row = Confusion(kind)
        for seed in range(boards):
            placed, found = play(kind, seed)
            if placed:
                row.episodes += 1
                own = [failure for failure in found if failure.agent == CULPRIT]
                row.hits += any(failure.kind is kind for failure in own)
                row.found.update({str(failure.kind) for failure in own})
                row.elsewhere += len({(failure.agent, failure.kind) for failure in found}) - len(
                    {one.kind for one in own}
                )
        yield row


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--boards", type=int, default=40, help="number of episodes of each kind")
    parser.add_argument("--json", action="store_true", help="print JSON")
    options = parser.parse_args(arguments)
    rows = list(confusion(options.boards))
    if options.json:
        plain = [
            {
                "injected": row.kind,
                "episodes": row.episodes,
                "hits": row.hits,
                "found": row.found,
                "others": row.elsewhere,
            }
            for row in rows
        ]
        json.dump(plain, sys.stdout, indent=2)
        return
    kinds = list(FailureKind)
    head = ["injected", "episodes", "found", *(str(kind).replace("_", " ") for kind in kinds), "of mates"]
    print(f"| {' | '.join(head)} |\n|{'---|' * len(head)}")
    for row in rows:
        share = f"{row.hits / row.episodes:.3f}" if row.kind is not None and row.episodes else ""
        label = f"`{row.kind}`" if row.kind is not None else "nothing"
        cells = [label, row.episodes, share, *(row.found[kind] for kind in kinds), row.elsewhere]
        print(f"| {' | '.join(map(str, cells))} |")


if __name__ == "__main__":
    main()

"""The hidden half: faults and boards that no rule of a search has seen. Only `cases` may load it, by name, on request.

If you write or tune a search, do not read this file, and do not look at its single cases.
"""

from __future__ import annotations

import re
from dataclasses import replace

from benchmarks.attribution.crew import FOREVER
from benchmarks.attribution.faulty import Moment, fault, rest
from cube_env import Face, MoveToBlock, PushBlock, Rendezvous, SymbolicObservation
from lbf_env import GoTo, Load
from maeil.mind import Act, Thought
from overcooked_env import GoTo as WalkTo
from overcooked_env import KitchenObservation, neighbours, places

FIRST_SEED = 50_000
BOARDS = (
    "env=cube agents=heuristic n=2 env.side=10 env.blocks={1:3,2:1}",
    "env=cube agents=heuristic n=3 env.side=9 env.blocks={1:1,2:2}",
    "env=cube agents=heuristic n=5 env.side=13 env.blocks={1:2,2:2,3:1}",
    "env=cube agents=heuristic n=8 env.side=16 env.blocks={1:3,2:2,3:1,4:1}",
    "env=cube agents=heuristic n=5 env.side=15 agents.teams=one env.blocks={1:2,2:1,4:1}",
    "env=cube agents=negotiator agents.patience=300 topology=decentralized n=4 env.side=11 env.blocks={1:2,2:2}",
    "env=cube agents=negotiator agents.patience=300 topology=hybrid n=4 env.side=12 env.blocks={1:2,2:1,3:1}",
    "env=cube agents=negotiator agents.patience=300 topology=graph topology.shape=star n=4 env.side=10 "
    "env.blocks={1:2,2:2}",
    "env=cube agents=negotiator agents.patience=300 topology=hierarchy n=6 env.side=13 env.blocks={1:3,2:2,3:1}",
    "env=cube agents=naive topology=chain n=3 env.side=10 env.blocks={1:1,2:2}",
    "env=cube agents=crew topology=hierarchy n=4 env.side=11 env.blocks={1:4,2:2}",
    "env=cube agents=crew topology=hierarchy n=5 env.side=14 env.blocks={1:2,2:3}",
    "env=foraging agents=heuristic n=2 env.side=7 env.foods=4",
    "env=foraging agents=heuristic n=3 env.side=10 env.max_level=3",
    "env=foraging agents=heuristic n=4 env.foods=4",
    "env=overcooked agents=heuristic n=2 env.soups=1 env.layout=asymmetric_advantages",
    "env=overcooked agents=heuristic n=2 env.soups=1 env.layout=coordination_ring",
)
_RULES = (
    "env=cube agents=heuristic n=6",
    "env=cube agents=heuristic n=3 env.side=12 env.blocks={1:6,2:2}",
    "env=cube agents=heuristic n=2 env.side=10 env.blocks={1:3,2:1}",
    "env=cube agents=heuristic n=3 env.side=9 env.blocks={1:1,2:2}",
    "env=cube agents=heuristic n=5 env.side=13 env.blocks={1:2,2:2,3:1}",
    "env=cube agents=negotiator agents.patience=300 topology=decentralized n=4 env.side=11 env.blocks={1:2,2:2}",
    "env=foraging agents=heuristic n=2 env.side=7 env.foods=4",
    "env=overcooked agents=heuristic n=2 env.soups=1 env.layout=coordination_ring",
)
FAULTLESS = {
    "short": _RULES,
    "faster": _RULES,
    "chaotic": (
        "env=cube agents=naive llm=simulated_faults topology=chain n=2 env.side=9 env.blocks={1:3}",
        "env=cube agents=naive llm=simulated_calibrated n=3 env.side=8 env.blocks={1:2,2:1}",
    ),
    "chance": (
        "env=cube agents=random n=3 env.side=7 env.blocks={1:1}",
        "env=cube agents=random n=2 env.side=8 env.blocks={1:1}",
        "env=foraging agents=random n=3 env.side=7",
    ),
}
"""The configurations of failures without a fault, by kind: see `faultless.py`."""


@fault("starts_alone")
def starts_alone(moment: Moment) -> Thought | None:
    """Push without the meeting that the others wait for, and do not stop."""
    plan = moment.plan
    if plan is None or not any(isinstance(action, Rendezvous) and action.count > 1 for action in plan.actions):
        return None
    return moment.act(
        *(
            action.model_copy(update={"timeout": FOREVER}) if isinstance(action, PushBlock) else action
            for action in plan.actions
            if not isinstance(action, Rendezvous)
        )
    )


@fault("stops_halfway")
def stops_halfway(moment: Moment) -> Thought | None:
    """Do everything in the plan except its task, and stay there."""
    if moment.plan is None:
        return None
    return moment.act(*(moment.plan.actions[:-1] or moment.plan.actions), *rest(moment.world))


@fault("stands_in_the_way")
def stands_in_the_way(moment: Moment) -> Thought | None:
    """Rest where the others must pass or work."""
    seen, agent = moment.view.observation, moment.view.agent
    if moment.plan is None:
        return None
    if isinstance(seen, SymbolicObservation):
        blocks = [block for block in seen.blocks if block.distance]
        ahead = [MoveToBlock(block=block.id, face=Face.right, timeout=FOREVER) for block in blocks]
        return moment.act(ahead[0], *rest(moment.world), keep=False) if ahead else None
    if isinstance(seen, KitchenObservation):
        cells = [cell for letter in "SP" for at in places(seen.grid, letter) for cell in neighbours(at)]
        free = [cell for cell in cells if cell in seen.reach(agent) and cell not in seen.cells.values()]
        found = (moment.act(WalkTo(row=row, col=col), *rest(moment.world), keep=False) for row, col in free)
        return next((thought for thought in found if thought is not None), None)
    return None


@fault("overestimates_itself")
def overestimates_itself(moment: Moment) -> Thought | None:
    """Try to move the heaviest block alone, and do not stop."""
    seen = moment.view.observation
    if moment.plan is None or not isinstance(seen, SymbolicObservation):
        return None
    heaviest = max(seen.blocks, key=lambda block: block.weight)
    if heaviest.weight == 1:
        return None
    push = PushBlock(block=heaviest.id, steps=max(heaviest.distance, 1), timeout=FOREVER)
    return moment.act(MoveToBlock(block=heaviest.id, face=Face.left), push, keep=False)


@fault("wrong_meeting_place")
def wrong_meeting_place(moment: Moment) -> Thought | None:
    """Wait for the others where they do not come: above the block, or in the cell of row and column exchanged."""
    if moment.plan is None:
        return None
    if isinstance(load := moment.plan.actions[0], Load):
        return moment.act(GoTo(row=load.col, col=load.row), *rest(moment.world))
    waits = {"face": Face.up, "timeout": FOREVER}
    return moment.act(
        *(
            action.model_copy(update=waits) if isinstance(action, MoveToBlock | Rendezvous) else action
            for action in moment.plan.actions
        )
    )


@fault("orders_too_many", Act.SPEAK)
def orders_too_many(moment: Moment) -> Thought | None:
    """Claim to everybody that the task needs one more agent than it does."""
    more = [
        replace(draft, content=re.sub(r"with (\d+)", lambda found: f"with {int(found[1]) + 1}", draft.content))
        for draft in moment.thought.messages
    ]
    return None if tuple(more) == moment.thought.messages else replace(moment.thought, messages=tuple(more))

"""The open half: faults that authors of a search may read, and the boards on which they are played."""

from __future__ import annotations

import re
from dataclasses import replace

from benchmarks.attribution.crew import FOREVER
from benchmarks.attribution.faulty import Moment, fault, rest
from cube_env import Face, MoveToBlock, PushBlock, Rendezvous, SymbolicObservation
from lbf_env import ForagingObservation, Load
from maeil.mind import Act, Thought
from maeil.plans import Plan, Task

FIRST_SEED = 0
"""The first board; the others follow."""
BOARDS = (
    "env=cube agents=heuristic n=2 env.side=8 env.blocks={1:2,2:1}",
    "env=cube agents=heuristic n=3 env.side=10 env.blocks={1:3,2:1}",
    "env=cube agents=heuristic n=4 env.side=12",
    "env=cube agents=heuristic n=6 env.side=14 env.blocks={1:3,2:2,3:1}",
    "env=cube agents=heuristic n=4 env.side=14 agents.teams=one env.blocks={1:2,3:2}",
    "env=cube agents=negotiator agents.patience=400 topology=debate n=3 env.side=10 env.blocks={1:2,2:2}",
    "env=cube agents=negotiator agents.patience=400 topology=chain n=4 env.side=12 env.blocks={1:2,2:2,3:1}",
    "env=cube agents=negotiator agents.patience=400 topology=graph n=5 env.side=12 env.blocks={1:2,2:2,3:1}",
    "env=cube agents=negotiator agents.patience=400 topology=centralized n=4 env.side=12 env.blocks={1:2,2:2}",
    "env=cube agents=naive topology=debate n=3 env.side=9 env.blocks={1:2,2:1}",
    "env=cube agents=crew topology=hierarchy n=3 env.side=10 env.blocks={1:3,2:2}",
    "env=cube agents=crew topology=hierarchy n=5 env.side=13 env.blocks={1:3,2:2,3:1}",
    "env=foraging agents=heuristic n=2",
    "env=foraging agents=heuristic n=3",
    "env=foraging agents=heuristic n=4 env.coop=true env.side=9",
    "env=overcooked agents=heuristic n=2 env.soups=1 env.layout=cramped_room",
    "env=transport agents=naive topology=debate n=4",
)
"""The configuration, without seed and limit."""
_RULES = (
    "env=cube agents=heuristic n=4",
    "env=cube agents=heuristic n=2 env.side=10 env.blocks={1:6,2:2}",
    "env=cube agents=heuristic n=2 env.side=8 env.blocks={1:2,2:1}",
    "env=cube agents=heuristic n=3 env.side=10 env.blocks={1:3,2:1}",
    "env=cube agents=heuristic n=4 env.side=12",
    "env=cube agents=negotiator agents.patience=400 topology=debate n=3 env.side=10 env.blocks={1:2,2:2}",
    "env=foraging agents=heuristic n=2",
    "env=foraging agents=heuristic n=3",
)
FAULTLESS = {
    "short": _RULES,
    "faster": _RULES,
    "chaotic": (
        "env=cube agents=naive llm=simulated_faults n=2 env.side=8 env.blocks={1:2,2:1}",
        "env=cube agents=naive llm=simulated_calibrated topology=debate n=2 env.side=8 env.blocks={1:3}",
    ),
    "chance": (
        "env=cube agents=random n=2 env.side=6 env.blocks={1:1}",
        "env=cube agents=random n=2 env.side=7 env.blocks={1:2}",
        "env=foraging agents=random n=2",
    ),
}
"""The configurations of failures without a fault, by kind: see `faultless.py`."""
BLOCK = re.compile(r"\bblock_(\d+)\b")


@fault("gives_up")
def gives_up(moment: Moment) -> Thought | None:
    """Do nothing from now on."""
    return None if moment.plan is None else moment.act(*rest(moment.world), keep=False)


@fault("wrong_target")
def wrong_target(moment: Moment) -> Thought | None:
    """Choose a task of another agent's plan, and keep it."""
    seen, plan = moment.view.observation, moment.plan
    if plan is None or plan.task is None:
        return None
    if isinstance(seen, SymbolicObservation):
        other = next((b for b in reversed(seen.blocks) if f"block_{b.id}" != plan.task.target), None)
        if other is None:
            return None
        where = MoveToBlock(block=other.id, face=Face.left, timeout=FOREVER)
        meeting = Rendezvous(block=other.id, face=Face.left, count=other.weight, timeout=FOREVER)
        there = Plan((where, meeting, PushBlock(block=other.id, steps=other.distance)), _deliver(other.id))
        return _committed(moment, there)
    if isinstance(seen, ForagingObservation) and isinstance(own := plan.actions[0], Load):
        foods = sorted(seen.foods, key=lambda food: -food[2])
        row, col, _ = next((food for food in foods if food[:2] != (own.row, own.col)), (own.row, own.col, 0))
        return _committed(moment, Plan((own.model_copy(update={"row": row, "col": col, "patience": 1000}),)))
    return None


@fault("swaps_left_and_right")
def swaps_left_and_right(moment: Moment) -> Thought | None:
    """Carry out the plan on the wrong side."""
    swap = {"left": Face.right, "right": Face.left}
    if moment.plan is None:
        return None
    faces = [getattr(action, "face", None) for action in moment.plan.actions]
    return moment.act(
        *(
            action.model_copy(update={"face": swap[face]}) if face in swap else action
            for face, action in zip(faces, moment.plan.actions, strict=True)
        )
    )


@fault("misreads_a_number")
def misreads_a_number(moment: Moment) -> Thought | None:
    """Believe that the task needs one more agent, and wait for that agent."""
    plan = moment.plan
    meeting = next((a for a in plan.actions if isinstance(a, Rendezvous)), None) if plan is not None else None
    if plan is None or meeting is None:
        return None
    more = meeting.model_copy(update={"count": meeting.count + 1, "timeout": FOREVER})
    return moment.act(*(more if action is meeting else action for action in plan.actions))


@fault("says_another_block", Act.SPEAK)
def says_another_block(moment: Moment) -> Thought | None:
    """Name another block in a report, an order or a claim."""
    seen, drafts = moment.view.observation, moment.thought.messages
    said = [found for draft in drafts for found in BLOCK.findall(draft.content)]
    if not isinstance(seen, SymbolicObservation) or not said:
        return None
    others = [block.id for block in seen.blocks if str(block.id) != said[0]]
    if not others:
        return None
    false = [
        replace(
            draft,
            content=BLOCK.sub(lambda m: f"block_{others[-1]}" if m[1] == said[0] else m[0], draft.content),
            task=_deliver(others[-1]) if draft.task is not None else None,
        )
        for draft in drafts
    ]
    return replace(moment.thought, messages=tuple(false))


def _deliver(block: int) -> Task:
    return Task("deliver", f"block_{block}")


def _committed(moment: Moment, plan: Plan) -> Thought | None:
    """Return the same thought with another plan; None if the world does not allow it."""
    return None if moment.world.check_plan(moment.view.agent, plan) else replace(moment.thought, decision=plan)

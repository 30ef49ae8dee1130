"""Symbolic actions on hand-drawn boards: what becomes of scripted plans in the real loop."""

from __future__ import annotations

from cube_env import Idle, Wait
from cube_env.symbolic.shown import TEXT_LIMITS
from cube_env.world import CubeConfig, CubeWorld
from maeil import Plan, SymbolicAction, Thought
from tests.cube_env.boards import board as drawn
from tests.maeil.scripted import Scripted, lines, play

OPEN = """
    ........|
    0.......|
    ...AA...|
    ...AA...|
    ........|
    1.......|
    ........|
    ........|
    ........|
"""


def world(board: str, max_steps: int = 60, *, vocabulary: str = "cube", reward: str = "default") -> CubeWorld:
    """CUBE on a drawn board, set back to its start."""
    board = drawn(board)
    agents = len({c for c in board if c.isdigit()})
    cube = CubeWorld(
        CubeConfig(
            name="cube", n=agents, level=None, side=None, blocks=None, layout=board + "\n", max_steps=max_steps,
            step_cost=0.01, deliver_reward=1.0, reward=reward, vocabulary=vocabulary,
            allow_unsolvable=True, text=TEXT_LIMITS, weights="halving", observation="text",
        )
    )  # fmt: skip
    cube.reset(0)
    return cube


def act(
    board: str, *plans: list[SymbolicAction], steps: int = 60, vocabulary: str = "cube"
) -> tuple[CubeWorld, list[str]]:
    """Let every agent carry out its plan and then idle; give the world and the ends of all actions but idling."""
    cube = world(board, steps, vocabulary=vocabulary)
    idle = Idle(steps=1000) if vocabulary == "cube" else Wait(steps=1000)
    minds = [Scripted(Thought(Plan(tuple(plan))), Thought(Plan((idle,)))) for plan in plans]
    events = play(minds, cube)
    ends = [
        e
        for e in events
        if e.event.kind == "action" and e.event.status != "started" and e.event.action not in ("idle", "wait")
    ]
    return cube, [line.split(": ", 1)[0].split(" ")[0] + " " + line.split(": ", 1)[1] for line in lines(ends, "action")]


def drive(cube: CubeWorld, *actions: SymbolicAction, ticks: int = 60) -> list[str]:
    """Carry out one action for each agent, past all checks; give how each ended after how many steps.

    All that the loop would see is asked in its order; an agent whose action has ended stays.
    """
    controllers = [cube.start_action(agent, action) for agent, action in enumerate(actions)]
    ends = [""] * len(actions)
    for tick in range(ticks + 1):
        changed = True
        while changed:
            changed = False
            for agent, controller in enumerate(controllers):
                end = None if ends[agent] else controller.status()
                if end is not None:
                    controller.close()
                    ends[agent] = f"{tick} {end.status} {end.reason}".strip()
                    changed = True
        if all(ends):
            break
        cube.step([0 if ends[agent] else controller.act() for agent, controller in enumerate(controllers)])
    return ends

"""What the two predictors of repair expect of plans, against what really happens: precision and recall.

Teams get plans at random that the world accepts: many for one task, for a wrong number of agents, with waits that are
too short, from the wrong side, or for what is out of reach. A predictor judges them before they begin; then they are
carried out, and whoever is through does nothing more.

python benchmarks/repair_predictors.py --plans 200
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Sequence

import numpy as np

import crafter_env
import cube_env
from maeil import Act, LoopSettings, Plan, Resume, Task, Thought, View, World, run_episode
from maeil.extensions.repair.gate import Predictor, Repair, RepairConfig
from maeil.extensions.repair.metrics import judged_groups
from maeil.trace import Recorder, Stamped
from maeil.trace.reader import Trace
from quorum.agents.skills import skills_of
from quorum.experiments.configuration.cell import Cell
from quorum.experiments.episode.building import no_models
from quorum.experiments.episode.parts import build
from quorum.topologies.plain import Individual

PREDICTORS: tuple[Predictor, ...] = ("heuristic", "exact")
STEPS = 60
"""Environment steps in which the plans are carried out."""

Draw = Callable[[World, int, np.random.Generator], Plan]
"""Draws a plan of an agent."""


class Once:
    """Commits one plan, goes on with it whatever it hears, and then does nothing.

    Args:
        plan: the plan.
        world: that has a way to do nothing.
    """

    def __init__(self, plan: Plan, world: World) -> None:
        self._plan: Plan | None = plan
        self._idle = Plan((world.idle,) * STEPS)

    async def think(self, view: View) -> Thought:
        """Answer a turn."""
        if Act.PLAN not in view.turn.acts:
            return Thought()
        if view.plan is not None:
            return Thought(Resume.RESUME)
        plan, self._plan = self._plan or self._idle, None
        return Thought(plan)


def cube_plan(world: World, agent: int, rng: np.random.Generator) -> Plan:  # noqa: ARG001 - any block is in reach
    """Draw a delivery: mostly from the left, with a meeting or without, some with a wait or a blind walk before."""
    seen = world.global_observation()
    assert isinstance(seen, cube_env.SymbolicObservation)
    block = seen.blocks[rng.integers(min(len(seen.blocks), 3))]
    face = cube_env.Face.left if rng.random() < 0.8 else list(cube_env.Face)[rng.integers(4)]
    actions: list[cube_env.MoveToBlock | cube_env.Rendezvous | cube_env.PushBlock | cube_env.Idle | cube_env.Move] = []
    if rng.random() < 0.3:
        actions.append(cube_env.Idle(steps=int(rng.integers(1, 8))))
    if rng.random() < 0.2:
        way = list(cube_env.Direction)[rng.integers(4)]
        actions.append(cube_env.Move(direction=way, steps=int(rng.integers(1, 4))))
    actions.append(cube_env.MoveToBlock(block=block.id, face=face))
    if rng.random() < 0.6:
        count = int(np.clip(block.weight + rng.integers(-1, 2), 1, len(seen.agents)))
        actions.append(cube_env.Rendezvous(block=block.id, face=face, count=count, timeout=int(rng.integers(1, 25))))
    actions.append(cube_env.PushBlock(block=block.id, steps=int(rng.integers(1, 6)), timeout=int(rng.integers(1, 12))))
    return Plan(tuple(actions), Task("deliver", f"block_{block.id}"))


def crafter_plan(world: World, agent: int, rng: np.random.Generator) -> Plan:
    """Draw a collection of a cell that a teammate or the agent itself sees, with few or many tries."""
    seen = [world.observe(other) for other in (agent, 0)]
    found = []
    for observation in seen:
        assert isinstance(observation, crafter_env.CrafterObservation)
        found += [(kind, identity) for kind in ("tree", "stone") for identity in observation.visible.get(kind, ())[:3]]
    actions: list[crafter_env.Noop | crafter_env.Navigate | crafter_env.Collect] = []
    if rng.random() < 0.3 or not found:
        actions.append(crafter_env.Noop(steps=int(rng.integers(1, 6))))
    if found:
        kind, identity = found[rng.integers(len(found))]
        resource = crafter_env.Resource.wood if kind == "tree" else crafter_env.Resource.stone
        if rng.random() < 0.8:
            actions.append(crafter_env.Navigate(target=crafter_env.Target(kind), id=identity))
        actions.append(crafter_env.Collect(resource=resource, target=identity, steps=int(rng.integers(1, 10))))
    return Plan(tuple(actions))


WORLDS: dict[str, tuple[tuple[str, ...], Draw]] = {
    "cube": (("env=cube", "n=4", "env.side=12", "env.blocks={1:2,2:2}"), cube_plan),
    "crafter": (
        ("env=crafter_coop", "n=3", "env.profile=coop2", "env.level=coop2", "env.thresholds={wood:2,stone:2}"),
        crafter_plan,
    ),
}
"""By world: its configuration, and what draws plans for it."""


def draw_team(world: World, draw: Draw, rng: np.random.Generator) -> list[Plan]:
    """Draw a plan for each agent that the world accepts."""
    plans = []
    for agent in range(len(world.agents)):
        tries = (draw(world, agent, rng) for _ in range(50))
        plans.append(next((p for p in tries if not world.check_plan(agent, p)), Plan((world.idle,))))
    return plans


def judge(world: World, plans: Sequence[Plan], seed: int, predictor: Predictor) -> Counter[str]:
    """Have a predictor judge plans, carry them out, and count."""
    settings = RepairConfig(
        mode="notice", predictor=predictor, horizon=STEPS, cooldown=10_000, guidance=False, order="ascending",
        verifications=1,
    )  # fmt: skip
    events: list[Stamped] = []
    with Recorder(None, [events.append]) as recorder:
        asyncio.run(
            run_episode(
                world,
                [Once(plan, world) for plan in plans],
                Individual(),
                seed=seed,
                settings=LoopSettings(max_thoughts_per_step=100),
                recorder=recorder,
                extensions=[Repair(settings, skills_of(world.name).repair(world))],
            )
        )
    count: Counter[str] = Counter()
    for group in judged_groups(Trace(tuple(events))):
        if group.happened is None:
            continue
        count["groups"] += 1
        count["tp"] += len(group.expected & group.happened)
        count["fp"] += len(group.expected - group.happened)
        count["fn"] += len(group.happened - group.expected)
        count["flagged"] += bool(group.expected)
        count["broken"] += bool(group.happened)
        count["both"] += bool(group.expected) and bool(group.happened)
    return count


def measure(name: str, seeds: Iterable[int]) -> dict[str, Counter[str]]:
    """Judge the plans of a team of a world for each seed with each predictor."""
    words, draw = WORLDS[name]
    found = {predictor: Counter[str]() for predictor in PREDICTORS}
    world = build(Cell.compose([*words, f"max_steps={STEPS}"]), no_models).world
    for seed in seeds:
        world.reset(seed)
        team = draw_team(world, draw, np.random.default_rng(seed))
        for predictor in PREDICTORS:
            found[predictor] += judge(world, team, seed, predictor)
    return found


def share(part: int, whole: int) -> float | None:
    """Return a share; None of nothing."""
    return round(part / whole, 3) if whole else None


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure all worlds and print a table in Markdown, or everything as JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--plans", type=int, default=200, help="teams of plans a world")
    parser.add_argument("--world", choices=WORLDS, action="append")
    parser.add_argument("--json", action="store_true")
    wanted = parser.parse_args(arguments)
    rows = []
    for name in wanted.world or WORLDS:
        for predictor, count in measure(name, range(wanted.plans)).items():
            rows.append(
                {
                    "world": name,
                    "predictor": predictor,
                    "groups": count["groups"],
                    "violations": count["tp"] + count["fn"],
                    "precision": share(count["tp"], count["tp"] + count["fp"]),
                    "recall": share(count["tp"], count["tp"] + count["fn"]),
                    "group precision": share(count["both"], count["flagged"]),
                    "group recall": share(count["both"], count["broken"]),
                }
            )
    if wanted.json:
        print(json.dumps(rows))
        return 0
    print("|", " | ".join(rows[0]), "|")
    print("|", " | ".join("---" for _ in rows[0]), "|")
    for row in rows:
        print("|", " | ".join(str(value) for value in row.values()), "|")
    return 0


if __name__ == "__main__":
    sys.exit(main())

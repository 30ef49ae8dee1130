"""Difference rewards: what the team would have lost without an agent, had all others acted as they did.

D_i(t) = G(run) - G(the run in which agent i idles from step t on): the wonderful life utility of Wolpert and Tumer,
"Optimal payoff functions for members of collectives" (Advances in Complex Systems 4, 2001), with idling as the null
action; Agogino and Tumer, "Analyzing and visualizing multiagent rewards in dynamic and stochastic domains" (JAAMAS 17,
2008), call it the difference reward. The joint actions of the others are those of the trace, so no mind is asked, and
in a world without luck the value is exact whatever the minds are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import fsum
from typing import Any

from maeil import World
from maeil.errors import ChangeRefused
from maeil.extensions.change import WorldChange, change_world
from maeil.metrics.credit import Utility
from maeil.trace.events import StepTaken
from maeil.user_errors import UserError
from maeil.world import DrawsLots
from quorum.experiments.common.sanitize import sanitize
from quorum.experiments.results.recorded_episode import RecordedEpisode

Joint = Sequence[int]
"""A primitive for each agent."""


def difference_rewards(episode: RecordedEpisode, begin: int = 0) -> list[Utility]:
    """Return what the team lost without each agent, by index.

    A run without an agent that ends before the recorded one has what it had then; one that would go on longer is left
    where the recorded joint actions end.

    Args:
        episode: whole, or as far as a killed run came.
        begin: the step from which on the agent idles.

    Raises:
        UserError: the world draws lots or cannot be brought back, or there is no such step.
    """
    steps = list(episode.trace.of(StepTaken))
    if begin and begin >= len(steps):
        raise UserError(f"{episode.folder}: --from {begin}: its last step is {len(steps) - 1}")
    world = episode.world()
    refuse_luck(world, str(episode.folder))
    for _ in episode.replay(world):
        pass  # the world is held against the record
    whole = _utility([step.reward for step in steps], world)
    joints = [step.joint for step in steps]
    seed = episode.trace.start.seed
    changes = [(stamped.t, stamped.event.changes) for stamped in episode.trace.stamped(WorldChange)]  # type: ignore[attr-defined]
    try:
        return [
            whole - utility_without(agent, world, seed, joints, begin, changes=changes)
            for agent in range(len(world.agents))
        ]
    except ChangeRefused as error:
        raise UserError(
            f"{episode.folder}: --credit agent: the world was changed in it, which cannot be done without an agent: "
            f"{sanitize(str(error), 400)}"
        ) from error


def utility_without(
    agent: int,
    world: World,
    seed: int,
    joints: Sequence[Joint],
    begin: int = 0,
    *,
    changes: Sequence[tuple[int, Mapping[str, Any]]] = (),
) -> Utility:
    """Play a run once more, in which an agent idles, and return what it is worth.

    Args:
        agent: its index.
        world: of the run; it is reset.
        seed: of the run.
        joints: the joint actions of the run, one a step.
        begin: the step from which on the agent idles.
        changes: of the world from outside, each with the step at whose begin it was.

    Raises:
        ChangeRefused: without the agent, the world is in a state in which it refuses a change.
    """
    world.reset(seed)
    rewards: list[float] = []
    for t in range(len(joints) + 1):
        for at, changed in changes:
            if at == t:
                change_world(world, changed)
        if t == len(joints):
            break
        transition = world.step(_idling(agent, world, joints[t]) if t >= begin else joints[t])
        rewards.append(transition.reward)
        if transition.terminated or transition.truncated:
            break
    return _utility(rewards, world)


def _idling(agent: int, world: World, joint: Joint) -> Joint:
    """Return a joint action in which the agent does what the world's idle action does now."""
    action = world.start_action(agent, world.idle)
    changed = list(joint)
    if (end := action.status()) is not None:
        raise ValueError(f"world '{world.name}': its idle action ends before its first tick ({end.reason})")
    changed[agent] = action.act()
    action.close()
    return changed


def _utility(rewards: Sequence[float], world: World) -> Utility:
    progress = world.progress()
    return Utility(fsum(rewards), progress.reached, progress.score)


def refuse_luck(world: World, run: str) -> None:
    """Refuse a world in which what another agent does changes who is lucky.

    Raises:
        UserError: its rules draw lots.
    """
    if isinstance(world, DrawsLots):
        raise UserError(
            f"{run}: --credit: the rules of '{world.name}' draw lots from one stream: after the first difference all "
            "that is drawn is another, so what a run without an agent or a message is worth would be luck, too",
            "Compare teams over many seeds instead, or ask in a world without luck: cube, transport, squeeze.",
        )

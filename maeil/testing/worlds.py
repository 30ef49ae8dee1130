"""Checks a world against every rule of `maeil.world.World`, in episodes with sampled plans."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random
from typing import Any

from maeil.actions import SymbolicAction
from maeil.errors import ContractError, InvalidThought
from maeil.testing.answers import ASKING, BrokenContract, Contract, Record, look
from maeil.testing.changes import check_changes
from maeil.testing.episodes import Episode, replay
from maeil.testing.sampling import ActionSampler
from maeil.testing.steps import constraints, idle, start_idling
from maeil.world import (
    World,
    require_world,
)

SAMPLES = 3
"""Number of sampled actions of each kind for the JSON round trip."""

FRESH = "reset() depends on its seed alone, not on what was played before"


def check_world(
    world: World,
    *,
    actions: Sequence[SymbolicAction] = (),
    changes: Sequence[Mapping[str, Any]] = (),
    seeds: Sequence[int] = (0, 1),
    steps: int = 50,
) -> None:
    """Check that a world fulfils its contract, in the spirit of PettingZoo's `parallel_api_test`.

    The check samples plans from the schemas of the vocabulary, and executes them like the loop. It runs each episode
    twice, with others in between, and then replays it from its joint actions.

    Args:
        world: any world; it is reset many times.
        actions: examples of actions with a schema that does not describe all valid values (the name of a place, for
            example). Plans choose from them; other actions are sampled.
        changes: examples for a world that supports external changes (`maeil.world.Changeable`), each possible after one
            idle step, for any seed.
        seeds: seeds of the boards.
        steps: maximum number of steps in an episode.

    Raises:
        BrokenContract: the world breaks a rule; the message names the rule, the seed, the step, and the value found.
        ValueError: an action can neither be sampled nor chosen from examples.
    """
    contract = Contract(f"world {getattr(world, 'name', world)!r}")
    try:
        _check_names(contract, world)
        _check_episodes(contract, world, ActionSampler(world.vocabulary, actions), seeds, steps)
        for seed in seeds:
            check_changes(contract, world, changes, seed)
    except BrokenContract:
        raise
    except Exception as error:
        error.add_note(f"check_world was at {contract.place}")
        raise


def _check_episodes(contract: Contract, world: World, sampler: ActionSampler, seeds: Sequence[int], steps: int) -> None:
    _check_vocabulary(contract, world, sampler)
    facts = _facts(contract, world)
    episodes = []
    boards = _check_resets(contract, world, seeds)
    for seed, board in zip(seeds, boards, strict=True):
        _check_first_states(contract, world, seed)
        episodes.append(Episode(contract, world, sampler, seed).play(steps))
        contract.compare(board, _reset(contract, world, seed), FRESH)
    for first in episodes:
        again = Episode(contract, world, sampler, first.seed).play(steps)
        contract.place = f"world {world.name!r}, seed {first.seed}"
        contract.compare(first.record, again.record, "the same seed and plans give the same episode")
        frames, active = replay(contract, world, first)
        contract.compare(first.frames, frames, "seed and joint actions alone reproduce the episode")
        rule = "constraints() returns a task when it becomes active, and with threshold 0 when it has ended"
        contract.require(
            active == first.active, rule, f"{first.active} step by step, {active} if called only at the end"
        )
    contract.compare(facts, _facts(contract, world), "prompt_facts() depend on the configuration alone")


def _check_names(contract: Contract, world: World) -> None:
    try:
        require_world(world)
    except ContractError as error:
        raise BrokenContract(contract.place, "a world has every member that maeil.World requires", str(error)) from None
    contract.require(isinstance(world.name, str) and world.name != "", "name is a text that is not empty", world.name)
    agents = world.agents
    named = isinstance(agents, tuple) and all(isinstance(name, str) and name for name in agents)
    contract.require(named and len(set(agents)) == len(agents) > 0, "agents is a tuple of different names", agents)


def _facts(contract: Contract, world: World) -> Record:
    """Record the result of `prompt_facts` as JSON."""
    return [("prompt_facts()", contract.json(world.prompt_facts(), "prompt_facts()"))]


def _check_vocabulary(contract: Contract, world: World, sampler: ActionSampler) -> None:
    for agent in range(len(world.agents)):
        own = world.vocabulary.of(agent)
        contract.require(world.idle in own, "idle is an action of the vocabulary of every agent", world.idle)
    rng = Random(0)
    drawn = [sampler.action(model, rng) for model in world.vocabulary for _ in range(SAMPLES)]
    for action in (world.idle, *drawn):
        try:
            read: object = world.vocabulary.parse(action.model_dump(mode="json"))
        except InvalidThought as error:
            read = error
        contract.require(read == action, "the vocabulary reads an action back from its JSON", f"{action!r} as {read!r}")


def _check_resets(contract: Contract, world: World, seeds: Sequence[int]) -> list[Record]:
    """Check that a reset depends on its seed only, and return the record of each seed."""
    found = []
    for seed in (*seeds, *seeds):
        found.append(_reset(contract, world, seed))
        idle(contract, world)
    for seed, before, after in zip(seeds, found, found[len(seeds) :], strict=False):
        contract.place = f"world {world.name!r}, seed {seed}"
        contract.compare(before, after, FRESH)
    return found[: len(seeds)]


def _reset(contract: Contract, world: World, seed: int) -> Record:
    """Start an episode, and record everything that is visible then."""
    contract.place = f"world {world.name!r}, seed {seed}, step 0"
    board = contract.json(world.reset(seed), "the board")
    seen = look(contract, world, 0)
    contract.compare(seen, look(contract, world, 0), ASKING)
    return [("reset()", board), *seen]


def _check_first_states(contract: Contract, world: World, seed: int) -> None:
    """Check that the first call of `constraints` after a reset does not depend on earlier calls."""
    found = []
    for feedback in (False, False, True):
        contract.place = f"world {world.name!r}, seed {seed}"
        world.reset(seed)
        if feedback:
            world.open_tasks([None] * len(world.agents))
        controllers, joint = start_idling(contract, world)
        found.append(constraints(contract, world, joint, [None] * len(joint)))
        for controller in controllers:
            controller.close()
    rule = "constraints() returns every active task at its first call after a reset"
    contract.require(found[0] == found[1], rule, f"{found[0]} after the first reset, {found[1]} after the second")
    rule = "open_tasks() does not change what constraints() returns"
    contract.require(found[0] == found[2], rule, f"{found[0]} without it, {found[2]} after it")

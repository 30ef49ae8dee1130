"""Hand-made worlds for tests of single rules."""

from __future__ import annotations

from dataclasses import replace

from crafter_env import PROFILES, Action, CrafterEnv, Item, Layout, Level, Outcome

QUIET = replace(PROFILES["coop"], name="quiet", mobs=False)
"""The rules of `coop` on boards without monsters."""


def world(drawing, inventories=None, *, profile=QUIET, level=None, **arguments):
    """An environment at the beginning of an episode on a drawn world."""
    layout = Layout.parse(drawing, inventories)
    env = CrafterEnv(layout=layout, profile=profile, level=level or Level("test"), **arguments)
    env.reset(seed=0)
    return env


def act(env, *actions) -> list[Outcome]:
    """Take one step, each agent its own action; the last one given counts for the rest. Give the outcomes."""
    joint = {name: actions[min(i, len(actions) - 1)] for i, name in enumerate(env.possible_agents)}
    env.step(joint)
    return [env.outcome(name) for name in env.possible_agents]


def bag(env, agent):
    """What an agent holds but for its needs, by item name."""
    amounts = env.crafter_state.inventory[agent].tolist()
    return {item.name: amounts[item] for item in Item if item > Item.energy and amounts[item]}


DO, NOOP = Action.do, Action.noop

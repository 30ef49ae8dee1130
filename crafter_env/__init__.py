"""The multi-agent open world: Crafter's rules for a team, kernels and the PettingZoo environment.

- To play: `CrafterEnv` (PettingZoo, dictionaries by agent) and `CrafterVecEnv` (a batch in one compiled call).
- To choose the rules: `Profile` and `Level`, by name in `PROFILES` and `LEVELS`; `Layout` draws a world by hand.
- To act: `Action` is what an agent does in a step; `share(recipient, item, quantity)` builds the one with arguments.
- To know what came of it: `CrafterEnv.outcome(agent)` is an `Outcome`: a `Result` with the numbers of a failure in it
  (agents required, present and capable, the tool or input that is missing). What agents do never raises, unless it is
  no action at all.
- To look: `CrafterEnv.crafter_state` is a `CrafterState`, typed access to the live arrays: positions, facing, sleeping,
  alive, inventory, achievements, materials, creatures, daylight, step, and `view(agent)`, the `LocalView` that an agent
  has. `COLLECT`, `PLACE` and `MAKE` are the recipes, `Level.threshold(material, n)` the agents that a resource takes.
- To go back: `CrafterEnv.save()` and `load()`; `CrafterState.copy()` and `restore()` without the series of episodes.

Each name is imported when it is first used, so that the light ones stay light; `__init__.pyi` lists them. The import
registers `quorum/Crafter-v0` with Gymnasium.
"""

import lazy_loader

from quorum_base.environments.registration import register_with_gymnasium as _register_with_gymnasium

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

_register_with_gymnasium("quorum/Crafter-v0", "crafter_env.team:CrafterTeamEnv", "crafter_env.team:CrafterTeamVecEnv")

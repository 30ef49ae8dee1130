"""The multi-agent open world: Crafter's rules for a team, kernels and the PettingZoo environment.

- Environments: `CrafterEnv` (PettingZoo, dictionaries by agent) and `CrafterVecEnv` (a batch in one compiled call).
- Rules: `Profile` and `Level`, by name in `PROFILES` and `LEVELS`; `Layout` describes a world by hand.
- Actions: `Action` is what an agent does in a step; `share(recipient, item, quantity)` builds the one with arguments.
- Results: `CrafterEnv.outcome(agent)` is an `Outcome`: a `Result` with the numbers of a failure (agents required,
  present and capable, the missing tool or input). A valid action never raises.
- State: `CrafterEnv.crafter_state` is a `CrafterState`, typed access to the live arrays: positions, facing, sleeping,
  alive, inventory, achievements, materials, creatures, daylight, step, and `view(agent)`, an agent's `LocalView`.
  `COLLECT`, `PLACE` and `MAKE` are the recipes; `Level.threshold(material, n)` is the number of agents that a resource
  requires.
- Checkpoints: `CrafterEnv.save()` and `load()`; `CrafterState.copy()` and `restore()`, without the series of episodes.

Names are imported on first use, so the light modules stay light; `__init__.pyi` lists them. Importing the package
registers `quorum/Crafter-v0` with Gymnasium.
"""

import lazy_loader

from quorum_base.environments.registration import register_with_gymnasium as _register_with_gymnasium

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

_register_with_gymnasium("quorum/Crafter-v0", "crafter_env.team:CrafterTeamEnv", "crafter_env.team:CrafterTeamVecEnv")

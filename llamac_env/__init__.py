"""The two worlds of the LLaMAC paper: grid transportation (`transport`) and the Gaussian squeeze (`squeeze`).

- Environments: `TransportEnv` and `SqueezeEnv` (PettingZoo, dictionaries by agent, with action masks).
- States of grid transportation: `Board`, immutable, on a `Grid`: `available(agent)`, `refusal(agent, move)` with a
  `FailureCode`, `after(joint)`, which returns a `Step`. `TransportObservation.to_board()` builds one from an agent's
  observation.
- The paper's text: `read_joint`, `write_joint`, `read_board`, `write_board`, `observation_line`.
- Optimal number of steps: `bracket`, and `solve` with the extra `optimum`; `load_instances` returns the frozen boards
  of the benchmark with optimum and plan; `replay` executes a plan.
- The squeeze: `Game` has the reward of a round and the best sum; `curve` evaluates a run of rounds.

Names are imported on first use, so the light modules stay light; `__init__.pyi` lists them. Importing the package
registers `quorum/Transport-v0` and `quorum/Squeeze-v0` with Gymnasium.
"""

import lazy_loader

from quorum_base.environments.registration import register_with_gymnasium as _register_with_gymnasium

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

_register_with_gymnasium("quorum/Transport-v0", "llamac_env.team:TransportTeamEnv", "llamac_env.team:transport_teams")
_register_with_gymnasium("quorum/Squeeze-v0", "llamac_env.team:SqueezeTeamEnv")

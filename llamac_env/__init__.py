"""The two worlds of the LLaMAC paper: grid transportation (`transport`) and the Gaussian squeeze (`squeeze`).

- To play: `TransportEnv` and `SqueezeEnv` (PettingZoo, dictionaries by agent, with action masks).
- To reason about a state of grid transportation: `Board`, immutable, on a `Grid`: `available(agent)`,
  `refusal(agent, move)` with a `FailureCode`, `after(joint)`, which gives a `Step`.
  `TransportObservation.to_board()` makes one of what an agent sees.
- To read and write the paper's text: `read_joint`, `write_joint`, `read_board`, `write_board`, `observation_line`.
- To know how few steps a board takes: `bracket`, and `solve` with the extra `optimum`; `load_instances` gives the
  frozen boards of the benchmark with optimum and plan; `replay` carries a plan out.
- The squeeze: `Game` is what a round pays and what pays best, `curve` judges a run of rounds.

Each name is imported when it is first used, so that the light ones stay light; `__init__.pyi` lists them. The import
registers `quorum/Transport-v0` and `quorum/Squeeze-v0` with Gymnasium.
"""

import lazy_loader

from quorum_base.environments.registration import register_with_gymnasium as _register_with_gymnasium

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

_register_with_gymnasium("quorum/Transport-v0", "llamac_env.team:TransportTeamEnv", "llamac_env.team:transport_teams")
_register_with_gymnasium("quorum/Squeeze-v0", "llamac_env.team:SqueezeTeamEnv")

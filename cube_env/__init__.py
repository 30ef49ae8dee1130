"""The block-pushing grid world: rules, kernels and the PettingZoo environment.

Names are imported on first use, so the light modules stay light; `__init__.pyi` lists them. Importing the package
registers `quorum/Cube-v0` with Gymnasium.
"""

import lazy_loader

from quorum_base.environments.registration import register_with_gymnasium as _register_with_gymnasium

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

_register_with_gymnasium("quorum/Cube-v0", "cube_env.team:CubeTeamEnv", "cube_env.vector:CubeVecEnv")

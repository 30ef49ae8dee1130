"""The block-pushing grid world: rules, kernels and the PettingZoo environment.

Each name is imported when it is first used, so that the light ones stay light; `__init__.pyi` lists them.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

"""The multi-agent environment interaction loop (MAEIL): two clocks, plans, messages, and a trace.

The environment's clock `t` counts primitive steps. The cognitive clock `t_hat` runs while the environment is paused,
and orders everything that agents think and say. Source: EmCoop (arXiv 2603.00349).

Names are imported on first use; `__init__.pyi` lists them.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

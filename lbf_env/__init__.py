"""Level-based foraging (`foraging`): the environment of the package `lbforaging`, joined to the loop.

The rules, the draw of a field, the rewards and what agents see are those of the package's `ForagingEnv`, which is
imported when a world is built (extra `lbf`). Here are the names by which minds read a field and write plans:
`ForagingObservation` and its cells, and the symbolic actions.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

"""Level-based foraging (`foraging`): connects the environment of the package `lbforaging` to the main loop.

Rules, generation of fields, rewards and observations are those of the package's `ForagingEnv`, imported when a world is
built (extra `lbf`). This package exports the names that minds use to read a field and write plans:
`ForagingObservation` and its cells, and the symbolic actions.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

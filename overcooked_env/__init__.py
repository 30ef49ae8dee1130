"""Overcooked (`overcooked`): connects the kitchen of the package `overcooked-ai` to the main loop.

Rules, layouts and rewards are those of the package's `OvercookedGridworld`, imported when a world is built (extra
`overcooked`). This package exports the names that minds use to read a kitchen and write plans: `KitchenObservation` and
its cells, and the symbolic actions.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

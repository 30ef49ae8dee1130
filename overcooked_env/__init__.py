"""Overcooked (`overcooked`): the kitchen of the package `overcooked-ai`, joined to the loop.

The rules, the layouts and the rewards are those of the package's `OvercookedGridworld`, which is imported when a world
is built (extra `overcooked`). Here are the names by which minds read a kitchen and write plans:
`KitchenObservation` and its cells, and the symbolic actions.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

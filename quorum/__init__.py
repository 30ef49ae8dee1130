"""Python API of Quorum (quorum-harness): run an episode, run a sweep, read results as a table, compare them.

The functions take the same arguments as the command's verbs, and do the same. The guide is `docs/python.md`. Heavy
modules are imported only when a name is used.
"""

import sys
from typing import Any

if sys.argv[:1] == ["-m"] and "quorum" in sys.orig_argv:
    from quorum import _current_folder  # noqa: F401 (must come before any import that the current folder could shadow)

import lazy_loader

_core_name, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)


def __getattr__(name: str) -> Any:
    """Return a name of the core, or one that a satellite offers in the group `python` of its `components.json`."""
    from quorum_base.registry import own  # noqa: PLC0415 (only when a name is used)

    offered = None if name in __all__ else own("quorum.python").get(name)
    return _core_name(name) if offered is None else offered.load()

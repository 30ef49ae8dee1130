"""Quorum (quorum-harness) from Python: run an episode, run a sweep, read the results as a table, compare them.

The functions take the words that follow the verbs of the command, and do the same. The guide is `docs/python.md`.
Nothing heavy is imported before a name is used.
"""

import sys

if sys.argv[:1] == ["-m"] and "quorum" in sys.orig_argv:
    from quorum import _current_folder  # noqa: F401 (before anything is imported that could be found there)

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

"""Keeps `python -m quorum` from importing from the current folder, which may be untrusted, like the `quorum` command.

Python puts the current folder first on `sys.path` for a module run with `-m`. The folder stays there if Quorum itself
comes from it, as in a checkout.
"""

import os
import sys

if (
    not sys.flags.safe_path
    and sys.path[:1] == [os.getcwd()]
    and not os.path.samefile(os.path.dirname(os.path.dirname(__file__)), os.getcwd())
):
    del sys.path[0]

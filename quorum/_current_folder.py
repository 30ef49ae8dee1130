"""`python -m quorum` imports nothing from the current folder, which may be untrusted, as the command `quorum`.

Python puts the current folder first on the path of a module that it runs by `-m`. It stays there if Quorum itself comes
from it, as in a checkout.
"""

import os
import sys

if (
    not sys.flags.safe_path
    and sys.path[:1] == [os.getcwd()]
    and not os.path.samefile(os.path.dirname(os.path.dirname(__file__)), os.getcwd())
):
    del sys.path[0]

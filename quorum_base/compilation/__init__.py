"""Compilation of kernels with Numba, for worlds and minds: importing Numba, compiling, and caching compiled code.

Compiled code is cached as pickles, and loading a pickle can run code. So nothing here is read from the current folder,
which may be untrusted: neither Numba's configuration nor its cache.
"""

from quorum_base.compilation.kernels import KernelSet
from quorum_base.compilation.numba_alone import numba

__all__ = ["KernelSet", "numba"]

"""Compilation of kernels with Numba, for worlds and minds: what is imported, what is compiled, and where that is kept.

Compiled code is kept as pickles, and a pickle is code. So nothing here comes from the current folder, which may be
untrusted: neither Numba's configuration nor its cache.
"""

from quorum_base.compilation.kernels import KernelSet
from quorum_base.compilation.numba_alone import numba

__all__ = ["KernelSet", "numba"]

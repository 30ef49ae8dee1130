"""The rules of the open world as Numba kernels; Python calls those of `worlds`."""

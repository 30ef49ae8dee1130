"""The kernels of the planner, what they are compiled by, and the types of their arrays."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from maeil.compilation import KernelSet

Integers = npt.NDArray[np.signedinteger[Any]]
Flags = npt.NDArray[np.bool_]
Numbers = npt.NDArray[np.float64]

KERNELS = KernelSet("cube_planner", sorted(Path(__file__).parent.glob("*.py")))
compiled = KERNELS.compiled

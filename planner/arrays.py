"""The array type the core computes with."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
"""Float64 array: shape (n,) for a scalar line of n scenarios, (n, months) for a series."""

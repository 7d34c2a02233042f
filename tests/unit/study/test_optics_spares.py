"""What a failure keeps waiting."""

from __future__ import annotations

import numpy as np
import pytest

from planner.study.optics_spares import gpus_hit


@pytest.mark.parametrize(("planes", "hit"), [(1.0, 8.0), (2.0, 4.0)])
def test_a_plane_less_halves_what_waits(planes: float, hit: float) -> None:
    found = gpus_hit(
        links=np.array([1.0]),
        gpus_per_node=np.array([8.0]),
        planes=np.array([planes]),
        gpus_max=np.array([512.0]),
    )
    assert found[0] == hit

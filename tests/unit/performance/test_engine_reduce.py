"""All-reduces of serving engines: measured kernels where there are any, the library's where those are faster."""

from __future__ import annotations

import numpy as np
import pytest

from planner.catalog.schema import Accelerator, ScaleUp
from planner.catalog.store import open_catalog
from planner.ledger import Ledger
from planner.performance.assumed import Assumed
from planner.performance.collectives import Collective
from planner.performance.domain import ScaleUpDomain, scale_up_domain
from planner.performance.engine_reduce import engine_reduce

CATALOG = open_catalog()
SIZES = np.geomspace(256.0, 2.0**30, 23)


def domain(accelerator: str, ranks: int) -> ScaleUpDomain:
    entry = CATALOG.entry(Accelerator, accelerator)
    link = CATALOG.entry(ScaleUp, entry.item.scaleup or "")
    return scale_up_domain(Assumed(Ledger(months=1), CATALOG), entry, link, domain_ranks=ranks)


@pytest.mark.parametrize(
    "accelerator", ["h100-sxm5-80gb", "h200-sxm-141gb", "b200-sxm-180gb", "a100-sxm4-80gb"]
)
def test_small_messages_are_quicker_than_the_librarys_and_large_ones_never_slower(accelerator: str) -> None:
    found = engine_reduce(domain(accelerator, 8), "vllm")
    assert found is not None
    ranks = np.array([8.0])
    engine = found.time_s(message_bytes=SIZES, ranks=ranks)
    library = found.library.time_s(Collective.ALL_REDUCE, message_bytes=SIZES, ranks=ranks)
    assert engine[0] < 0.6 * library[0]
    assert np.all(engine <= library)
    assert np.all(np.diff(engine) >= 0.0)


def test_groups_beyond_the_kernels_run_on_the_library() -> None:
    found = engine_reduce(domain("gb200", 72), "vllm")
    assert found is not None
    size, ranks = np.array([1e6]), np.array([72.0])
    library = found.library.time_s(Collective.ALL_REDUCE, message_bytes=size, ranks=ranks)
    np.testing.assert_array_equal(found.time_s(message_bytes=size, ranks=ranks), library)


def test_one_rank_takes_no_time_and_a_batch_equals_its_members() -> None:
    found = engine_reduce(domain("h100-sxm5-80gb", 8), "vllm")
    assert found is not None
    ranks = np.array([1.0, 2.0, 3.0, 8.0])
    together = found.time_s(message_bytes=np.full(4, 1e5), ranks=ranks)
    alone = [found.time_s(message_bytes=np.array([1e5]), ranks=np.array([one]))[0] for one in ranks]
    assert together[0] == 0.0
    np.testing.assert_allclose(together, alone, rtol=1e-12)


def test_an_engine_without_a_measured_kernel_has_none() -> None:
    assert engine_reduce(domain("h100-sxm5-80gb", 8), "llama.cpp") is None
    assert engine_reduce(domain("mi300x", 8), "vllm") is None

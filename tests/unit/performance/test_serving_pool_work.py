"""What the GPUs of separate pools do with their time."""

from __future__ import annotations

import numpy as np
import pytest

from planner.performance.serving_machines import layouts_of, mean_peak_flop_per_s, one_draw
from planner.performance.serving_pool_work import pool_work, prefill_collective_share, sequence_flop
from tests.mixed_plan import WISH, evaluated, value


def test_waiting_is_of_both_pools() -> None:
    found = evaluated(f"{WISH}={{prefill_replica_gpus: 4, decode_replica_gpus: 2}}")
    prefill, decode = (
        value(found, f"pools.{pool}_replicas") * value(found, f"pools.{pool}_replica_gpus")
        for pool in ("prefill", "decode")
    )
    own, other, busy = (
        value(found, f"pools.{name}_fraction")
        for name in ("prefill_communication", "decode_communication", "prefill_busy")
    )
    assert own > 0 and other > 0
    both = (prefill * own * busy + decode * other) / (prefill + decode)
    assert value(found, "communication_fraction") == pytest.approx(both)
    useful = value(found, "goodput_fraction")
    assert found.ledger.scalar("outcome.parts.exposed_communication_fraction") == pytest.approx(useful * both)
    # a prompt on one GPU has nobody to talk to
    assert value(evaluated(), "pools.prefill_replica_gpus") == 1
    assert value(evaluated(), "pools.prefill_communication_fraction") == 0.0


def test_utilisation_of_the_pools_adds_up_to_that_of_the_plan() -> None:
    found = evaluated()
    assert found.built is not None
    served = found.built.performance.served[0]
    pools = served.pools
    assert pools is not None
    peaks = [float(one.server.chip.peak_flop_per_s[0]) for one in served.placed]
    flop = value(found, "pools.prefill_mfu_fraction") * pools.prefill_gpus * peaks[0]
    flop += value(found, "pools.decode_mfu_fraction") * pools.decode_gpus * peaks[1]
    mean = float(mean_peak_flop_per_s(served.placed)[0])
    assert mean == pytest.approx(sum(peaks) / 2)
    assert value(found, "mfu_fraction") == pytest.approx(flop / (512 * mean), rel=1e-9)


def test_what_pools_do_follows_from_their_machines() -> None:
    found = evaluated()
    assert found.built is not None
    served = found.built.performance.served[0]
    pools, one = served.pools, np.ones(1)
    assert pools is not None
    prefill, decode = (one_draw(each.server) for each in served.placed)
    work = pool_work(pools, prefill, decode, served.requests, rate_per_s=100 * one, batch_sequences=50 * one)
    twice = pool_work(pools, prefill, decode, served.requests, rate_per_s=200 * one, batch_sequences=50 * one)
    assert twice.prefill_mfu_fraction[0] == pytest.approx(2 * work.prefill_mfu_fraction[0])
    assert (
        prefill_collective_share(prefill, pools.prefill, served.requests)[0]
        == work.prefill_collective_fraction[0]
    )
    # a sequence costs more than twice its half, as attention grows
    assert sequence_flop(prefill.shape, 4096 * one)[0] > 2 * sequence_flop(prefill.shape, 2048 * one)[0]
    assert layouts_of(found.built.cluster, served.placed[0].group).gpus.max() == 8

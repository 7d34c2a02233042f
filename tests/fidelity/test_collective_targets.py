"""What the collective model has to reach, on the shipped tables and on rows that others published."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median

import numpy as np
import pytest

from planner.arrays import Floats
from planner.catalog.profiles import CollectiveFit, Mode, Profile
from planner.catalog.schema import Accelerator, ScaleUp
from planner.catalog.store import Entry, open_catalog
from planner.curves.collective import curve_time_s, stack_curves
from planner.ledger import Ledger
from planner.measure.parse.points import CollectivePoint
from planner.measure.parse.read import read_points
from planner.performance.assumed import Assumed
from planner.performance.collectives import Collective
from planner.performance.domain import link_rates
from planner.performance.group_curves import Bands, Rung
from planner.performance.ladder import domain_curves, regimes_of
from planner.performance.shelf import Shelf, shelf_for
from planner.resources import shipped
from planner.study.fidelity.report import predict_rows
from planner.study.fidelity.rows import read_rows
from planner.study.fidelity.schema import Group

CATALOG = open_catalog()
TABLES = ("a100-sxm4-80gb", "b200-sxm-180gb", "gb200", "h100-sxm5-80gb")
LEFT_OUT = ("a100-sxm4-80gb", "h100-sxm5-80gb", "b200-sxm-180gb")
OPERATIONS = (Collective.ALL_REDUCE, Collective.ALL_GATHER, Collective.REDUCE_SCATTER, Collective.ALL_TO_ALL)
ENGINES = "custom_all_reduce"


@dataclass(frozen=True)
class Curve:
    """A shipped fit beside the points it was made from."""

    accelerator: str
    fit: CollectiveFit
    size: Floats
    time_s: Floats

    @property
    def error(self) -> Floats:
        found = curve_time_s(
            stack_curves([regimes_of(self.fit)]), curve=np.zeros(1, dtype=np.intp), message_bytes=self.size
        )
        return np.abs(found / self.time_s - 1.0)


def points_of(entry: Entry[Profile]) -> list[CollectivePoint]:
    folder = Path(shipped("catalog")) / "profiles"
    return [point for raw in entry.item.raw for point in read_points(folder / raw.file).collectives]


def curves(accelerator: str) -> Iterator[Curve]:
    """Every device curve of a shipped table with its points, read from the raw file and not from the fit."""
    entry = CATALOG.entry(Profile, f"{accelerator}.nccl-tables")
    points = points_of(entry)
    for fit in entry.item.collectives:
        if fit.mode is not Mode.DEVICE:
            continue
        repeats: dict[int, list[float]] = defaultdict(list)
        for one in points:
            of = (one.op, one.ranks, one.dtype, one.library)
            if of == (fit.op, fit.ranks, fit.dtype, fit.implementation) and not one.impl.endswith("eager"):
                repeats[one.bytes].append(one.time_s)
        size = np.array(sorted(repeats), dtype=float)
        yield Curve(accelerator, fit, size, np.array([median(repeats[int(one)]) for one in size]))


@pytest.fixture(scope="module")
def shipped_curves() -> list[Curve]:
    return [curve for accelerator in TABLES for curve in curves(accelerator)]


def test_curves_lie_on_their_own_points(shipped_curves: list[Curve]) -> None:
    # the issue: median 4 %, P90 12 %
    assert len(shipped_curves) > 80
    library = np.concatenate([one.error for one in shipped_curves if one.fit.op != ENGINES])
    every = np.concatenate([one.error for one in shipped_curves])
    for error in (library, every):
        assert np.median(error) <= 0.04
        assert np.quantile(error, 0.9) <= 0.12


def test_the_errors_in_a_profile_are_those_of_its_points(shipped_curves: list[Curve]) -> None:
    for one in shipped_curves:
        assert one.fit.errors.points >= len(one.size)
        if one.fit.errors.points > len(one.size):
            continue  # errors are those of every single run, and some sizes were run twice
        # constants are kept to six digits
        assert one.fit.errors.median_fraction == pytest.approx(np.median(one.error), abs=1e-4)
        assert one.fit.errors.worst_fraction == pytest.approx(np.max(one.error), abs=1e-4)


def test_sizes_left_out_of_the_fit_are_predicted(shipped_curves: list[Curve]) -> None:
    # the issue: median 4 %
    left = [one.fit.left_out for one in shipped_curves if one.fit.left_out is not None]
    assert len(left) == len(shipped_curves)
    weights = np.array([one.points for one in left])
    medians = np.array([one.median_fraction for one in left])
    assert np.average(medians, weights=weights) <= 0.04


def without_eight(accelerator: str, others: str | None = None) -> Shelf:
    """Own curves of 2 and 4 ranks, no siblings, and the shapes of other links."""
    shelf = shelf_for(CATALOG, CATALOG.get(Accelerator, accelerator))
    own = tuple(
        replace(entry, digest=f"{entry.digest} without eight", item=entry.item.model_copy(
            update={"collectives": tuple(one for one in entry.item.collectives if one.ranks < 8)}
        ))
        for entry in shelf.own
    )  # fmt: skip
    wanted = tuple(one for one in shelf.other_ids if others is None or one.startswith(others))
    return replace(shelf, own=own, siblings=(), other_ids=wanted)


def eight_errors(accelerator: str, others: str | None = None) -> Floats:
    """Errors on every point of the eight-rank tables, which the prediction has not seen."""
    entry = CATALOG.entry(Accelerator, accelerator)
    assert entry.item.scaleup is not None
    rates = link_rates(Assumed(Ledger(months=1), CATALOG), entry, CATALOG.entry(ScaleUp, entry.item.scaleup))
    found = domain_curves(
        without_eight(accelerator, others), rates, domain_ranks=8, bands=Bands(0.05, 0.2, 0.5, 0.05)
    )
    points = points_of(CATALOG.entry(Profile, f"{accelerator}.nccl-tables"))
    errors = []
    for operation in OPERATIONS:
        group = found.groups[operation, 8]
        assert group.rung is Rung.SCALED
        assert "grown to 8 as on" in group.how
        mine = [one for one in points if (one.op, one.ranks, one.dtype) == (operation.value, 8, "fp16")]
        assert len(mine) > 15
        time = found.time_s(
            operation, message_bytes=np.array([float(one.bytes) for one in mine]), ranks=np.array([8.0])
        )
        errors.append(np.abs(time / np.array([one.time_s for one in mine]) - 1.0))
    return np.concatenate(errors)


def test_eight_ranks_are_predicted_from_two_and_four_and_the_shape_of_other_links() -> None:
    # the issue: median 10 %
    by_gpu = {accelerator: eight_errors(accelerator) for accelerator in LEFT_OUT}
    assert np.median(np.concatenate(list(by_gpu.values()))) <= 0.10
    # one generation may be odd: twice that
    assert {name for name, error in by_gpu.items() if np.median(error) > 0.20} == set()


def test_published_rows_that_no_curve_has_seen_are_predicted() -> None:
    found = predict_rows(read_rows([Path(shipped("catalog")) / "measured" / "collectives.json"]), CATALOG)
    group = found.groups[Group.COLLECTIVES]
    apart = group.samples["out_of_sample"]
    # the issue: median 13 %, P90 40 %, every family equal
    assert apart.median_abs_error is not None
    assert apart.p90_abs_error is not None
    assert apart.median_abs_error <= 0.13
    assert apart.p90_abs_error <= 0.40
    assert apart.rows_predicted > 75
    inside = group.samples["in_sample"]
    # first reached: 4.6 %
    assert inside.median_abs_error is not None
    assert inside.median_abs_error <= 0.05

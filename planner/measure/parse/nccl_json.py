"""nccl-tests' JSON output (its option -J)."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import Any

from planner.measure.parse.nccl_row import Side, bus_agrees, payload_share, rates_agree
from planner.measure.parse.points import DTYPES, OP_OF_PROGRAM, CollectivePoint, Findings, version_text


def read_nccl_json(document: dict[str, Any], found: Findings) -> None:
    """Read one document; its program's arguments and environment are not kept.

    It lists one device a process, however many GPUs that process drives.
    """
    config = document.get("config")
    try:
        program = PurePosixPath(str(document["args"][0])).name
        op = OP_OF_PROGRAM.get(program.partition("_perf")[0], "")
        assert isinstance(config, dict)
        ranks, nodes, names = _devices(config)
        results = list(document["results"])
    except (KeyError, IndexError, TypeError, ValueError, AssertionError) as error:
        found.problem(1, f"nccl-tests' JSON lacks args, config with devices, or results ({error!r})")
        return
    if not op:
        found.problem(1, f"'{program}' is no program of nccl-tests")
        return
    if ranks == 1:
        found.skip("documents of a single rank")
        return
    library = document.get("nccl_version")
    base = CollectivePoint(
        op=op,
        dtype="",
        bytes=0,
        ranks=ranks,
        nodes=nodes,
        time_s=0.0,
        in_place=False,
        source_line=1,
        path=found.path,
        mode="graph" if config.get("graph") else "eager",
        device=", ".join(names),
        library=f"nccl {version_text(library)}" if isinstance(library, int) else "",
    )
    for place, result in enumerate(results):
        try:
            _result(result, base, found, f"results[{place}]")
        except (KeyError, TypeError, ValueError) as error:
            found.problem(1, f"results[{place}] is no result of nccl-tests ({error!r})")


def _devices(config: dict[str, Any]) -> tuple[int, int, list[str]]:
    """Ranks, nodes and the devices' names."""
    devices = config["devices"]
    group = devices[0]["group"]
    mine = [device for device in devices if device["group"] == group]
    each = int(config["nthreads"]) * int(config["ngpus"])
    numbers = sorted(int(device["rank"]) for device in mine)
    # A version that lists every GPU numbers them without gaps.
    all_listed = len(numbers) > 1 and numbers[1] - numbers[0] == 1
    ranks = len(mine) * (1 if all_listed else each)
    names = list(dict.fromkeys(str(device["device_info"]).strip() for device in mine))
    return ranks, len({device["hostname"] for device in mine}), names


def _result(result: dict[str, Any], base: CollectivePoint, found: Findings, where: str) -> None:
    size = int(result["size"])
    if size == 0:
        found.skip("rows of 0 bytes")
        return
    for key, in_place in (("out_of_place", False), ("in_place", True)):
        figures = result.get(key)
        if figures is None:
            continue
        if "time" not in figures:
            found.skip("rows with CPU time (-C) in the place of time")
            continue
        if figures["nwrong"] not in (None, 0):
            found.skip("figures with wrong results (nwrong above 0)")
            continue
        # Doubles are printed with six decimals.
        time, alg, bus = (f"{float(figures[name]):.6f}" for name in ("time", "alg_bw", "bus_bw"))
        side = Side(time, alg, bus, "0")
        if not rates_agree(size * payload_share(base.op, base.ranks), side):
            found.problem(1, f"{where}: time and alg_bw contradict each other")
        elif not bus_agrees(base.op, base.ranks, side):
            found.problem(
                1, f"{where}: bus_bw isn't alg_bw times the factor of {base.op} over {base.ranks} ranks"
            )
        else:
            found.collectives.append(
                CollectivePoint(
                    **{
                        **vars(base),
                        "dtype": DTYPES[str(result["type"])],
                        "bytes": size,
                        "time_s": float(figures["time"]) / 1e6,
                        "in_place": in_place,
                    }
                )
            )

"""CSV tables of collectives or matrix products, one measurement a row.

Collectives: `op,dtype,num_gpus,message_bytes,latency_us`, and where present `gpu`, `num_nodes`, `library`,
`row_version`, `table_version`, `impl`, `mode` (eager or graph) and `link` (scale_up, host_staged or network). Products: `m,n,k,dtype,latency_us`, and where present `gpu`, `source`.
"""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING

from planner.measure.parse.points import (
    DTYPES,
    LEAST_US,
    MOST,
    OP_OF_PROGRAM,
    CollectivePoint,
    Findings,
    GemmPoint,
)

if TYPE_CHECKING:
    from _csv import Reader as _Reader

COLLECTIVE_COLUMNS = frozenset({"op", "dtype", "num_gpus", "message_bytes", "latency_us"})
MODES, LINKS = ("eager", "graph"), ("scale_up", "host_staged", "network")
GEMM_COLUMNS = frozenset({"m", "n", "k", "dtype", "latency_us"})
# The serving engines' own kernels stay an op of their own.
_OPS = {**OP_OF_PROGRAM, "custom_all_reduce": "custom_all_reduce"}


def columns_of(line: str) -> frozenset[str]:
    """The names in a header line.

    >>> sorted(columns_of("m, n,k"))
    ['k', 'm', 'n']
    """
    return frozenset(name.strip() for name in line.split(","))


def read_table(text: str, found: Findings) -> None:
    """Read a table whose first line that is no comment names the columns."""
    rows = csv.reader(text.splitlines())
    try:
        _read_rows(rows, found)
    except csv.Error as error:
        found.problem(rows.line_num, f"can't be read as CSV: {error}")


def _read_rows(rows: _Reader, found: Findings) -> None:
    header: list[str] = []
    for cells in rows:
        if not cells or not any(cells) or cells[0].lstrip().startswith("#"):
            continue
        if not header:
            header = [cell.strip() for cell in cells]
            collectives = set(header) >= COLLECTIVE_COLUMNS
            if collectives and "num_nodes" not in header:
                found.remark("no column num_nodes: read as measured on one node")
            continue
        if len(cells) != len(header):
            found.problem(rows.line_num, f"{len(cells)} columns where the header names {len(header)}")
            continue
        row = {name: cell.strip() for name, cell in zip(header, cells, strict=True)}
        try:
            if collectives:
                found.collectives.append(_collective(row, rows.line_num, found))
            else:
                found.gemms.append(_gemm(row, rows.line_num, found))
        except ValueError as error:
            found.problem(rows.line_num, str(error))


def _collective(row: dict[str, str], line: int, found: Findings) -> CollectivePoint:
    op, impl = _OPS.get(row["op"]), row.get("impl", "")
    if op is None:
        raise ValueError(f"'{row['op']}' is no op; known: {', '.join(_OPS)}")
    dtype = DTYPES.get(row["dtype"])
    if dtype is None:
        raise ValueError(f"'{row['dtype']}' is no data type; known: {', '.join(DTYPES)}")
    version = row.get("row_version") or row.get("table_version") or ""
    ranks = _whole(row, "num_gpus")
    if ranks < 2:
        raise ValueError(f"num_gpus is {ranks}, and a collective needs 2 or more")
    nodes = _whole(row, "num_nodes") if "num_nodes" in row else 1
    if nodes > ranks:
        raise ValueError(f"num_nodes is {nodes}, and num_gpus {ranks}: every node has a GPU")
    return CollectivePoint(
        op=op,
        dtype=dtype,
        bytes=_whole(row, "message_bytes"),
        ranks=ranks,
        nodes=nodes,
        time_s=_seconds(row),
        in_place="in-place" in impl,
        source_line=line,
        path=found.path,
        mode=_one_of(row, "mode", MODES) or ("graph" if impl.endswith("graph") else "eager"),
        device=row.get("gpu", ""),
        library=f"{row.get('library', '')} {version}".strip(),
        impl=impl,
        link=_one_of(row, "link", LINKS),
    )


def _gemm(row: dict[str, str], line: int, found: Findings) -> GemmPoint:
    return GemmPoint(
        m=_whole(row, "m"),
        n=_whole(row, "n"),
        k=_whole(row, "k"),
        dtype=DTYPES.get(row["dtype"], row["dtype"]),
        time_s=_seconds(row),
        source_line=line,
        path=found.path,
        device=row.get("gpu", ""),
        impl=row.get("source", ""),
    )


def _one_of(row: dict[str, str], name: str, known: tuple[str, ...]) -> str:
    given = row.get(name, "")
    if given and given not in known:
        raise ValueError(f"{name} is '{given}'; known: {', '.join(known)}")
    return given


def _whole(row: dict[str, str], name: str) -> int:
    try:
        number = int(row[name])
    except ValueError:
        raise ValueError(f"{name} is '{row[name]:.40}', not a whole number") from None
    if not 1 <= number <= MOST:
        raise ValueError(f"{name} is {row[name]:.40}; it must be 1 or more, and at most {MOST}")
    return number


def _seconds(row: dict[str, str]) -> float:
    try:
        microseconds = float(row["latency_us"])
    except ValueError:
        raise ValueError(f"latency_us is '{row['latency_us']:.40}', not a number") from None
    if not LEAST_US <= microseconds <= MOST:
        raise ValueError(f"latency_us is {row['latency_us']:.40}; it must be from {LEAST_US} to {MOST}")
    return microseconds / 1e6

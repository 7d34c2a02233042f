"""Parallel degrees of rows of serving tables, whose columns mean different things in different snapshots."""

from __future__ import annotations

import re
from math import isqrt
from typing import Final

MULTIPLIED: Final = re.compile(r"2026-04-06|db-dump")
"""Snapshots in which degrees of one group of GPUs are multiplied with each other."""

Cells = dict[str, str]


def degrees_of(cells: Cells) -> dict[str, int | str]:
    """Fields of a row: GPUs of a replica, tensor, pipeline, expert and attention ranks.

    Tensor 64 with experts split 8 x 8 is one group of 8 GPUs in some snapshots, as is tensor 4 with 4 attention groups
    and 16 expert ranks one of 4: there the square root counts. A disaggregated row has its decode workers' degrees.

    Source:
        planner-inference-notes, section 5 item 4 (inferred from rows that are equal in two snapshots).

    >>> cells = {"origin": "source_file=2026-04-06.csv", "tp_size": "64", "moe_tp_size": "8", "moe_ep_size": "8"}
    >>> degrees_of(cells) == {"n_gpus": 8, "tp": 8, "pp": 1, "ep": 8, "attention_dp": 1}
    True
    """
    side = "decode_" if cells.get("mode") == "disagg" else ""
    found = {
        name: whole(cells.get(f"{side}{name}_size") or "1")
        for name in ("tp", "pp", "attention_dp", "moe_tp", "moe_ep")
    }
    wrong = {name: text for name, text in found.items() if not text.isdigit()}
    if wrong:
        return {"n_gpus": 1, **{name.removeprefix("moe_"): text for name, text in wrong.items()}}
    tensor, stages, groups, split, dealt = (max(int(text), 1) for text in found.values())
    gpus = tensor * groups
    if MULTIPLIED.search(cells.get("origin", "")):
        if split > 1 and split == dealt and split * dealt == gpus:
            gpus = split
            tensor, groups = (gpus, 1) if groups == 1 else (1, gpus)
        elif groups == tensor > 1:
            gpus, groups = isqrt(gpus), 1
            dealt = min(dealt, gpus)
    fields: dict[str, int | str] = {
        "n_gpus": gpus * stages, "tp": tensor, "pp": stages, "ep": min(dealt, gpus), "attention_dp": groups,
    }  # fmt: skip
    if side:
        workers = whole(cells.get("decode_num_workers") or "")
        fields |= {"decode_workers": workers}
        if workers.isdigit():
            fields["n_gpus"] = gpus * stages * int(workers)
    return fields


def whole(text: str) -> str:
    """A count as tables write it, without the point that spreadsheets add; any other text as it is.

    >>> whole("4.0"), whole("16"), whole("four")
    ('4', '16', 'four')
    """
    return re.sub(r"^(\d+)\.0*$", r"\1", text.strip())

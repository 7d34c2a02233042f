"""Commands about measurements: predicted collectives, profiles fitted, published runs predicted."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from planner.cli.options import Anchors, AsJson, Calibrations, Folders, profile_files, profile_ids

_COMMANDS: list[tuple[Callable[..., int], str]] = []


def add_measured(app: typer.Typer) -> None:
    """Register the commands, in the order in which they stand here."""
    for command, epilog in _COMMANDS:
        app.command(epilog=epilog)(command)


def _command(*, epilog: str) -> Callable[[Callable[..., int]], Any]:
    def keep(command: Callable[..., int]) -> Callable[..., int]:
        _COMMANDS.append((command, epilog))
        return command

    return keep


@_command(epilog="Example: planner collective --op all_reduce --bytes 256M --gpus 64 --system dgx-h200")
def collective(
    op: Annotated[
        str,
        typer.Option(
            help="all_reduce, all_gather, reduce_scatter, all_to_all, broadcast, send_receive, moe_dispatch or "
            "moe_combine."
        ),
    ],
    size: Annotated[str, typer.Option("--bytes", help="Payload as nccl-tests counts it, such as 64K or 8G.")],
    gpus: Annotated[int, typer.Option(min=2, max=1_000_000, help="Ranks.")],
    system: Annotated[str, typer.Option(help="Server or rack, a catalog id.")],
    nodes: Annotated[
        int | None, typer.Option(min=1, help="Servers or racks; as few as hold the GPUs by default.")
    ] = None,
    nic: Annotated[str | None, typer.Option(help="Another NIC than the server's own.")] = None,
    switch: Annotated[str | None, typer.Option(help="Leaf switch, a catalog id.")] = None,
    dtype: Annotated[str, typer.Option(help="Element type.")] = "bf16",
    in_network: Annotated[
        bool, typer.Option("--in-network", help="Let the network's switches add up (SHARP).")
    ] = False,
    staged: Annotated[
        bool, typer.Option("--host-staged", help="Peer-to-peer is off: bytes go through host memory.")
    ] = False,
    hidden: Annotated[int, typer.Option(min=1, help="Of an expert exchange: elements of a token.")] = 7168,
    top_k: Annotated[int, typer.Option(min=1, help="Of an expert exchange: experts of a token.")] = 8,
    experts: Annotated[int, typer.Option(min=1, help="Of an expert exchange: routed experts.")] = 256,
    low_latency: Annotated[
        bool, typer.Option("--low-latency", help="Of an expert exchange: kernels for decoding.")
    ] = False,
    calibration: Calibrations = None,
    catalog: Folders = None,
    as_json: AsJson = False,
) -> int:
    """Predict the time and bandwidth of one collective. Says what that rests on."""
    from planner.cli.collective import ExchangeOptions, predict_one

    return predict_one(
        op=op, size=size, gpus=gpus, system=system, nodes=nodes, nic=nic, switch=switch, dtype=dtype,
        in_network=in_network, staged=staged, exchange=ExchangeOptions(hidden, top_k, experts, low_latency),
        profiles=profile_ids(calibration or []),
        catalog=[*(catalog or []), *profile_files(calibration or [])], as_json=as_json,
    )  # fmt: skip


@_command(epilog="Example: planner calibrate nccl.log bench.json -o my-h200.yaml")
def calibrate(
    files: Annotated[
        list[Path], typer.Argument(help="Results of planner bench, logs of nccl-tests, or CSV tables.")
    ],
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="PROFILE", help="YAML file to write.")
    ] = None,
    accelerator: Annotated[
        str | None, typer.Option(help="Catalog id, where the files don't name the accelerator.")
    ] = None,
    name: Annotated[str, typer.Option(help="Title of the profile.")] = "",
    as_of: Annotated[
        str, typer.Option(metavar="DATE", help="When logs and tables were measured; they carry no date.")
    ] = "",
    source: Annotated[
        str | None, typer.Option(help="Publication of tables, an id of the catalog's sources.")
    ] = None,
    catalog: Folders = None,
    as_json: AsJson = False,
) -> int:
    """Fit measurements as a profile. Says how well the fit lies to them."""
    from planner.cli.calibrate import calibrate as fit

    return fit(
        files, output=output, accelerator=accelerator, name=name, as_of=as_of, source=source,
        catalog=catalog or [], as_json=as_json,
    )  # fmt: skip


@_command(epilog="Example: planner fidelity my-runs.json --json")
def fidelity(
    files: Annotated[
        list[Path] | None,
        typer.Argument(help="Measured rows: JSON, or CSV tables; those that ship by default."),
    ] = None,
    leave_out: Annotated[
        bool,
        typer.Option(
            "--leave-out",
            help="Fit training anew without each family, source, GPU generation and stack, and serving without each model, GPU and engine.",
        ),
    ] = False,
    anchor: Anchors = None,
    catalog: Folders = None,
    as_json: AsJson = False,
) -> int:
    """Predict every measured row and show the errors. Misses are included."""
    from planner.cli.fidelity import compare

    return compare(
        files or [], catalog=catalog or [], as_json=as_json, leave_out=leave_out, anchors=anchor or []
    )

"""`planner bench`: one command that measures, beside `explain` and `diagnose` on files."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

MEASURE = "measure"


class BenchGroup(TyperGroup):
    """Measures unless the first word names another command, and shows the options of measuring in its help."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Put the command's name in front where it was left out."""
        if not args or (args[0] not in self.commands and args[0] != "--help"):
            args = [MEASURE, *args]
        return super().parse_args(ctx, args)

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Options of measuring first, then the commands."""
        self.commands[MEASURE].format_options(ctx, formatter)
        self.format_commands(ctx, formatter)


bench_app = typer.Typer(
    cls=BenchGroup,
    help="Measure this machine's GPUs. Says what is wrong with them, and where a job waits.",
    epilog="Example: planner bench nccl,gemm -o bench.json",
    subcommand_metavar="[SECTIONS] | explain FILE... | diagnose FILE... | anchor FILE",
    options_metavar="[OPTIONS]",
    rich_markup_mode=None,
)

Results = Annotated[
    list[Path], typer.Argument(metavar="FILE...", help="Results of planner bench, plain or gzipped.")
]
Traces = Annotated[
    list[Path],
    typer.Argument(
        metavar="FILE...",
        help="Traces of the PyTorch profiler, one a rank (JSON, plain or gzipped), or a CSV table.",
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Answer in JSON.")]


@bench_app.command(MEASURE, epilog="Example: planner bench nccl,gemm -o bench.json --quick")
def measure(
    sections: Annotated[
        str | None,
        typer.Argument(
            metavar="[SECTIONS]",
            help="Of nccl, gemm, attention, memory, power, overlap, train, serve, with commas; all but the last two by default.",
        ),
    ] = None,
    out: Annotated[Path, typer.Option("-o", "--out", metavar="FILE", help="Result to write.")] = Path(
        "bench.json"
    ),
    quick: Annotated[bool, typer.Option("--quick", help="Fewer sizes and shapes: within a minute.")] = False,
    backend: Annotated[
        str, typer.Option(help="nccl; or gloo, which runs on CPUs for tests and measures no GPU.")
    ] = "nccl",
    min_bytes: Annotated[str, typer.Option(metavar="SIZE", help="Smallest message.")] = "1K",
    max_bytes: Annotated[str, typer.Option(metavar="SIZE", help="Largest message.")] = "8G",
    ops: Annotated[
        str | None,
        typer.Option(help="Of all_reduce, all_gather, reduce_scatter, all_to_all, broadcast, sendrecv."),
    ] = None,
    dtypes: Annotated[str | None, typer.Option(help="Of bf16, fp32, fp8.")] = None,
    deadline: Annotated[
        float | None, typer.Option(metavar="SECONDS", help="Stop in order by then; 55 quick, 465 full.")
    ] = None,
    processes: Annotated[int | None, typer.Option(help="Processes to start; one a visible GPU.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the diagnosis as JSON.")] = False,
) -> int:
    """Measure this machine's GPUs. Writes one JSON file, and says in plain words what it shows.

    Starts one process for each visible GPU, or uses those that torchrun or Slurm started
    (RANK, WORLD_SIZE, MASTER_ADDR). Ctrl-C keeps what was measured. Exit codes: 0 done,
    1 a process failed, 2 nothing can be measured here, 130 interrupted.
    """
    from planner.cli.bench import measure as run

    given: dict[str, object] = {
        "--out": out, "--backend": backend, "--min-bytes": min_bytes, "--max-bytes": max_bytes, "--ops": ops,
        "--dtypes": dtypes, "--deadline": deadline, "--processes": processes,
    }  # fmt: skip
    words = [f"{name}={value}" for name, value in given.items() if value is not None]
    words += [name for name, wanted in (("--quick", quick), ("--json", as_json)) if wanted]
    return run([*([sections] if sections else []), *words])


@bench_app.command(epilog="Example: planner bench diagnose bench.json")
def diagnose(files: Results, as_json: AsJson = False) -> int:
    """Say again what saved results show: healthy or not, and why."""
    from planner.cli.bench import diagnose_saved

    return diagnose_saved(files, as_json=as_json)


@bench_app.command(epilog="Example: planner bench explain rank0.json.gz rank1.json.gz")
def explain(
    files: Traces,
    system: Annotated[
        str | None, typer.Option(metavar="ID", help="Server or rack whose modelled times to set beside.")
    ] = None,
    nodes: Annotated[int, typer.Option(min=1, help="Nodes of the job, for the model.")] = 1,
    gpus_per_node: Annotated[
        int | None,
        typer.Option(min=1, help="To say which groups leave a node; ranks are counted node by node."),
    ] = None,
    as_json: AsJson = False,
) -> int:
    """Say where a step's time goes: computing, waiting, exchanging, idle, and whom everyone waits for.

    CSV columns: rank, kind (compute, collective, idle, memory), op, start_us, duration_us, and
    where known bytes, ranks (of the group), group and peer (of a send or receive).
    """
    from planner.cli.bench import explain_traces

    return explain_traces(files, system=system, nodes=nodes, gpus_per_node=gpus_per_node, as_json=as_json)


@bench_app.command(epilog="Example: planner bench train -o bench.json, then planner bench anchor bench.json")
def anchor(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE", help="Result of planner bench train or serve, or a CSV of your endpoint's points."
        ),
    ],
    out: Annotated[Path, typer.Option("-o", "--out", metavar="FILE", help="Anchor file to write.")] = Path(
        "anchor.yaml"
    ),
    eager: Annotated[
        bool, typer.Option("--eager", help="Take the steps without torch.compile; compiled ones by default.")
    ] = False,
    accelerator: Annotated[
        str | None, typer.Option(metavar="ID", help="Catalog id, where the result's name isn't known.")
    ] = None,
    attention: Annotated[
        str, typer.Option(help="Attention kernel, where the result doesn't say it: cudnn or stack.")
    ] = "stack",
    name: Annotated[str, typer.Option(help="Title of the file.")] = "",
    catalog: Annotated[
        list[Path] | None,
        typer.Option("--catalog", metavar="DIR", help="Folder that adds or replaces items."),
    ] = None,
) -> int:
    """Write measured training steps (YAML) or serving steps (CSV) as an anchor, and show them beside the model.

    An anchor corrects predictions: planner run SCENARIO --anchor FILE (search, simulate and explain take it too), or
    anchors: in a scenario. A CSV of points of your own endpoint, three of one endpoint at least, has the columns model,
    gpu, engine, precision, concurrency, isl, osl, ttft_ms, tpot_ms and tp; it is checked and compared with the model.
    """
    from planner.cli.anchor import write_anchor

    return write_anchor(
        file, output=out, eager=eager, accelerator=accelerator, attention=attention, name=name,
        catalog=catalog or [],
    )  # fmt: skip

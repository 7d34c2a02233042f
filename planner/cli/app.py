"""The commands, their options and help texts."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

import planner
from planner.cli.bench_commands import bench_app

app = typer.Typer(
    name="planner",
    help="Plans AI clusters: which hardware, wired how, powered and cooled how, delivering what, costing what.",
    epilog="Start with: planner run h200-1024-ndr -o reports",
    add_completion=True,
    no_args_is_help=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
catalog_app = typer.Typer(
    help="The hardware catalog, with source and date of every figure.", rich_markup_mode=None
)
app.add_typer(catalog_app, name="catalog")
app.add_typer(bench_app, name="bench")

Scenarios = Annotated[list[str], typer.Argument(help="Scenario files, or names of shipped ones.")]
OneScenario = Annotated[str, typer.Argument(help="A scenario file, or the name of a shipped one.")]
Changes = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="Change a value, such as site.pue=1.2. Repeatable."),
]
Folders = Annotated[
    list[Path] | None,
    typer.Option(
        "--catalog", metavar="DIR", help="Folder laid out like catalog/ that adds or replaces items."
    ),
]
Calibrations = Annotated[
    list[str] | None,
    typer.Option(
        "--calibration", metavar="PROFILE",
        help="Calibration profile, an id or a file of planner calibrate, before the shipped ones. Repeatable.",
    ),
]  # fmt: skip
Anchors = Annotated[
    list[Path] | None,
    typer.Option(
        "--anchor", metavar="FILE",
        help="Measured runs of your own stack that correct the training step; see planner bench anchor. Repeatable.",
    ),
]  # fmt: skip
AsJson = Annotated[bool, typer.Option("--json", help="Answer in JSON.")]


MOST_PROBLEMS = 100


def run_app(arguments: list[str] | None = None) -> int:
    """Run a command; a user's mistake becomes its problems and exit code 2, an interrupt 130.

    A fault of our own is exit code 70 with its traceback, never a code that means a result.
    """
    from planner.errors import INTERNAL, PlannerError

    try:
        found = app(args=arguments, standalone_mode=False)
    except PlannerError as error:
        say_problems([str(problem) for problem in error.problems])
        return 2
    except (KeyboardInterrupt, typer.Abort):
        print("interrupted", file=sys.stderr)
        return 130
    except typer.Exit as leaving:
        return int(leaving.exit_code)
    except BrokenPipeError:
        return _reader_left()
    except SystemExit as leaving:
        # the argument parser leaves this way when the reader of a pipe has gone
        return _reader_left() if type(sys.stdout).__name__.startswith("Pacify") else int(leaving.code or 0)
    except OSError as error:
        print(f"planner: {error.strerror or error}", file=sys.stderr)
        return 2
    except Exception as error:  # the parser's own errors have no common base that is public
        if not hasattr(error, "format_message"):
            import traceback

            traceback.print_exc()
            print(
                "planner: a fault of ours, not of your input; please report the lines above", file=sys.stderr
            )
            return INTERNAL
        context = getattr(error, "ctx", None)
        if context is not None:
            print(context.get_usage(), file=sys.stderr)
        print(f"planner: {error.format_message()}", file=sys.stderr)
        return 2
    return found if isinstance(found, int) else 0


def _reader_left() -> int:
    """Whoever read our output has enough; what follows goes nowhere."""
    import os

    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


def profile_files(profiles: list[str]) -> list[Path]:
    """Profiles given as files, which stand beside the catalog's folders."""
    return [Path(one) for one in profiles if one.endswith(".yaml")]


def profile_ids(profiles: list[str]) -> list[str]:
    """Ids of profiles given as ids or as files.

    >>> profile_ids(["h200-sxm-141gb.bench", "lab/mine.yaml"])
    ['h200-sxm-141gb.bench', 'mine']
    """
    return [Path(one).stem if one.endswith(".yaml") else one for one in profiles]


def with_profiles(
    changes: list[str], folders: list[Path], profiles: list[str]
) -> tuple[list[str], list[Path]]:
    """Changes and catalog folders of a call that names calibration profiles.

    >>> with_profiles([], [], ["lab/mine.yaml"])[0]
    ['calibration=[mine]']
    """
    if not profiles:
        return changes, folders
    said = f"calibration=[{', '.join(profile_ids(profiles))}]"
    return [*changes, said], [*folders, *profile_files(profiles)]


def say_problems(problems: list[str], *, to_stdout: bool = False) -> None:
    """Print problems, each cut to a readable length, and no more of them than help."""
    stream = sys.stdout if to_stdout else sys.stderr
    for problem in problems[:MOST_PROBLEMS]:
        print(problem if len(problem) <= 600 else f"{problem[:400]} … {problem[-150:]}", file=stream)
    if len(problems) > MOST_PROBLEMS:
        print(f"… and {len(problems) - MOST_PROBLEMS:,} more problems", file=stream)


def _at_a_terminal() -> bool:
    """Whether somebody can type and look: the interface reads stdin and draws on stderr."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def _version(wanted: bool) -> None:
    if wanted:
        print(f"cluster-planner {planner.__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def start(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> int | None:
    """Without a command: the terminal interface, or this help where there is no terminal."""
    if context.invoked_subcommand is not None:
        return None
    if not _at_a_terminal():
        print(context.get_help())
        return 0
    from planner.tui.run import run

    return run(None, [])


@app.command(epilog="Example: planner tui h200-1024-ndr")
def tui(
    scenario: Annotated[str | None, typer.Argument(help="Scenario to open.")] = None,
    catalog: Folders = None,
) -> int:
    """Edit a scenario and see every number move."""
    if not _at_a_terminal():
        print("planner: tui needs a terminal; use planner run", file=sys.stderr)
        return 2
    from planner.tui.run import run

    return run(scenario, catalog or [])


@app.command(
    epilog="Example: planner run h200-1024-ndr my.yaml -o reports --set site.pue=1.2 --format html,xlsx"
)
def run(
    scenarios: Annotated[
        list[str] | None, typer.Argument(help="Scenario files, or names of shipped ones.")
    ] = None,
    output: Annotated[
        Path, typer.Option("-o", "--output", metavar="DIR", help="Folder for the reports.")
    ] = Path("reports"),
    change: Changes = None,
    calibration: Calibrations = None,
    anchor: Anchors = None,
    formats: Annotated[
        str, typer.Option("--format", metavar="LIST", help="Any of html,xlsx,json, with commas.")
    ] = "html,xlsx,json",
    catalog: Folders = None,
    everything: Annotated[bool, typer.Option("--all", help="Every shipped scenario.")] = False,
    jobs: Annotated[
        int | None,
        typer.Option("-j", "--jobs", min=1, max=64, help="Processes; as many as cores by default."),
    ] = None,
    as_json: AsJson = False,
) -> int:
    """Evaluate scenarios and write NAME.html, NAME.xlsx and NAME.json for each.

    Exit codes: 0 done, 1 a stated limit is missed, 2 input wrong or the cluster can't be built
    (its report says why), 70 a fault of ours, 130 interrupted. A batch returns the worst; one
    broken scenario does not stop the others.
    """
    from planner.cli.anchor import with_anchors
    from planner.cli.batch import run_batch

    changes, folders = with_profiles(change or [], catalog or [], calibration or [])
    changes = with_anchors(changes, anchor or [])
    return run_batch(
        scenarios or [], everything=everything, output=output, changes=changes, formats=formats,
        catalog=folders, jobs=jobs, as_json=as_json,
    )  # fmt: skip


@app.command(epilog="Example: planner check my.yaml")
def check(scenarios: Scenarios, change: Changes = None, catalog: Folders = None) -> int:
    """Validate scenarios: every problem with file, line and remedy."""
    from planner.cli.inspect import check_scenarios

    return check_scenarios(scenarios, changes=change or [], catalog=catalog or [])


@app.command(epilog="Example: planner explain h200-1024-ndr capex.total_usd")
def explain(
    scenario: OneScenario,
    key: Annotated[str | None, typer.Argument(help="Ledger key; all keys are listed without one.")] = None,
    change: Changes = None,
    catalog: Folders = None,
    depth: Annotated[int, typer.Option(min=1, max=99, help="Levels to walk down; 99 shows every input.")] = 6,
    as_json: AsJson = False,
) -> int:
    """Say how a number came about, down to source and date."""
    from planner.cli.inspect import explain_key

    return explain_key(
        scenario, key, changes=change or [], catalog=catalog or [], depth=depth, as_json=as_json
    )


@app.command(epilog="Example: planner search h100-16384-roce --by cost --top 5")
def search(
    scenario: OneScenario,
    workload: Annotated[
        str | None, typer.Option(metavar="ID", help="Training workload; the first one by default.")
    ] = None,
    top: Annotated[int, typer.Option(min=1, max=1000, help="Plans to show.")] = 10,
    by: Annotated[str, typer.Option(help="time, cost or energy.")] = "time",
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="FILE", help="CSV or JSON file for the best plans."),
    ] = None,
    change: Changes = None,
    calibration: Calibrations = None,
    catalog: Folders = None,
    as_json: AsJson = False,
) -> int:
    """Try every legal execution plan of a training workload, and say which are best and why."""
    from planner.cli.search import search_scenario

    changes, folders = with_profiles(change or [], catalog or [], calibration or [])
    return search_scenario(
        scenario, workload=workload, top=top, by=by, output=output, changes=changes, catalog=folders,
        as_json=as_json,
    )  # fmt: skip


@app.command(epilog="Example: planner init my-cluster.yaml")
def init(
    path: Annotated[Path, typer.Argument(help="File to write.")] = Path("scenario.yaml"),
    force: Annotated[bool, typer.Option("--force", help="Replace a file that is there.")] = False,
) -> int:
    """Write a commented scenario to start from, and its schema for editors beside it."""
    from planner.cli.inspect import write_template

    return write_template(path, force=force)


@app.command(epilog="Example: planner schema scenario > scenario.schema.json")
def schema(
    what: Annotated[
        str, typer.Argument(help="scenario, catalog, anchor, measured or report.", metavar="WHAT")
    ] = "scenario",
) -> int:
    """Print a JSON Schema, for editors and checks."""
    from planner.cli.inspect import print_schema

    return print_schema(what)


@app.command(epilog="Example: planner fabric --nodes 127 --switch qm9700 --json")
def fabric(
    switch: Annotated[str, typer.Option(help="Switch at every tier, a catalog id.")],
    gpus: Annotated[int | None, typer.Option(min=1, max=10_000_000, help="GPUs to join.")] = None,
    nodes: Annotated[int | None, typer.Option(min=1, max=10_000_000, help="Or nodes to join.")] = None,
    gpus_per_node: Annotated[int, typer.Option(min=1, max=1024, help="GPUs of a node.")] = 8,
    nics_per_node: Annotated[
        int | None, typer.Option(min=0, max=1024, help="NICs of a node; one a GPU by default.")
    ] = None,
    rails: Annotated[int | None, typer.Option(min=1, max=1024, help="Rails; one a NIC by default.")] = None,
    planes: Annotated[int, typer.Option(min=1, max=16, help="Planes each NIC is split over.")] = 1,
    topology: Annotated[
        str, typer.Option(help="rail-optimised, rail-only or single-switch.")
    ] = "rail-optimised",
    oversubscription: Annotated[
        float, typer.Option(min=1.0, max=64.0, help="Leaf bandwidth down over up.")
    ] = 1.0,
    reserved_ports: Annotated[
        int | None, typer.Option(min=0, max=64, help="Ports kept for management; 4 on InfiniBand by default.")
    ] = None,
    nic: Annotated[
        str | None, typer.Option(help="NIC, a catalog id; one that fits the switch by default.")
    ] = None,
    catalog: Folders = None,
    as_json: AsJson = False,
) -> int:
    """Design the network alone: leaves, spines, cores, links and cables."""
    from planner.cli.network import design_alone

    return design_alone(
        switch=switch, gpus=gpus, nodes=nodes, gpus_per_node=gpus_per_node, nics_per_node=nics_per_node,
        rails=rails, planes=planes, topology=topology, oversubscription=oversubscription,
        reserved_ports=reserved_ports, nic=nic, catalog=catalog or [], as_json=as_json,
    )  # fmt: skip


@app.command(epilog="Example: planner collective --op all_reduce --bytes 256M --gpus 64 --system dgx-h200")
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
    """Predict the time and bandwidth of one collective, and say what that rests on."""
    from planner.cli.collective import ExchangeOptions, predict_one

    return predict_one(
        op=op, size=size, gpus=gpus, system=system, nodes=nodes, nic=nic, switch=switch, dtype=dtype,
        in_network=in_network, staged=staged, exchange=ExchangeOptions(hidden, top_k, experts, low_latency),
        profiles=profile_ids(calibration or []),
        catalog=[*(catalog or []), *profile_files(calibration or [])], as_json=as_json,
    )  # fmt: skip


@app.command(epilog="Example: planner calibrate nccl.log bench.json -o my-h200.yaml")
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
    """Fit measurements as a profile, and say how well the fit lies to them."""
    from planner.cli.calibrate import calibrate as fit

    return fit(
        files, output=output, accelerator=accelerator, name=name, as_of=as_of, source=source,
        catalog=catalog or [], as_json=as_json,
    )  # fmt: skip


@app.command(epilog="Example: planner fidelity my-runs.json --json")
def fidelity(
    files: Annotated[
        list[Path] | None,
        typer.Argument(help="Measured rows: JSON, or CSV tables; those that ship by default."),
    ] = None,
    leave_out: Annotated[
        bool,
        typer.Option(
            "--leave-out",
            help="Fit the training model anew without each family, source, GPU generation and stack.",
        ),
    ] = False,
    anchor: Anchors = None,
    catalog: Folders = None,
    as_json: AsJson = False,
) -> int:
    """Predict every measured row and show the errors, the misses included."""
    from planner.cli.fidelity import compare

    return compare(
        files or [], catalog=catalog or [], as_json=as_json, leave_out=leave_out, anchors=anchor or []
    )


@catalog_app.command("list", epilog="Example: planner catalog list transceivers --filter '800g price<900'")
def catalog_list(
    family: Annotated[str | None, typer.Argument(help="One family, such as switches.")] = None,
    words: Annotated[
        str, typer.Option("--filter", metavar="WORDS", help="Words and comparisons that must hold.")
    ] = "",
    catalog: Folders = None,
    as_json: AsJson = False,
) -> int:
    """List items."""
    from planner.cli.shelf import list_items

    return list_items(family, words, catalog=catalog or [], as_json=as_json)


@catalog_app.command("show", epilog="Example: planner catalog show qm9700")
def catalog_show(
    item: Annotated[str, typer.Argument(help="Id of an item, or FAMILY/ID.")],
    catalog: Folders = None,
    as_json: AsJson = False,
) -> int:
    """Show an item with the source and date of every figure."""
    from planner.cli.shelf import show_item

    return show_item(item, catalog=catalog or [], as_json=as_json)


@catalog_app.command("check", epilog="Example: planner catalog check --catalog my-catalog")
def catalog_check(catalog: Folders = None) -> int:
    """Read every item and every source, and say what is wrong."""
    from planner.cli.shelf import check_items

    return check_items(catalog=catalog or [])

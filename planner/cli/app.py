"""The commands, their options and help texts."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

import planner
from planner.cli.bench_commands import bench_app
from planner.cli.measured_commands import add_measured
from planner.cli.options import (
    Anchors,
    AsJson,
    Calibrations,
    Changes,
    Folders,
    OneScenario,
    Scenarios,
    with_profiles,
)

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
def check(
    scenarios: Scenarios, change: Changes = None, calibration: Calibrations = None, catalog: Folders = None
) -> int:
    """Validate scenarios: every problem with file, line and remedy."""
    from planner.cli.inspect import check_scenarios

    changes, folders = with_profiles(change or [], catalog or [], calibration or [])
    return check_scenarios(scenarios, changes=changes, catalog=folders)


@app.command(epilog="Example: planner explain h200-1024-ndr capex.total_usd")
def explain(
    scenario: OneScenario,
    key: Annotated[str | None, typer.Argument(help="Ledger key; all keys are listed without one.")] = None,
    change: Changes = None,
    calibration: Calibrations = None,
    catalog: Folders = None,
    depth: Annotated[int, typer.Option(min=1, max=99, help="Levels to walk down; 99 shows every input.")] = 6,
    as_json: AsJson = False,
) -> int:
    """Say how a number came about, down to source and date."""
    from planner.cli.inspect import explain_key

    changes, folders = with_profiles(change or [], catalog or [], calibration or [])
    return explain_key(scenario, key, changes=changes, catalog=folders, depth=depth, as_json=as_json)


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
    zero_bubble: Annotated[
        bool, typer.Option("--zero-bubble", help="Try the zero-bubble schedule too, which few stacks have.")
    ] = False,
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
        as_json=as_json, zero_bubble=zero_bubble,
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


add_measured(app)


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

"""The commands, their options and help texts."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

import planner
from planner.cli.bench_commands import bench_app
from planner.cli.compare_commands import add_compare
from planner.cli.folding import folded
from planner.cli.measured_commands import add_measured
from planner.cli.network_commands import add_network
from planner.cli.options import (
    Anchors,
    AsJson,
    Calibrations,
    Changes,
    Folders,
    OneScenario,
    QuoteFiles,
    Scenarios,
    with_profiles,
)
from planner.cli.own_or_rent_commands import add_own_or_rent
from planner.cli.purchase_commands import add_purchase
from planner.cli.search_commands import add_search
from planner.cli.shelf_commands import catalog_app
from planner.cli.simulate_commands import add_simulate

app = typer.Typer(
    name="planner",
    help="Plans AI clusters: which hardware, wired how, powered and cooled how, delivering what, costing what.",
    epilog="Start with: planner run h200-1024-ndr -o reports",
    add_completion=True,
    no_args_is_help=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
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
    problems = folded(problems)
    for problem in problems[:MOST_PROBLEMS]:
        print(problem if len(problem) <= 600 else f"{problem[:400]} … {problem[-150:]}", file=stream)
    if len(problems) > MOST_PROBLEMS:
        print(f"… and {len(problems) - MOST_PROBLEMS:,} more problems", file=stream)


def _at_a_terminal() -> bool:
    """Whether somebody can type and look: the interface reads stdin and draws on stderr, or a browser stands for both.

    A terminal that says it is dumb, such as an editor's shell window, can't place a cursor.
    """
    return "web_driver" in os.environ.get("TEXTUAL_DRIVER", "") or (
        sys.stdin.isatty() and sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
    )


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
    scenario: Annotated[
        str | None,
        typer.Argument(help="Scenario to open, or a folder of scenarios; the current one by default."),
    ] = None,
    catalog: Folders = None,
    read_only: Annotated[
        bool, typer.Option("--read-only", help="Look only: nothing can be edited or written.")
    ] = False,
    keymap: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Your own keys, such as 'edit.undo: ctrl+z'.")
    ] = None,
    serve: Annotated[
        bool, typer.Option("--serve", help="Show it in a browser of this machine (needs the extra 'serve').")
    ] = False,
    port: Annotated[int, typer.Option(min=1, max=65535, help="Port of --serve.")] = 8000,
) -> int:
    """Edit a scenario and see every number move."""
    if serve:
        from planner.tui.serving import serve as serve_it

        return serve_it(scenario, catalog or [], port=port, read_only=read_only, keymap=keymap)
    if not _at_a_terminal():
        print("planner: tui needs a terminal; use planner run", file=sys.stderr)
        return 2
    from planner.tui.run import run

    return run(scenario, catalog or [], read_only=read_only, keymap=keymap)


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
    quote: QuoteFiles = None,
    formats: Annotated[
        str, typer.Option("--format", metavar="LIST", help="Any of html,xlsx,json, with commas.")
    ] = "html,xlsx,json",
    catalog: Folders = None,
    everything: Annotated[bool, typer.Option("--all", help="Every shipped scenario.")] = False,
    jobs: Annotated[
        int | None,
        typer.Option("-j", "--jobs", min=1, max=64, help="Processes; as many as cores by default."),
    ] = None,
    fail_over: Annotated[
        list[str] | None,
        typer.Option(
            "--fail-over",
            metavar="EXPR",
            help="End with 1 where a figure is over a bound: 'unit.usd_per_gpu_hour>2.5', "
            "'capex.total_usd_p90>60M'. Repeatable.",
        ),
    ] = None,
    as_json: AsJson = False,
) -> int:
    """Evaluate scenarios and write their reports. Each gets NAME.html, NAME.xlsx and NAME.json.

    Exit codes: 0 done, 1 a stated limit or a bound is missed, 2 input wrong or the cluster can't be built
    (its report says why), 70 a fault of ours, 130 interrupted. A batch returns the worst; one
    broken scenario does not stop the others.
    """
    from planner.cli.anchor import with_anchors
    from planner.cli.batch import run_batch
    from planner.cli.quotes import with_quotes

    changes, folders = with_profiles(change or [], catalog or [], calibration or [])
    changes = with_quotes(with_anchors(changes, anchor or []), quote or [])
    return run_batch(
        scenarios or [], everything=everything, output=output, changes=changes, formats=formats,
        catalog=folders, jobs=jobs, as_json=as_json, fail_over=fail_over or [],
    )  # fmt: skip


@app.command(epilog="Example: planner check my.yaml")
def check(
    scenarios: Scenarios,
    change: Changes = None,
    calibration: Calibrations = None,
    quote: QuoteFiles = None,
    catalog: Folders = None,
) -> int:
    """Validate scenarios: every problem with file, line and remedy."""
    from planner.cli.inspect import check_scenarios
    from planner.cli.quotes import with_quotes

    changes, folders = with_profiles(change or [], catalog or [], calibration or [])
    return check_scenarios(scenarios, changes=with_quotes(changes, quote or []), catalog=folders)


@app.command(epilog="Example: planner explain h200-1024-ndr capex.total_usd")
def explain(
    scenario: OneScenario,
    key: Annotated[str | None, typer.Argument(help="Ledger key; all keys are listed without one.")] = None,
    change: Changes = None,
    calibration: Calibrations = None,
    anchor: Anchors = None,
    quote: QuoteFiles = None,
    catalog: Folders = None,
    depth: Annotated[int, typer.Option(min=1, max=99, help="Levels to walk down; 99 shows every input.")] = 6,
    as_json: AsJson = False,
) -> int:
    """Say how a number came about, down to source and date."""
    from planner.cli.anchor import with_anchors
    from planner.cli.inspect import explain_key
    from planner.cli.quotes import with_quotes

    changes, folders = with_profiles(change or [], catalog or [], calibration or [])
    changes = with_quotes(with_anchors(changes, anchor or []), quote or [])
    return explain_key(scenario, key, changes=changes, catalog=folders, depth=depth, as_json=as_json)


@app.command(epilog="Example: planner risk h200-1024-ndr --key unit.usd_per_gpu_hour -o risk.html")
def risk(
    scenario: OneScenario,
    key: Annotated[
        str, typer.Option(metavar="KEY", help="Result that is taken apart, a ledger key.")
    ] = "tco.npv_usd",
    draws: Annotated[int, typer.Option(min=32, max=1_000_000, help="Draws, in 16 hypercubes.")] = 10_000,
    seed: Annotated[int, typer.Option(min=0, help="Same seed, same answer.")] = 20261130,
    ranges: Annotated[
        list[str] | None,
        typer.Option(
            "--range",
            metavar="KEY=LOW:HIGH",
            help="P10 and P90 of an input, before its source's. Repeatable.",
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o", "--output", metavar="FILE", help="File for the answer: .json, .txt, or a report as .html."
        ),
    ] = None,
    change: Changes = None,
    calibration: Calibrations = None,
    catalog: Folders = None,
    as_json: AsJson = False,
) -> int:
    """Say how sure a plan is. Ranges, odds of every limit, what moves a result, what to measure or negotiate next.

    Draws every input that has a range; the design, the execution plan and the dates stay. Standard errors say
    whether more draws would change the answer. Exit code 1 where the plan as it stands misses a limit.
    """
    from planner.cli.risk import say_risk

    changes, folders = with_profiles(change or [], catalog or [], calibration or [])
    return say_risk(
        scenario, key=key, draws=draws, seed=seed, ranges=ranges or [], output=output, changes=changes,
        catalog=folders, as_json=as_json,
    )  # fmt: skip


@app.command(epilog="Example: planner init my-cluster.yaml")
def init(
    path: Annotated[Path, typer.Argument(help="File to write.")] = Path("scenario.yaml"),
    force: Annotated[bool, typer.Option("--force", help="Replace a file that is there.")] = False,
) -> int:
    """Write a commented scenario to start from. Its schema, for editors, stands beside it."""
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


@app.command("import", epilog="Example: planner import reports/h200-phased.xlsx -o edited.yaml")
def import_(
    workbook: Annotated[Path, typer.Argument(help="Workbook of planner run, edited and saved as .xlsx.")],
    output: Annotated[
        Path, typer.Option("-o", "--output", metavar="SCENARIO", help="Scenario file to write.")
    ],
    force: Annotated[bool, typer.Option("--force", help="Replace a file that holds something else.")] = False,
    catalog: Folders = None,
) -> int:
    """Read back inputs edited in a workbook. The scenario it writes gives the workbook's totals.

    Reads the values on Inputs and the selected case. Edits become fields of the scenario, whose comments
    stay, or overrides that name the cell. A changed formula, row or sheet is refused with its cell.
    """
    from planner.cli.imports import import_workbook

    return import_workbook(workbook, output=output, catalog=catalog or [], force=force)


add_network(app)
add_measured(app)
add_purchase(app)
add_own_or_rent(app)
add_simulate(app)
add_compare(app)
add_search(app)

"""The decision page: what was chosen against what, and which inputs are least known."""

from __future__ import annotations

from planner.performance.search_words import features_in_words
from planner.present import format as fmt
from planner.present.view.model import Cell, Column, Table
from planner.present.view.money import offer_in_words
from planner.present.view.network import topology_in_words
from planner.present.view.power import rack_limit_kw
from planner.present.view.reading import Reading, words
from planner.present.view.risk import Weighed, cost_inputs, model_errors, range_text, time_inputs
from planner.present.view.time import plan_in_words

UNTRIED = "no alternative tried"


def choices(reading: Reading) -> Table:
    """Three to six rows: plan, topology, optics, cooling, own or rent, phases."""
    found = (
        _plan(reading), _serving(reading), _topology(reading), _optics(reading), _cooling(reading), _rent(reading),
    )  # fmt: skip
    rows = [row for row in found if row is not None][:6]
    return Table(
        "choices",
        "What was taken against what",
        (
            Column("Choice", numeric=False),
            Column("Taken", numeric=False),
            Column("Against", numeric=False),
            Column("Why, and when it flips", numeric=False),
        ),
        tuple(rows),
    )


def _plan(reading: Reading) -> tuple[Cell, ...] | None:
    if not reading.built.performance.trained:
        return None
    trained = reading.built.performance.trained[0]
    key, choice = f"{trained.key}.plan.tensor", trained.choice
    if not trained.searched:
        return (
            words("Plan"),
            words(", ".join([plan_in_words(reading, trained), *features_in_words(trained.plan)]), key),
            words(UNTRIED),
            words("as typed"),
        )
    against, why = fmt.NOTHING, f"fastest of {fmt.count(choice.fitting)} that fit the memory"
    if choice.runner_up is not None and choice.runner_up_step_s is not None:
        other = choice.runner_up
        context = f"CP {fmt.count(other.context_ranks[0])} x " if other.context_ranks[0] > 1 else ""
        against = (
            f"TP {fmt.count(other.tensor_ranks[0])} x PP {fmt.count(other.pipeline_ranks[0])} x {context}"
            f"DP {fmt.count(other.data_ranks[0])}"
        )
        slower = float(choice.runner_up_step_s[0]) / reading.value(f"{trained.key}.step_s") - 1
        why += f"; the runner-up's step is {fmt.percent(slower)} % longer"
    return words("Plan"), words(plan_in_words(reading, trained), key), words(against), words(why)


def _serving(reading: Reading) -> tuple[Cell, ...] | None:
    if not reading.built.performance.served:
        return None
    key = reading.built.performance.served[0].key
    gpus, batch = (fmt.count(reading.value(f"{key}.{name}")) for name in ("replica_gpus", "batch_sequences"))
    served = reading.built.performance.served[0]
    tried, what = (
        (served.choice.tried, "layouts and batches")
        if served.pools is None
        else (served.pools.split.tried, "splits and rates of pools")
    )
    spare = 1 - reading.value(f"{key}.tpot_p99_s") / reading.value(f"{key}.slo.tpot_p99_s")
    return (
        words("Replica" if served.pools is None else "Decode replica"),
        words(f"{gpus} GPUs, batch {batch}", f"{key}.replica_gpus"),
        words(f"{fmt.count(tried)} {what}"),
        words(f"most tokens within the objective, with {fmt.percent(spare)} % of TPOT to spare"),
    )


def _topology(reading: Reading) -> tuple[Cell, ...]:
    fabric = reading.built.cluster.fabric
    key = "design.fabric.tiers"
    return words("Network"), words(topology_in_words(reading), key), words(UNTRIED), words(fabric.why[0])


def _optics(reading: Reading) -> tuple[Cell, ...] | None:
    rows = reading.built.cluster.cabling.rows
    if not rows:
        return None
    links = sum(row.links for row in rows)
    kinds: dict[str, int] = {}
    for row in rows:
        name = "optical modules" if row.kind == "transceiver-pair" else row.kind.upper()
        kinds[name] = kinds.get(name, 0) + row.links
    said = ", ".join(
        f"{fmt.percent(n / links, 0)} % {name}" for name, n in sorted(kinds.items(), key=lambda k: -k[1])
    )
    longest = max(row.longest_m for row in rows)
    return (
        words("Cables"), words(said, "design.fabric.transceivers"), words("all media that the cages take"),
        words(f"copper where it reaches, then the lowest price; the longest link is {fmt.significant(longest)} m"),
    )  # fmt: skip


def _cooling(reading: Reading) -> tuple[Cell, ...]:
    parts = reading.evaluation.parts
    fullest = max(group.power_kw_max for group in reading.built.cluster.layout.groups)
    limit = rack_limit_kw(reading)
    pue = fmt.significant(reading.value("power.pue"))
    why = f"the fullest rack draws {fmt.significant(fullest)} kW"
    if limit is not None:
        why += f" of {fmt.significant(limit)} kW; flips above that"
    return (
        words("Cooling"), words(f"{parts.cooling.item.name}, PUE {pue}", "power.pue"), words(UNTRIED), words(why),
    )  # fmt: skip


def _rent(reading: Reading) -> tuple[Cell, ...] | None:
    rental = reading.evaluation.parts.rental
    if rental is None or not reading.has("rent.saved_by_owning_usd"):
        return None
    saved = reading.value("rent.saved_by_owning_usd")
    months = reading.evaluation.loaded.scenario.money.horizon_months
    why = (
        f"owning {'saves' if saved >= 0 else 'costs'} {fmt.money(abs(saved))} in today's money, with all "
        f"{months} months rented at this one price"
    )
    if rental.item.term_months == 0:
        even = reading.value("rent.break_even_utilisation_fraction")
        if even < 1:
            why += f"; flips {'below' if saved >= 0 else 'above'} {fmt.percent(even, 0)} % utilisation"
        why += "; a reserved term would cost less than on demand"
    return (
        words("Own or rent"), words("own", "rent.saved_by_owning_usd"),
        words(f"rent: {offer_in_words(reading)}", "rent.usd_per_gpu_hour"), words(why),
    )  # fmt: skip


def unknowns(reading: Reading) -> Table:
    """Two inputs that weigh most on cost, and the bands of the model itself; without any, its widest input."""
    rows = [
        _unknown(reading, one, f"moves the cost of ownership by {fmt.percent(one.weight)} %")
        for one in cost_inputs(reading)[:2]
    ]
    errors = model_errors(reading)
    rows += [
        _unknown(reading, one, f"moves {times} by {fmt.percent(one.weight, 0)} %: a benchmark narrows it")
        for one, times in errors
    ]
    if not errors:
        rows += [
            _unknown(
                reading,
                one,
                f"P10 to P90 spans {fmt.percent(one.weight, 0)} % of its larger end; its effect isn't worked out",
            )
            for one in time_inputs(reading)[:1]
        ]
    return Table(
        "unknowns",
        "The inputs most worth measuring",
        (
            Column("Input", numeric=False),
            Column("Value"),
            Column("P10 to P90"),
            Column("What it would narrow", numeric=False),
            Column("Basis", numeric=False),
        ),
        tuple(rows),
    )


def _unknown(reading: Reading, one: Weighed, why: str) -> tuple[Cell, ...]:
    line = one.line
    return (
        words(line.label, line.key),
        reading.quantity(line.key),
        words(range_text(one)),
        words(why),
        reading.letter(line.key),
    )

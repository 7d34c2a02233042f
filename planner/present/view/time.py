"""Where paid GPU time goes: shares, the loss ladder, the step, memory, checkpoints."""

from __future__ import annotations

from math import prod

from planner.performance.train import MEMORY, PARTS, Trained
from planner.present import format as fmt
from planner.present.view.model import Cell, Column, Figure, Section, Table
from planner.present.view.plans_tried import plans_tried
from planner.present.view.reading import Reading, number, share, words
from planner.present.view.serving import serving_tables

SHARES = (
    "computing", "recompute", "exposed_communication", "bubble", "stragglers", "checkpoints", "failures",
)  # fmt: skip
WAITING = SHARES[2:]
LANES = (
    ("Compute", (("computing_s", "computing"), ("recompute_s", "recompute"), ("optimiser_s", "computing"))),
    ("Tensor parallel", (("tensor_exposed_s", "exposed_communication"),)),
    ("Pipeline", (("pipeline_exposed_s", "exposed_communication"), ("bubble_s", "bubble"))),
    ("Data parallel", (("data_exposed_s", "exposed_communication"),)),
    ("Expert parallel", (("expert_exposed_s", "exposed_communication"),)),
    ("Context parallel", (("context_exposed_s", "exposed_communication"),)),
    ("Stragglers, host", (("other_s", "stragglers"),)),
)
EXPOSED = tuple(name for name in PARTS if name.endswith("exposed_s"))
TRAINING_LIMITS = (
    "The step model takes experts as evenly loaded; a skewed router makes the fullest rank slower.",
    "Communication is a rate and a start-up time for each collective: congestion between jobs isn't modelled.",
    "Any failure stops the whole training job, and the checkpoint interval is the best one for these rates.",
    "Predicted step times stand for a current, tuned Megatron-class stack; the band is in the section on fidelity.",
)
SERVING_LIMITS = (
    "Requests all have the stated prompt and answer length; spread in length widens the tails.",
    "Only compute time that waits for collectives and restarts counts as waiting; decode is bound by memory "
    "bandwidth, which shows as a low share of peak.",
)
TOGETHER = "Prefill and decode share a replica."
APART = "Replicas stay in their pool whatever the hour brings."
UNCACHED = "Prefix caches are left out: every prompt is computed whole."
CACHED = "Of prompts only what no prefix cache holds is computed; memory is held for whole prompts, as if none were shared."


def time_section(reading: Reading) -> Section:
    """C1 to C3, plans, memory, checkpoints, serving points."""
    performance = reading.built.performance
    figures = [_shares(reading), _ladder(reading)]
    tables: list[Table] = []
    notes: list[str] = []
    for index, trained in enumerate(performance.trained):
        if index == 0:
            figures.append(_lanes(reading, trained))
        tables += [
            _plan(reading, trained),
            *plans_tried(reading, trained),
            _memory(reading, trained),
            _checkpoints(reading, trained),
        ]
    for served in performance.served:
        tables += serving_tables(reading, served)
    if performance.trained:
        notes += TRAINING_LIMITS
    if performance.served:
        apart = {served.pools is not None for served in performance.served}
        cached = {served.workload.prefix_hit_fraction > 0.0 for served in performance.served}
        notes += [
            *SERVING_LIMITS,
            *([TOGETHER] if False in apart else []),
            *([APART] if True in apart else []),
            *([UNCACHED] if False in cached else []),
            *([CACHED] if True in cached else []),
        ]
    if len(reading.built.phases) > 1:
        notes.append("Times and rates are those of the full cluster, once every phase is in service.")
    absent = [] if performance.trained else ["no training workload: no step and no checkpoints"]
    absent += [] if performance.served else ["no serving workload: no latency and no batch"]
    notes += [f"This plan has {one}." for one in absent]
    lead = f"{utilisation_in_words(reading)} {waiting_in_words(reading)}"
    return Section("time", "Time", lead, tuple(figures), tuple(tables), tuple(notes))


def utilisation_in_words(reading: Reading) -> str:
    """UTIL as a product: share of time computing x share of peak while computing."""
    computing = reading.value("outcome.parts.computing_fraction")
    useful = reading.value("outcome.gpu_utilisation_fraction")
    available = reading.value("performance.availability_fraction")
    at_peak = useful / (computing * available) if computing * available > 0 else 0.0
    shown = fmt.percent(available)
    also = "" if shown == "100.0" else f" x {shown} % available"
    return (
        f"Computing {fmt.percent(computing)} % of the time x {fmt.percent(at_peak)} % of peak while computing"
        f"{also} = UTIL {fmt.percent(useful)} %."
    )


def waiting_in_words(reading: Reading) -> str:
    """WAIT and its cost."""
    return (
        f"WAIT {fmt.percent(reading.value('outcome.waiting_fraction'))} % of the scheduled time costs "
        f"{fmt.money(reading.value('outcome.waiting_usd_per_year'))} a year; UTIL and WAIT don't add to 100, "
        "since computing itself stays below peak."
    )


def _shares(reading: Reading) -> Figure:
    hours = reading.value("outcome.scheduled_gpu_hours_per_year")
    price = reading.value("unit.usd_per_gpu_hour_sold")
    names = [name for name in SHARES if reading.has(f"outcome.parts.{name}_fraction")]
    rows, parts = [], []
    for name in names:
        key = f"outcome.parts.{name}_fraction"
        part, label = reading.value(key), reading.ledger[key].label
        rows.append(
            (
                words(label), reading.percent(key), number(part * hours), number(part * hours * price / 1e6),
                reading.letter(key),
            )
        )  # fmt: skip
        parts.append({"part": name, "label": label, "value": part, "text": f"{fmt.percent(part)} %"})
    total = sum(part["value"] for part in parts if isinstance(part["value"], float))
    rows.append(
        (words("All"), share(total), number(total * hours), number(total * hours * price / 1e6), words(""))
    )
    lost = [part for part in parts if part["part"] in WAITING]
    worst = max(lost, key=lambda part: float(str(part["value"])))
    computing = parts[0]["text"]
    return Figure(
        "C1",
        "stack",
        f"{computing} of scheduled GPU time computes; the largest wait is {str(worst['label']).lower()} "
        f"({worst['text']})",
        "One bar is the scheduled GPU time; parts of 4 % or more carry their share.",
        {"parts": parts},
        Table(
            "time-shares",
            "Where scheduled GPU time goes",
            (
                Column("Part", numeric=False),
                Column("Share", "%"),
                Column("Time", "GPU-h/yr"),
                Column("Cost", "M USD/yr"),
                Column("Basis", numeric=False),
            ),
            tuple(rows),
            total=True,
        ),
    )


def ladder_factors(reading: Reading) -> list[tuple[str, float, str, str]]:
    """Steps from peak to useful: name, factor, how it was found, key. Their product is UTIL."""
    found = _own_ladder(reading)
    performance = reading.built.performance
    if len(performance.trained) + len(performance.served) > 1:
        rest = reading.value("outcome.gpu_utilisation_fraction") / prod(factor for _, factor, _, _ in found)
        found.append(
            (
                "Other workloads",
                rest,
                "mean over all workloads by their share",
                "outcome.gpu_utilisation_fraction",
            )
        )
    return found


def _own_ladder(reading: Reading) -> list[tuple[str, float, str, str]]:
    """Steps of the first training workload, or of the first serving one."""
    performance, value = reading.built.performance, reading.value
    first = (performance.trained or performance.served)[0].key
    working = f"{first}.availability_fraction" if performance.trained else "performance.availability_fraction"
    end = [
        ("Failures, checkpoints", value(f"{first}.goodput_fraction"), "goodput", f"{first}.goodput_fraction"),
        ("Availability", value(working), "nodes under repair, less spares", working),
    ]
    if not performance.trained:
        key = performance.served[0].key
        talking, mfu = value(f"{key}.communication_fraction"), value(f"{key}.mfu_fraction")
        return [
            (
                "Kernels, memory-bound decode", mfu / (1 - talking), "arithmetic of tokens over peak while computing",
                f"{key}.mfu_fraction",
            ),
            ("Exposed communication", 1 - talking, "collectives of a decode step", f"{key}.communication_fraction"),
            *end,
        ]  # fmt: skip
    key = performance.trained[0].key
    seconds = {name: value(f"{key}.parts.{name}") for name in PARTS}
    busy = seconds["computing_s"] + seconds["recompute_s"] + seconds["optimiser_s"]
    talked = busy + sum(seconds[name] for name in EXPOSED)
    bubbled = talked + seconds["bubble_s"]
    mfu, hfu, step = (value(f"{key}.{name}") for name in ("mfu_fraction", "hfu_fraction", "step_s"))
    used = prod(value(f"{key}.plan.{axis}") for axis in ("tensor", "pipeline", "context", "data"))
    used /= value("cluster.gpus")
    start = [("GPUs in the plan", used, "ranks of the plan over GPUs", "cluster.gpus")] if used < 1 else []
    return [
        *start,
        ("Kernel efficiency", hfu / used * step / busy, "executed FLOP over peak while busy", f"{key}.hfu_fraction"),
        ("Recompute", mfu / hfu, "model FLOP over executed FLOP", f"{key}.mfu_fraction"),
        (
            "Exposed communication", busy / talked, "busy time over busy and communicating",
            f"{key}.exposed_communication_fraction",
        ),
        ("Pipeline bubble", talked / bubbled, "the same with the bubble", f"{key}.bubble_fraction"),
        ("Stragglers, host", bubbled / step, "the same with all of the step", f"{key}.step_s"),
        *end,
    ]  # fmt: skip


def _ladder(reading: Reading) -> Figure:
    rows, steps, remaining = [], [], 1.0
    rows.append((words("Peak"), words(fmt.NOTHING), share(1.0), words("dense peak of the data sheet")))
    steps.append({"step": "Peak", "factor": 1.0, "before": 0.0, "after": 1.0, "text": "100 %"})
    for name, factor, how, key in ladder_factors(reading):
        before, remaining = remaining, remaining * factor
        rows.append((words(name), Cell(fmt.percent(factor), factor * 100, key), share(remaining), words(how)))
        steps.append(
            {
                "step": name, "factor": factor, "before": before, "after": remaining,
                "text": f"x {fmt.percent(factor)} %",
            }
        )  # fmt: skip
    util = reading.percent("outcome.gpu_utilisation_fraction")
    rows.append((words("UTIL"), words(fmt.NOTHING), util, words("useful FLOP over peak FLOP")))
    steps.append({"step": "UTIL", "factor": 1.0, "before": 0.0, "after": remaining, "text": f"{util.text} %"})
    worst = min(ladder_factors(reading), key=lambda step: step[1])
    return Figure(
        "C2",
        "ladder",
        f"100 % of peak becomes {util.text} % UTIL; {worst[0].lower()} takes the most (x {fmt.percent(worst[1])} %)",
        "Read downwards: each step multiplies what is left by its factor.",
        {"steps": steps},
        Table(
            "loss-ladder",
            "From peak to useful work",
            (
                Column("Step", numeric=False),
                Column("Factor", "%"),
                Column("Left", "% of peak"),
                Column("How it was found", numeric=False),
            ),
            tuple(rows),
            total=True,
        ),
    )


def _lanes(reading: Reading, trained: Trained) -> Figure:
    step = reading.value(f"{trained.key}.step_s")
    rows, bars, at = [], [], 0.0
    for lane, parts in LANES:
        for name, part in parts:
            key = f"{trained.key}.parts.{name}"
            seconds = reading.value(key)
            if seconds <= 0 and lane != "Compute":
                continue
            exposed = lane != "Compute"
            label = reading.ledger[key].label
            rows.append(
                (
                    words(lane),
                    words(label),
                    number(at),
                    reading.number(key),
                    words("exposed" if exposed else "busy"),
                )
            )
            if seconds > 0:
                bars.append(
                    {
                        "lane": lane, "label": label, "part": part, "start": at, "end": at + seconds,
                        "text": f"{label}: {fmt.duration(seconds)}",
                    }
                )  # fmt: skip
            at += seconds
    rows.append(
        (words("Step"), words("all parts"), number(0.0), reading.number(f"{trained.key}.step_s"), words(""))
    )
    exposed_s = sum(reading.value(f"{trained.key}.parts.{name}") for name in EXPOSED)
    return Figure(
        "C3",
        "lanes",
        f"A step takes {fmt.duration(step)}, of which {fmt.duration(exposed_s) if exposed_s else 'nothing'} is "
        "communication that no computing hides",
        "Parts are laid end to end; communication hidden behind computing isn't drawn, and the order within a "
        "step isn't modelled.",
        {"bars": bars, "lanes": list(dict.fromkeys(bar["lane"] for bar in bars)), "step": step},
        Table(
            "step-timeline",
            f"One training step of {trained.workload.id}",
            (
                Column("Lane", numeric=False),
                Column("Operation", numeric=False),
                Column("Start", "s"),
                Column("Length", "s"),
                Column("Kind", numeric=False),
            ),
            tuple(rows),
            total=True,
        ),
    )


def plan_in_words(reading: Reading, trained: Trained) -> str:
    """The parallel plan in a line."""
    said = []
    for axis, name in (
        ("tensor", "TP"),
        ("pipeline", "PP"),
        ("context", "CP"),
        ("data", "DP"),
        ("expert", "EP"),
    ):
        ranks = reading.value(f"{trained.key}.plan.{axis}")
        if ranks > 1 or axis in ("tensor", "pipeline", "data"):
            said.append(f"{name} {fmt.count(ranks)}")
    stage = int(reading.value(f"{trained.key}.plan.zero_stage"))
    return f"{' x '.join(said)}, {SHARDED[min(stage, 3)]}"


SHARDED = ("nothing sharded", "optimiser sharded", "optimiser and gradients sharded", "all states sharded")
"""What data-parallel ranks share out, by ZeRO stage."""


def _plan(reading: Reading, trained: Trained) -> Table:
    key = trained.key
    names = (
        "tensor", "pipeline", "context", "data", "expert", "virtual_stages", "microbatch", "zero_stage", "recompute",
    )  # fmt: skip
    more = [
        line.key.removeprefix(f"{key}.plan.")
        for line in reading.ledger
        if line.key.startswith(f"{key}.plan.") and line.key.removeprefix(f"{key}.plan.") not in names
    ]
    rows = [
        (words(reading.ledger[f"{key}.plan.{n}"].label), reading.quantity(f"{key}.plan.{n}"))
        for n in (*names, *more)
    ]
    rest: tuple[str, ...] = (
        "batch_sequences", "step_s", "tokens_per_s", "tokens_per_s_per_gpu", "achieved_tflop_per_s", "mfu_fraction",
        "hfu_fraction", "tokens", "days_to_train", "gpu_hours", "run_energy_kwh",
    )  # fmt: skip
    if f"{key}.step_without_anchor_s" in reading.ledger:
        rest = ("step_without_anchor_s", "model_error_ratio", *rest)
    rows += [(words(reading.ledger[f"{key}.{n}"].label), reading.quantity(f"{key}.{n}")) for n in rest]
    note = reading.ledger[f"{key}.plan.tensor"].note
    return Table(
        f"plan-{trained.workload.id}",
        f"Execution plan of {trained.workload.id} ({trained.workload.model}): {note}",
        (Column("Quantity", numeric=False), Column("Value")),
        tuple(rows),
    )


def _memory(reading: Reading, trained: Trained) -> Table:
    key = f"{trained.key}.memory"
    had = reading.value(f"{key}.available_bytes")
    rows = [
        (
            words(label), reading.number(f"{key}.{name}", 1e-9), share(reading.value(f"{key}.{name}") / had),
        )
        for name, label in MEMORY.items()
    ]  # fmt: skip
    for name, label in (("available_bytes", "Memory of a GPU"), ("needed_bytes", "Needed")):
        rows.append(
            (words(label), reading.number(f"{key}.{name}", 1e-9), share(reading.value(f"{key}.{name}") / had))
        )
    return Table(
        f"memory-{trained.workload.id}",
        f"Memory of {trained.workload.id} on the fullest GPU, against what it has",
        (Column("Held by", numeric=False), Column("Size", "GB"), Column("Of a GPU's memory", "%")),
        tuple(rows),
        total=True,
    )


def _checkpoints(reading: Reading, trained: Trained) -> Table:
    rows = []
    for name in (
        "mtbf_hours", "checkpoint_bytes", "checkpoint_write_s", "checkpoint_interval_s", "checkpoint_fraction",
        "lost_work_fraction", "restart_fraction", "goodput_fraction",
    ):  # fmt: skip
        key = f"{trained.key}.{name}"
        rows.append((words(reading.ledger[key].label), reading.quantity(key)))
    return Table(
        f"checkpoints-{trained.workload.id}",
        f"Failures and checkpoints of {trained.workload.id}",
        (Column("Quantity", numeric=False), Column("Value")),
        tuple(rows),
    )

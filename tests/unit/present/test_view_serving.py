"""What a report says of separate pools and of a load."""

from __future__ import annotations

from planner.evaluate import evaluate
from planner.present.view.choices import unknowns
from planner.present.view.outcomes import headlines, verdict
from planner.present.view.reading import Reading
from planner.present.view.risk import time_inputs
from planner.present.view.serving import serving_tables
from planner.present.view.time import CACHED, UNCACHED, time_section
from planner.study.limits import missed_limits
from tests.serving_fleet import fleet, shelf

LOAD = "workloads.chat.load.requests_per_s"


def test_the_table_of_pools_says_whether_they_pay() -> None:
    found = evaluate(fleet("workloads.chat.disaggregated=auto"), shelf())
    assert found.built is not None
    gain = found.ledger.scalar("performance.serving.pools.gain_fraction")
    tables = {
        one.id: one for one in serving_tables(Reading(found, found.built), found.built.performance.served[0])
    }
    title = tables["pools-chat"].caption
    assert ("they pay" in title) is (gain > 0.0) and f"{gain * 100.0:+.3g} %" in title
    labels = [row[0].text for row in tables["serving-chat"].rows]
    assert "Decode replicas" in labels and "Replicas" not in labels


def test_a_load_stands_under_the_throughput_and_is_judged() -> None:
    for rate, word, met in (("300", "met", True), ("3000", "missed", False)):
        found = evaluate(fleet(f"{LOAD}={rate}"), shelf())
        cells = headlines(found)
        note = next(one.note for one in cells if one.key == "outcome.serving_output_tokens_per_s")
        assert note.endswith(word) and "limit 100 %" in note
        said, meets = verdict(found, cells)
        assert meets is met and (met or "GPUs for the load" in said)
        assert [one.key for one in missed_limits(found)] == (
            [] if met else ["limits.ttft_p99_s", "limits.tpot_p99_s", "workloads.0.load.requests_per_s"]
        )


def test_lengths_are_told_with_the_digits_they_were_written_with() -> None:
    found = evaluate(fleet("workloads.chat.input_tokens=2047"), shelf())
    assert found.built is not None
    reading = Reading(found, found.built)
    (table,) = (
        one for one in serving_tables(reading, found.built.performance.served[0]) if one.id == "serving-chat"
    )
    assert {row[0].text: row[1].text for row in table.rows}["Prompt of a request"] == "2,047 tokens"


def test_what_is_worth_measuring_of_a_fleet_is_how_far_its_times_are_off() -> None:
    found = evaluate(fleet(), shelf())
    assert found.built is not None
    reading = Reading(found, found.built)
    keys = {row[0].key: row[3].text for row in unknowns(reading).rows}
    first = found.ledger["performance.serving.first_token_error_ratio"]
    assert first.low is not None and first.high is not None
    assert f"time to the first token by {100 * (first.high - first.low):.0f} %" in keys[first.key]
    assert "time for each token" in keys["performance.serving.model_error_ratio"] and len(keys) == 4
    widths = time_inputs(reading)
    assert all(0 < one.weight <= 2 for one in widths) and len(widths) > 10


def test_the_notes_say_of_prefix_caches_what_the_plan_does() -> None:
    for share, said in (("0.0", UNCACHED), ("0.5", CACHED)):
        found = evaluate(fleet(f"workloads.chat.prefix_hit_fraction={share}"), shelf())
        assert found.built is not None
        assert {UNCACHED, CACHED} & set(time_section(Reading(found, found.built)).notes) == {said}

"""What a report says of separate pools and of a load."""

from __future__ import annotations

from planner.evaluate import evaluate
from planner.present.view.outcomes import headlines, verdict
from planner.present.view.reading import Reading
from planner.present.view.serving import serving_tables
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
            [] if met else ["workloads.0.load.requests_per_s"]
        )

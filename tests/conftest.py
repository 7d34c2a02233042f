"""What every test shares: programs a test needs are looked for before it runs."""

from __future__ import annotations

import signal

import pytest

from tests.office import browser_or_skip, office_or_skip

collect_ignore = ["bench.py", "bench_pace.py"]
"""Programs that import their neighbours as such; no tests stand in them."""

# A shell's background jobs ignore Ctrl-C and hand that on; programs under test must not inherit it.
signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Tests marked ``office`` or ``browser`` are skipped without the program; in CI they fail."""
    if item.get_closest_marker("office"):
        office_or_skip()
    if item.get_closest_marker("browser"):
        browser_or_skip()

"""`python -m planner.measure`: the benchmark without the rest of the planner."""

from __future__ import annotations

import sys

from planner.measure.run.main import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

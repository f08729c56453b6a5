# `make run` and `make test` do all set-up themselves, on any machine with Python 3.11 and make.

PYTHON ?= python3
export QUESTION ?= How warm is it in Lisbon right now?
ARGS ?=

BIN := .venv/bin
# On busy cores, threads of the model that wait by spinning slow it to a crawl.
QUIET_THREADS := OMP_WAIT_POLICY=passive GOMP_SPINCOUNT=0

# Tests start hundreds of interpreters, and each would compile anew what none may keep.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help run test check bench evidence clean

help:  ## what can be made
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## /  make \1\t/' | expand -t 18

run: ready-run  ## ask the embedded model QUESTION="..." with three everyday tools
	@$(QUIET_THREADS) $(BIN)/wieldy run "$$QUESTION" --tools examples/everyday/tools.py --model local

test: ready-test  ## all tests (ARGS="-k name" for some)
	@$(QUIET_THREADS) $(BIN)/python scripts/fetch_test_model.py
	@$(BIN)/python scripts/fetch_tokenizers.py
	@$(BIN)/python scripts/fetch_npm_servers.py
	@$(BIN)/python scripts/services.py install
	@$(QUIET_THREADS) $(BIN)/python -m pytest -n auto --dist worksteal $(ARGS)

check: ready-test  ## lint, format, types and the direction of imports
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/pyright
	$(BIN)/lint-imports

bench: ready-test  ## how well and how fast the embedded model calls tools (long)
	@set -e; for script in benchmarks/*.py; do $(QUIET_THREADS) $(BIN)/python $$script $(ARGS); done

evidence: ready-test  ## what the project claims, measured (ARGS="formats", "runtime", "constraint", "sandbox" or "fresh": more, and long)
	@$(QUIET_THREADS) $(BIN)/python scripts/evidence.py $(ARGS)

clean:  ## remove .venv and what tools have left here; journals and fetched models stay
	rm -rf .venv .pytest_cache .ruff_cache .hypothesis .coverage .import_linter_cache dist build
	find src tests scripts examples benchmarks -name __pycache__ -type d -prune -exec rm -rf {} +

.PHONY: ready-run ready-test
ready-run ready-test: ready-%:
	@command -v $(PYTHON) >/dev/null || { echo "$(PYTHON) was not found: install Python 3.11 or later, or name one: make PYTHON=..." >&2; exit 1; }
	@$(PYTHON) scripts/set_up.py $*

# Two commands do everything: `make demo` and `make test`. Both set up .venv by themselves, once.
PYTHON ?= python3
BIN := .venv/bin
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt

.PHONY: demo test faults lint bench clean

demo: .venv/ready  ## a first real result: CSL with and without positional encodings
	$(BIN)/graphtrial study demo --store demo-results/store.sqlite --report demo-results/report

test: .venv/ready-dev  ## all tests
	$(BIN)/python -m pytest

faults: .venv/ready-dev  ## the long form of the tests of faults and bad input, about an hour; writes the table
	$(BIN)/python -m pytest tests/faults tests/fuzz tests/studies/test_ray_cluster.py tests/studies/test_slurm_recipe.py \
		--long --table docs/reliability-results.md

lint: .venv/ready-dev  ## style and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: .venv/ready-dev  ## speed, memory and scaling beside PyG, about 25 minutes on a quiet machine
	$(BIN)/python -m benchmarks --out benchmarks/RESULTS.md

clean:  ## remove the environment and the demo's results
	rm -rf .venv demo-results

.venv/ready: pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(INSTALL) --editable '.[plots]'
	touch $@

.venv/ready-dev: .venv/ready
	$(INSTALL) --editable '.[dev]'
	touch $@

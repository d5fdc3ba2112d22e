# Two commands do everything: `make demo` and `make test`. Both set up .venv by themselves, once.
# `make quick` and `make test-all` are the short and the long form of `make test`.
PYTHON ?= python3
FUZZ_SECONDS ?= 3600
WORKERS ?= auto
BIN := .venv/bin
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt
# As many processes as cores unless WORKERS says otherwise, the slow tests first.
unexport PYTHONDONTWRITEBYTECODE  # else every process recompiles all tests and modules
PYTEST := $(BIN)/python -m pytest -n $(WORKERS) --dist loadscope --no-loadscope-reorder

.PHONY: demo test quick test-all bounds durations faults lint bench smoke docs clean

demo: .venv/ready  ## a first real result: CSL with and without positional encodings
	$(BIN)/graphtrial study demo --store demo-results/store.sqlite --report demo-results/report

test: .venv/ready-dev  ## all tests, before every commit, nine minutes on two cores with raw data, up to fourteen the first time
	$(PYTEST)

quick: .venv/ready-dev  ## the fast tests, under a minute on two cores
	$(PYTEST) -m "not slow"

test-all: .venv/ready-dev  ## all combinations, many faults and the large datasets, half an hour on two cores
	$(PYTEST) --long --large
	$(MAKE) bounds

# Kernels of their own cache, since the other ones have no checks.
bounds: .venv/ready-dev  ## tests of compiled functions with every index checked, four minutes on two cores
	NUMBA_BOUNDSCHECK=1 NUMBA_CACHE_DIR=$(CURDIR)/build/bounds $(PYTEST) tests/contracts/test_models.py \
		$(addprefix tests/,datasets/generators encodings graphs kernels nn ops svm tape tsp wikipedia)

durations: test  ## measure test durations in a second run, with compiled kernels; `make quick` selects by them
	$(PYTEST) --write-durations

faults: .venv/ready-dev  ## the long form of the tests of faults and bad input, about an hour; writes the table
	$(BIN)/python -m pytest tests/faults tests/fuzz tests/execution/test_ray_cluster.py tests/execution/test_slurm_recipe.py \
		--long --fuzz-seconds $(FUZZ_SECONDS) --table docs/reliability-results.md

lint: .venv/ready-dev  ## style and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: .venv/ready-dev  ## speed, memory and scaling beside PyG, about 70 minutes on a quiet machine
	$(BIN)/python -m benchmarks --out benchmarks/RESULTS.md

smoke: .venv/ready  ## the wheel in an empty environment: newest versions, then the lowest declared ones, five minutes
	$(BIN)/python -m tools.smoke --fresh
	$(BIN)/python -m tools.smoke --lowest

docs: .venv/ready-docs  ## the documentation site in site/, tutorials executed and links checked: a few minutes
	$(BIN)/python -m tools.docs

clean:  ## remove the environment, the demo's results and the site
	rm -rf .venv demo-results site build/docs

.venv/ready: pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(INSTALL) --editable '.[plots]'
	touch $@

.venv/ready-dev: .venv/ready
	$(INSTALL) --editable '.[dev]'
	touch $@

.venv/ready-docs: .venv/ready
	$(INSTALL) --editable '.[docs]'
	touch $@

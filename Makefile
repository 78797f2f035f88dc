# Two commands: `make demo` shows the main job on a real stream, `make test` checks everything. Each sets itself up.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip --quiet --disable-pip-version-check
# What a rebuild depends on: native sources, and the folders of the package (a folder changes when a file is added).
BUILT_FROM := CMakeLists.txt pyproject.toml $(wildcard native/*) $(shell find src -type d -not -name __pycache__)

.PHONY: demo test test-slow lint bench accuracy dist clean help
help:
	@echo "make demo       the diversity of the words of Python's own standard library"
	@echo "make test       lint, types and the fast tests"
	@echo "make test-slow  sanitizers, long statistical sweeps, sdist and wheel"
	@echo "make accuracy   the accuracy table of docs/accuracy.md"
	@echo "make dist       sdist and wheel in dist/"

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "stablesketch needs Python >= 3.11; set PYTHON=..."; exit 1; }
	@$(PYTHON) -m venv $(VENV)

# The package itself, installed editable: changes to Python files need no rebuild.
$(VENV)/.installed: $(BIN)/python $(BUILT_FROM)
	@echo "Building the compiled core (about half a minute the first time) ..."
	@$(PIP) install 'scikit-build-core>=0.10' 'nanobind>=2.4' ninja cmake
	@$(PIP) install --no-build-isolation --editable .
	@touch $@

$(VENV)/.test-installed: $(VENV)/.installed pyproject.toml
	@echo "Installing what the tests use ..."
	@$(PIP) install --no-build-isolation --editable '.[test]'
	@touch $@

demo: $(VENV)/.installed
	@$(BIN)/python -m stablesketch.demo

lint: $(VENV)/.test-installed
	@$(BIN)/ruff check
	@$(BIN)/ruff format --check
	@$(BIN)/mypy

test: lint
	@$(BIN)/python -m pytest -q

test-slow: $(VENV)/.test-installed
	@$(BIN)/python -m pytest -q -m slow

accuracy: $(VENV)/.installed
	@$(BIN)/python benchmarks/accuracy.py

dist: $(VENV)/.test-installed
	@$(BIN)/python -m build --outdir dist .

clean:
	rm -rf $(VENV) build dist

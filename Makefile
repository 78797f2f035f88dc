# Two commands: `make demo` shows the main job on a real stream, `make test` checks everything. Each sets itself up.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
# Libraries are not compiled to bytecode when they are installed, because that takes longer than unpacking them: Python
# compiles what it imports, once.
PIP    := $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile

# The package is installed editable, so a changed Python file takes effect at once. It is installed again when a native
# source or the list of Python files changes: the name of the stamp contains a checksum of that list.
FILES     := $(shell find src -name '*.py' | LC_ALL=C sort | cksum | cut -d' ' -f1)
INSTALLED := $(VENV)/.installed-$(FILES)
NATIVE    := CMakeLists.txt pyproject.toml $(wildcard native/*)

# Python keeps its bytecode, whatever the environment says: libraries come uncompiled, the tests start hundreds of
# processes, and every pytest would rewrite ten thousand tests again.
COMPILED_ONCE := PYTHONDONTWRITEBYTECODE=

.DELETE_ON_ERROR:
.PHONY: help demo cli test test-slow lint docs docs-serve man bench bench-engines accuracy studies picture import-time audit fuzz certificate race paper dist clean

help:
	@echo "make demo         how varied are the words of Python's standard library? A private answer and its report"
	@echo "make cli          the command stablesketch, in .venv/bin"
	@echo "make test         lint, types and the fast tests"
	@echo "make test-slow    sanitizers, long statistical sweeps, sdist and wheel"
	@echo "make docs         the documentation site, in build/site"
	@echo "make docs-serve   the same, served at http://127.0.0.1:8000, rebuilt when a page changes"
	@echo "make man          the manual page docs/stablesketch.1, from the help"
	@echo "make bench        how fast it is, compared with its peers: the table and picture of docs/performance.md"
	@echo "make bench-engines  Spark against Spark on 10^8 pairs: the tables of docs/scale.md"
	@echo "make accuracy     the accuracy table of docs/accuracy.md"
	@echo "make studies      errors and intervals of releases, compared with 0.1.0; DATA=folder of Parquet streams"
	@echo "make picture      the pictures of the README and of the documentation"
	@echo "make audit        tests every mechanism on neighbouring data, in build/audit; TRIALS=8000, half an hour"
	@echo "make fuzz         mutated input to all readers, under sanitizers; SECONDS=3600 SEED=1, report in build/fuzz.txt"
	@echo "make certificate  how far the random weights of an order are off, proved; LAWS=\"one-sided 0.3 symmetric 1.3\""
	@echo "make paper        every figure and theorem of the paper, in build/paper; DATA=folder of Parquet streams"
	@echo "make race         threads on one object under the thread sanitizer; RACE_PYTHON=a Python built for it"
	@echo "make import-time  how long import stablesketch takes"
	@echo "make dist         sdist and wheel in dist/"
	@echo "make clean        remove .venv, build and dist"

# A half-made virtual environment is removed, or the next run would trust it.
$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "stablesketch needs Python 3.11 or later. Try: make PYTHON=python3.12 ..." >&2; exit 1; }
	@$(PYTHON) -m venv $(VENV) \
	  || { rm -rf $(VENV); echo "No virtual environment: install the venv module (Debian: python3-venv)." >&2; exit 1; }

# One pip call for the build tools and the dependencies listed in pyproject.toml.
$(VENV)/.tools: pyproject.toml $(BIN)/python
	@echo "Fetching the tools that build it ..."
	@$(BIN)/python -c 'import tomllib; read = tomllib.load(open("pyproject.toml", "rb")); \
	  print(*read["build-system"]["requires"], *read["project"]["dependencies"], "ninja", "cmake", sep="\n")' > $@.txt
	@$(PIP) --requirement $@.txt
	@touch $@

$(INSTALLED): $(VENV)/.tools $(NATIVE)
	@command -v $${CXX:-c++} >/dev/null || { echo "No C++ compiler: install one (Debian: g++), or set CXX." >&2; exit 1; }
	@echo "Building the compiled core (half a minute the first time) ..."
	@$(PIP) --no-build-isolation --no-deps --editable .
	@rm -f $(VENV)/.installed-*
	@touch $@

# The dependencies of an extra of pyproject.toml, without building the package a second time. They can be fetched while
# the package is compiled: neither pip call installs what the other does.
$(VENV)/.libraries-%: $(VENV)/.tools
	@echo "Installing what [$*] needs ..."
	@$(BIN)/python -c 'import sys, tomllib; project = tomllib.load(open("pyproject.toml", "rb"))["project"]; \
	  print(*project["optional-dependencies"][sys.argv[1]], sep="\n")' $* > $@.txt
	@$(PIP) --requirement $@.txt
	@touch $@

.PRECIOUS: $(VENV)/.libraries-%
$(VENV)/.extra-%: $(VENV)/.libraries-% $(INSTALLED)
	@touch $@

# With the libraries of the command line: the demo shows a report, and ends with a command to type next.
demo:
	@$(MAKE) --no-print-directory --jobs 2 $(VENV)/.extra-cli
	@$(COMPILED_ONCE) $(BIN)/python -m stablesketch.cli.demo

cli: $(VENV)/.extra-cli $(VENV)/.extra-monitor
	@echo "Ready: $(BIN)/stablesketch --help"

lint: $(VENV)/.extra-test
	@$(BIN)/ruff check
	@$(BIN)/ruff format --check
	@$(BIN)/mypy
	@$(BIN)/clang-format --dry-run -Werror $(filter-out native/skewed_law.hpp,$(wildcard native/*.?pp))
	@$(BIN)/zizmor --offline --quiet --no-progress .github

# Beam needs older versions of some libraries, so it has its own environment. That one also sees the libraries of the
# first; where both have a library, its own version wins.
$(VENV)-beam/.ready: pyproject.toml $(VENV)/.extra-test
	@echo "Installing what [beam] needs, in $(VENV)-beam ..."
	@$(BIN)/python -m venv --without-pip $(VENV)-beam
	@$(BIN)/python -c 'import sysconfig; print("import site; site.addsitedir(%r)" % sysconfig.get_path("purelib"))' \
	  > "$$($(VENV)-beam/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/first.pth"
	@$(BIN)/python -c 'import tomllib; project = tomllib.load(open("pyproject.toml", "rb"))["project"]; \
	  print(*project["optional-dependencies"]["beam"], sep="\n")' > $(VENV)-beam/beam.txt
	@$(VENV)-beam/bin/python -m pip --quiet --disable-pip-version-check install --requirement $(VENV)-beam/beam.txt 2> $(VENV)-beam/log \
	  || { cat $(VENV)-beam/log >&2; exit 1; }
	@touch $@

test: lint $(VENV)-beam/.ready
	@$(COMPILED_ONCE) $(BIN)/python -m pytest -q -n auto --dist worksteal
	@$(COMPILED_ONCE) $(VENV)-beam/bin/python -m pytest -q -n auto --dist worksteal tests/engines/beam

test-slow: $(VENV)/.extra-test $(VENV)-beam/.ready
	@$(COMPILED_ONCE) $(BIN)/python -m pytest -q -n auto --dist worksteal -m slow
	@$(COMPILED_ONCE) $(VENV)-beam/bin/python -m pytest -q -n auto --dist worksteal tests/engines/beam tests/docs/test_pages_run.py -m slow -k beam

# No distribution has such a Python: CONTRIBUTING.md, "Threads", says how to build one.
race: $(VENV)/.extra-test
	@test -n "$(RACE_PYTHON)" || { echo "make race RACE_PYTHON=PATH: a free-threaded Python built with the thread sanitizer" >&2; exit 1; }
	@RACE_PYTHON=$(RACE_PYTHON) $(BIN)/python -m pytest -q tests/native/thread_sanitizer.py

# Every warning is an error: a dead link, a page in no menu, an unreadable docstring.
docs: $(VENV)/.extra-docs
	@NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict
	@echo "Written to build/site: open build/site/index.html (the search works from disk, too), or run make docs-serve"

docs-serve: $(VENV)/.extra-docs
	@NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs serve

bench: $(VENV)/.extra-bench
	@$(BIN)/python benchmarks/speed.py

bench-engines: $(VENV)/.extra-bench
	@$(BIN)/python benchmarks/engines.py

accuracy: $(INSTALLED)
	@$(BIN)/python benchmarks/accuracy.py

# The pictures of real streams start from scratch, and take the longest: a quarter of an hour on two cores.
studies: $(VENV)/.extra-bench $(VENV)/.extra-cli
	@$(BIN)/python benchmarks/paper_settings.py
	@$(BIN)/python benchmarks/groups.py
	@$(BIN)/python benchmarks/people.py
	@$(BIN)/python benchmarks/small_sites.py
	@$(BIN)/python benchmarks/made_streams.py
	@test -n "$(DATA)" || { echo "DATA=folder of Parquet files with columns key and value" >&2; exit 1; }
	@rm -f docs/real-streams.csv docs/statistics-on-streams.csv
	@$(BIN)/python benchmarks/real_streams.py $(DATA)
	@$(BIN)/python benchmarks/statistics_on_streams.py $(DATA)
	@$(BIN)/python benchmarks/layouts.py $(DATA)

picture: $(VENV)/.extra-bench $(VENV)/.extra-cli $(VENV)/.extra-test
	@$(BIN)/python benchmarks/readme_picture.py
	@$(BIN)/python benchmarks/error_picture.py
	@$(BIN)/python benchmarks/layout_picture.py
	@$(BIN)/python benchmarks/doc_pictures.py
	@$(BIN)/python benchmarks/live_page_picture.py

paper: $(VENV)/.extra-paper
	@$(BIN)/python -m stablesketch.paper $(if $(DATA),--data $(DATA)) -o build/paper

# One default plan for every mechanism, and one with people. The first refuted claim ends the run.
TRIALS  ?= 8000
AUDITED := p0.5 p1 p1.5 p2 shannon distinct hill exact bare people
ASK     := --epsilon 1 --delta 1e-6
audit: $(VENV)/.extra-cli
	@rm -rf build/audit && mkdir -p build/audit
	@for plan in $(AUDITED); do \
	  case $$plan in \
	    p*[0-9]) asked="--p $${plan#p}";; \
	    hill) asked="--statistic hill --order 0.5";; \
	    exact) asked="--p 0.5 --mechanism exact";; \
	    bare) asked="--p 0.5 --mechanism bare --relation replace --pairs 1000 --size 5";; \
	    people) asked="--p 0.5 --relation replace --pairs-per-person 3 --max-value 4";; \
	    *) asked="--statistic $$plan";; \
	  esac; \
	  $(BIN)/stablesketch plan $$asked $(ASK) -o build/audit/$$plan.plan.json > build/audit/$$plan.txt && \
	  $(BIN)/stablesketch audit build/audit/$$plan.plan.json --trials $(TRIALS) --confidence 0.9999 --json > build/audit/$$plan.json \
	    && echo "$$plan: not refuted" || { echo "$$plan: see build/audit/$$plan.json" >&2; exit 1; }; \
	done

man: $(VENV)/.extra-cli
	@$(BIN)/python docs/site/man.py

SECONDS ?= 3600
SEED    ?= 1
fuzz: $(VENV)/.extra-test
	@mkdir -p build
	@STABLESKETCH_FUZZ_SECONDS=$(SECONDS) STABLESKETCH_FUZZ_SEED=$(SEED) $(BIN)/python -m pytest -q -s -m slow -k mutants \
	  tests/native/test_sanitizers.py > build/fuzz.txt 2>&1; status=$$?; cat build/fuzz.txt; exit $$status

# The table of X of any order: by default of orders that depend on NIGHT.
NIGHT ?= 1
LAWS ?= night $(NIGHT)
certificate: $(VENV)/.extra-test
	@mkdir -p build
	@$(BIN)/python tests/law/table_certificate.py $(LAWS) > build/certificate.txt 2>&1; status=$$?; cat build/certificate.txt; exit $$status

import-time: $(INSTALLED)
	@$(BIN)/python benchmarks/import_time.py

dist: $(VENV)/.extra-test
	@$(BIN)/python -m build --outdir dist .

clean:
	rm -rf $(VENV) $(VENV)-beam build dist

# Every target first installs what it needs into .venv; nothing else on the machine is changed.
#   make demo     the bundled reference stride, end to end, with what `pip install .` brings
#   make test     the tests; at the end, what was left out for want of a package, and how to install it
#   make test-toolkit  the tests of the toolkit alone
#   make test-thorough  the same, with every case of the largest sweeps
#   make complete  every package that a test can use, PyTorch and OpenSim included
#   make lint     formatting, lint, types
#   make package  wheel and sdist; the wheel installed into an empty environment, and used from another folder
#   make docs     plain words (tools/prose.py), every example of the pages, and the documentation as a site, in
#                 site/index.html; a warning is an error
#   make recipes  the tests on a copy to which every recipe of CONTRIBUTING.md was applied
#   make road     what must be read, entered and opened for muscle forces, and the lines of the package
#   make bench    measured comparisons of the solvers (slow; never part of the tests)
#   make clean    remove the environment and everything that was produced

PYTHON ?= python3
VENV   := .venv
SCRIPTS := $(if $(filter Windows_NT,$(OS)),Scripts,bin)
RUN    := $(VENV)/$(SCRIPTS)/python

# One thread per linear-algebra call: the tests run side by side already.
export OMP_NUM_THREADS ?= 1
export PIP_DISABLE_PIP_VERSION_CHECK ?= 1
# What pytest is called with: make test PYTEST='-x --no-skips'
PYTEST ?=
# The folders of tests of the toolkit.
TOOLKIT := sharing dynamics muscles trajectory symbolic models tables muscle_db package
# PyPI has no CPU build of torch for Linux, only one that brings several GB of CUDA. The CPU build is taken where pip
# finds it, else from PyTorch's own index.
TORCH := torch==2.13.0$(if $(filter Linux,$(shell uname -s)),+cpu)
# Bytecode is kept: the tests start many processes, and each would compile the package again.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test test-toolkit test-thorough complete lint package docs recipes road bench clean
.DELETE_ON_ERROR:

demo: $(VENV)/installed
	$(RUN) -m musclesolve demo -o demo-output
	@echo "Open $(CURDIR)/demo-output/report.html in a browser"

test: $(VENV)/testers
	$(RUN) -m pytest -n 2 --dist worksteal tests $(PYTEST)

test-toolkit: $(VENV)/testers
	$(RUN) -m pytest -n 2 --dist worksteal $(TOOLKIT:%=tests/%) $(PYTEST)

test-thorough: export MUSCLESOLVE_TESTS := thorough
test-thorough: test

complete: $(VENV)/complete

lint: $(VENV)/linters
	$(RUN) -m ruff format --check .
	$(RUN) -m ruff check .
	$(RUN) -m mypy

package: $(VENV)/testers
	$(RUN) tools/check_package.py

docs: $(VENV)/writers
	$(RUN) tools/prose.py
	MUSCLESOLVE_TESTS=thorough $(RUN) -m pytest -n 2 --dist worksteal tests/documents tests/examples $(PYTEST)
	NO_MKDOCS_2_WARNING=1 $(RUN) -m mkdocs build --strict
	@echo "Open $(CURDIR)/site/index.html"

recipes: $(VENV)/testers
	$(RUN) tools/follow_recipes.py

road: $(VENV)/installed
	$(RUN) tools/road.py

bench: $(VENV)/testers
	$(RUN) -m musclesolve benchmark
	$(RUN) -m benchmarks

clean:
	rm -rf $(VENV) demo-output dist site .pytest_cache .ruff_cache .mypy_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(VENV)/created:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "musclesolve needs Python 3.11 or newer, but '$(PYTHON)' is not: name one, as in 'make PYTHON=python3.12 test'" >&2; \
	  exit 1; }
	$(PYTHON) -m venv $(VENV)
	@touch $@

# Each stage adds packages to those that are there.
$(VENV)/installed: $(VENV)/created pyproject.toml
	$(RUN) -m pip install --quiet --editable .
	@touch $@

$(VENV)/testers: $(VENV)/created pyproject.toml
	$(RUN) -m pip install --quiet --editable '.[test]'
	@touch $(VENV)/installed $@

$(VENV)/linters: $(VENV)/created pyproject.toml
	$(RUN) -m pip install --quiet --editable '.[test,lint]'
	@touch $(VENV)/installed $(VENV)/testers $@

$(VENV)/writers: $(VENV)/created pyproject.toml
	$(RUN) -m pip install --quiet --editable '.[test,docs]'
	@touch $(VENV)/installed $(VENV)/testers $@

$(VENV)/complete: $(VENV)/created pyproject.toml
	$(RUN) -m pip install --quiet '$(TORCH)' || \
	  $(RUN) -m pip install --quiet '$(TORCH)' --index-url https://download.pytorch.org/whl/cpu || \
	  echo "No CPU build of PyTorch could be installed ($(TORCH)): its tests will be skipped" >&2
	$(RUN) -m pip install --quiet --editable '.[complete]'
	@touch $(VENV)/installed $(VENV)/testers $(VENV)/linters $(VENV)/writers $@

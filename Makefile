# Every target makes its own environment in .venv first; nothing else on the machine is changed.
#   make demo     the bundled reference stride, end to end
#   make test     the tests
#   make test-thorough  the same, with every case of the largest sweeps
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
# Bytecode is kept: the tests start many processes, and each would compile the package again.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test test-thorough lint package docs recipes road bench clean
.DELETE_ON_ERROR:

demo: $(VENV)/installed
	$(RUN) -m musclesolve demo -o demo-output
	@echo "Open $(CURDIR)/demo-output/report.html in a browser"

test: $(VENV)/installed
	$(RUN) -m pytest -n 2 --dist worksteal tests

test-thorough: export MUSCLESOLVE_TESTS := thorough
test-thorough: test

lint: $(VENV)/linters
	$(RUN) -m ruff format --check .
	$(RUN) -m ruff check .
	$(RUN) -m mypy

package: $(VENV)/installed
	$(RUN) tools/check_package.py

docs: $(VENV)/writers
	$(RUN) tools/prose.py
	MUSCLESOLVE_TESTS=thorough $(RUN) -m pytest -n 2 --dist worksteal tests/documents tests/examples
	NO_MKDOCS_2_WARNING=1 $(RUN) -m mkdocs build --strict
	@echo "Open $(CURDIR)/site/index.html"

recipes: $(VENV)/installed
	$(RUN) tools/follow_recipes.py

road: $(VENV)/installed
	$(RUN) tools/road.py

bench: $(VENV)/installed
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

$(VENV)/installed: $(VENV)/created pyproject.toml
	$(RUN) -m pip install --quiet --editable '.[test]'
	@touch $@

$(VENV)/linters: $(VENV)/installed
	$(RUN) -m pip install --quiet --editable '.[test,lint]'
	@touch $@

$(VENV)/writers: $(VENV)/installed
	$(RUN) -m pip install --quiet --editable '.[test,docs]'
	@touch $@

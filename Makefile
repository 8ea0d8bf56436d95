# On a new machine, `make demo` and `make test` need only Python and a connection to the package index.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
# these two files show that the dependencies are installed; make installs them again if pyproject.toml or constraints.txt is newer
BASE   := $(VENV)/.runs
STAMP  := $(VENV)/.installed
# tests run in several processes with one thread each
ONE    := OMP_NUM_THREADS=1

.PHONY: demo test test-long lint docs wheel bench audit clean

# installs the package alone, without the tools of developers
demo: $(BASE)
	$(BIN)/lfno demo

test: lint
	$(ONE) $(BIN)/python -m pytest -m "not long" --numprocesses 2 --dist worksteal

test-long: $(STAMP)
	$(ONE) $(BIN)/python -m pytest -m long --numprocesses 2 --dist worksteal

lint: $(STAMP)
	$(BIN)/ruff check
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache --no-logo

# the site, with its notebooks executed; a warning is an error
docs: $(STAMP)
	$(ONE) PATH="$(CURDIR)/$(BIN):$$PATH" LFNO_CACHE="$(CURDIR)/.cache" NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

# build the wheel, and test it in an environment that has no other files of lfno
wheel: $(STAMP)
	rm -rf build/lib dist
	$(BIN)/pip wheel --quiet --no-deps --no-build-isolation --wheel-dir dist .
	$(ONE) $(BIN)/python .ci/wheel.py dist/lfno-*.whl

bench: $(STAMP)
	$(BIN)/python benchmarks/operators.py
	$(BIN)/python benchmarks/data.py
	$(BIN)/python benchmarks/record.py
	$(BIN)/python benchmarks/deploy.py

# known vulnerabilities of the locked dependencies, if pip-audit is installed and can reach its database
audit:
	@if command -v pip-audit >/dev/null; then pip-audit --no-deps --disable-pip --requirement requirements.lock; \
	else echo "known vulnerabilities were not looked up: pip-audit is not installed"; fi

$(BASE): pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --no-compile --constraint constraints.txt torch
	$(BIN)/pip install --quiet --no-compile --constraint constraints.txt --editable .
	touch $@

$(STAMP): $(BASE)
	$(BIN)/pip install --quiet --constraint constraints.txt --editable ".[test,docs,files,onnx,cluster,tensorboard]"
	touch $@

clean:
	rm -rf $(VENV) build dist site .cache *.egg-info src/*.egg-info .mypy_cache .ruff_cache .pytest_cache

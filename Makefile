# Every target builds .venv itself, and only when pyproject.toml or constraints.txt changed.
PYTHON ?= python3
BIN := .venv/bin
INSTALLED := .venv/.installed
RUNNABLE := .venv/.runnable
BENCHMARKS := $(filter-out benchmarks/_%,$(wildcard benchmarks/*.py))

.PHONY: install demo test test-slow fuzz lint format bench bench-check results docs docs-full release-check clean

install: $(INSTALLED)

$(INSTALLED): pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[all,dev]'
	touch $@

# What running needs, without the tools and PyTorch; `install` adds the rest.
$(RUNNABLE): pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	test -e $(INSTALLED) || $(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[view]'
	touch $@

demo: $(RUNNABLE)
	$(BIN)/arbora demo

test: $(INSTALLED)
	$(BIN)/python -m pytest --numprocesses 2 --dist loadfile -m "not slow"

test-slow: $(INSTALLED)
	$(BIN)/python -m pytest -m slow

# Drawn calls, damaged files and command lines, for three minutes; `make fuzz FUZZ="--seconds 3600"` for an hour.
fuzz: $(INSTALLED)
	$(BIN)/python fuzz/run.py $(FUZZ)

lint: $(INSTALLED)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports --no-cache
	$(BIN)/python -m pytest -q tests/test_architecture.py tests/similarity/test_no_kind_checks.py tests/test_private_imports.py
	$(BIN)/mypy
	if command -v npx > /dev/null; then npx --yes eslint@10.14.0 src/arbora/view/assets tests/view/js; \
	else echo "npx is not installed: the explorer's scripts are not linted"; fi

format: $(INSTALLED)
	$(BIN)/ruff check --fix --quiet .
	$(BIN)/ruff format --quiet .

# All of them take hours; `make bench BENCHMARKS=benchmarks/metrics.py` runs one.
bench: $(INSTALLED)
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[bench]'
	set -e; for script in $(BENCHMARKS); do echo "== $$script"; $(BIN)/python $$script --quick; done

# The tables of the pages, from the JSON below docs/results; `arbora reproduce --out docs/results` writes that.
results: $(INSTALLED)
	$(BIN)/python -m arbora.reproduce.pages .

# CPU seconds over those of a peer, against the ratios last committed; ends with an error if something got slower.
bench-check: $(INSTALLED)
	$(BIN)/python benchmarks/check.py

docs: $(INSTALLED)
	$(BIN)/sphinx-build -W --keep-going -b html docs docs/_build/html

# The same with scanpy and BERTopic, which two examples then show at work, and with a million points.
docs-full: $(INSTALLED)
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --requirement examples/requirements.txt
	ARBORA_DOCS_FULL=1 $(BIN)/sphinx-build -W --keep-going -b html docs docs/_build/html

# Builds the wheel and tries it in empty environments: the core alone, then with each extra.
release-check: $(INSTALLED)
	$(BIN)/python release/check.py $(RELEASE)

clean:
	rm -rf .venv build dist docs/_build docs/auto_examples docs/_made docs/api demo-output
	find benchmarks/results -type f ! -name check-quick.json -delete

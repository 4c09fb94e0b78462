# Two commands to know: `make crawl [URL=https://…]` and `make test`. `make help` lists the rest.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
URL    ?=
ARGS   ?=

.PHONY: help crawl test check lint types unit lock bench clean

crawl: $(VENV)/run.stamp  ## a first crawl of the lab web, or of URL=https://…; options of `gossamer crawl` go into ARGS='…'
	@$(BIN)/python -m gossamer.surfaces.cli.first_crawl $(URL) $(ARGS)

help:  ## this list
	@sed -n 's/^\([a-z]*\):.*  ## /\1\t/p' Makefile | expand -t 10

test: $(VENV)/dev.stamp  ## everything, as CI does
	@BIN=$(BIN) sh tests/run

check: $(VENV)/dev.stamp lint types unit  ## lint, types and quick tests: before each commit

lint: $(VENV)/dev.stamp  ## ruff and the layers
	@$(BIN)/ruff check -q . && $(BIN)/ruff format -q --check . && $(BIN)/lint-imports --no-cache >/dev/null || $(BIN)/lint-imports

types: $(VENV)/dev.stamp  ## mypy
	@$(BIN)/mypy

unit: $(VENV)/dev.stamp  ## quick tests
	@$(BIN)/pytest -q -m "not slow and not e2e"

lock: $(VENV)/dev.stamp  ## new requirements*.txt after a change of dependencies
	$(BIN)/uv pip compile -q --generate-hashes --no-emit-index-url --no-annotate --no-header --python-version 3.11 pyproject.toml -o requirements.txt
	$(BIN)/uv pip compile -q --generate-hashes --no-emit-index-url --no-annotate --no-header --python-version 3.11 pyproject.toml --extra all --group dev -o requirements-dev.txt

$(VENV)/run.stamp: requirements.txt pyproject.toml
	@sh tools/venv $(PYTHON) $(VENV) requirements.txt
	@touch $@

$(VENV)/dev.stamp: requirements-dev.txt pyproject.toml
	@sh tools/venv $(PYTHON) $(VENV) requirements-dev.txt
	@touch $@ $(VENV)/run.stamp

clean:  ## remove the virtual environment and caches
	rm -rf $(VENV) .cache

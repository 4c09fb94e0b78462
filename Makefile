# Two commands to know: `make crawl [URL=https://…]` and `make test`. `make check` is the quick inner loop.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
URL    ?=
ARGS   ?=

.PHONY: crawl test check lint types unit lock bench clean

crawl: $(VENV)/run.stamp
	@$(BIN)/python -m gossamer.surfaces.cli.first_crawl $(URL) $(ARGS)

test: $(VENV)/dev.stamp
	@BIN=$(BIN) sh tests/run

check: $(VENV)/dev.stamp lint types unit

lint: $(VENV)/dev.stamp
	@$(BIN)/ruff check -q . && $(BIN)/ruff format -q --check . && $(BIN)/lint-imports --no-cache >/dev/null || $(BIN)/lint-imports

types: $(VENV)/dev.stamp
	@$(BIN)/mypy

unit: $(VENV)/dev.stamp
	@$(BIN)/pytest -q -m "not slow and not e2e"

lock: $(VENV)/dev.stamp
	$(BIN)/uv pip compile -q --generate-hashes --no-emit-index-url --no-annotate --no-header --python-version 3.11 pyproject.toml -o requirements.txt
	$(BIN)/uv pip compile -q --generate-hashes --no-emit-index-url --no-annotate --no-header --python-version 3.11 pyproject.toml --extra all --group dev -o requirements-dev.txt

$(VENV)/run.stamp: requirements.txt pyproject.toml
	@sh tools/venv $(PYTHON) $(VENV) requirements.txt
	@touch $@

$(VENV)/dev.stamp: requirements-dev.txt pyproject.toml
	@sh tools/venv $(PYTHON) $(VENV) requirements-dev.txt
	@touch $@ $(VENV)/run.stamp

clean:
	rm -rf $(VENV) .cache

# Everything runs in a virtual environment that the first command makes. Python 3.11 or newer.
PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready
scale ?= quick

.PHONY: test test-all reproduce arena lint clean

test: $(READY) lint  ## ruff, the type checker and the default tests
	$(BIN)/python -m pytest

test-all: $(READY) lint  ## the slow tests too
	$(BIN)/python -m pytest -m ""

reproduce: $(READY)  ## verifies the published figures; scale=quick, final or paper; publish=true
	$(BIN)/python -m experiments.reproduce scale=$(scale) $(if $(publish),publish=$(publish))

arena: $(READY)  ## people, programs and our players at tables, in the browser
	$(BIN)/python -m gongzhu_jax.arena

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/ty check

$(READY): requirements.txt pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --disable-pip-version-check -r requirements.txt
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps -e .
	touch $(READY)

clean:
	rm -rf .venv build *.egg-info .pytest_cache .ruff_cache .hypothesis .jax_cache

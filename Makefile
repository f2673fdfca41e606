# Everything runs in a virtual environment that the first command makes. Python 3.11 or newer.
PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready

.PHONY: test test-all reproduce arena lint clean

test: $(READY) lint  ## ruff, the type checker and the default tests
	$(BIN)/python -m pytest

test-all: $(READY) lint  ## the slow tests too
	$(BIN)/python -m pytest -m ""

reproduce: $(READY)  ## the paper's pipeline, small: classical players, training, techniques
	mkdir -p results/reproduce
	$(BIN)/python -m experiments.classical deals=1024 output=results/reproduce/classical.json
	$(BIN)/python -m experiments.train preset=compact epochs=40 evaluate_deals=256 \
		directory=runs/reproduce
	$(BIN)/python -m experiments.techniques options.checkpoint=runs/reproduce deals=64 \
		output=results/reproduce/techniques.json

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

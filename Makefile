# All set-up is done by the targets themselves; `make run` and `make test` work from a fresh clone.
# Nothing is echoed: the standard output of `make run` is that of the chat.

MAKEFLAGS += --no-print-directory
.DEFAULT_GOAL := help
.PHONY: help run test test-agents test-fast torture soak lint bench image lock clean

PYTHON ?= python3
export PYTHON
# More arguments for the program behind run, bench and lock, and for pytest.
ARGS ?=
PYTEST_ARGS ?=
# How long `make torture` and `make soak` go on, and from which seed.
torture: MINUTES ?= 10
soak: MINUTES ?= 60
SEED ?= 1
# What the agent image is built on: any Debian or Ubuntu image with Python 3.11 or newer.
BASE ?= dovecote-base:bookworm
# Agent programs to put in: claude,codex,… or all. Without it, those that are in already.
WITH ?=

bin := .venv/bin
setup_run := tools/setup.sh run </dev/null
setup_dev := tools/setup.sh dev </dev/null
# Tests wait for processes for a part of their time: four at a time use two cores. A file's tests stay
# together, and the files keep their order: the quick unit tests come last, so that no core is left alone.
side_by_side := -n 4 --dist loadfile --no-loadscope-reorder
# Hundreds of processes are started, each of which would compile all that it loads.
pytest := env -u PYTHONDONTWRITEBYTECODE $(bin)/python -m pytest

help:
	@echo 'make run         chat in this terminal (ARGS=… are passed on)'
	@echo 'make test        all checks and tests'
	@echo 'make test-agents the tests with every agent program, which are installed first'
	@echo 'make test-fast   the unit tests only'
	@echo 'make torture     traffic and kills from a seed on (MINUTES=…, SEED=…)'
	@echo 'make soak        a calm hour of mixed load; what grows is told (MINUTES=…)'
	@echo 'make lint        ruff, mypy, import-linter'
	@echo 'make bench       the benchmarks, each beside its floor'
	@echo 'make image       build the agent image (BASE=image to build on, WITH=claude,codex,…)'
	@echo 'make lock        resolve the requirement locks again (ARGS=--upgrade for newer versions)'
	@echo 'make clean       remove the environment and caches; groups and data stay'

run:
	@$(setup_run) && exec $(bin)/dovecote chat $(ARGS)

test: lint
	@exec tools/in_memory.sh $(pytest) tests $(side_by_side) $(PYTEST_ARGS)

test-agents:
	@$(setup_dev)
	@$(bin)/dovecote image build --base $(BASE) --with all --for bubblewrap
	@DOVECOTE_TEST_AGENTS=all exec $(pytest) tests -m agents $(PYTEST_ARGS)

test-fast:
	@$(setup_dev) && exec $(pytest) tests/unit $(side_by_side) $(PYTEST_ARGS)

torture:
	@$(setup_dev) && exec $(bin)/python -m tests.torture --minutes $(MINUTES) --seed $(SEED) $(ARGS)

soak:
	@$(setup_dev) && exec $(bin)/python -m tests.soak --minutes $(MINUTES) --seed $(SEED) $(ARGS)

lint:
	@$(setup_dev)
	@$(bin)/ruff check
	@$(bin)/ruff format --check
	@$(bin)/mypy --num-workers 2
	@$(bin)/lint-imports --no-logo

bench:
	@$(setup_dev) && exec $(bin)/python -m tests.benchmarks $(ARGS)

image:
	@$(setup_run) && exec $(bin)/dovecote image build --base $(BASE) --with "$(WITH)"

lock:
	@tools/lock.sh $(ARGS)

clean:
	@rm -rf .venv .venv.lock build dist .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +

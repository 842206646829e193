# The two commands: `make up` and `make test`. Each sets up all that it needs; a second run finds it there.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

PYTHON ?= $(shell for p in python3.11 python3.12 python3.13 python3 ; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && { echo $$p; exit; } ; done)
BIN := .venv/bin
ENV ?= local

.PHONY: help up down status test test-long check lint types contract format reference setup toolchain images engine packages clean

help: ## Show the commands
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

up: setup ## Set everything up and bring the local site up, ending with a streamed chat completion
	@$(BIN)/tandem up $(ENV)

down: ## Destroy the local site and everything below it
	@$(BIN)/tandem down $(ENV)

status: ## Show what runs
	@$(BIN)/tandem status $(ENV)

test: setup ## Set everything up and run the tests
	@$(BIN)/pytest -m "not long"

test-long: setup ## The longer forms of the tests, before an issue is closed
	@$(BIN)/pytest --timeout=1800

check: lint types contract test ## All that CI checks

lint: .venv/installed ## Lint and formatting
	@$(BIN)/ruff check . && $(BIN)/ruff format --check .

types: .venv/installed ## Strict types
	@$(BIN)/mypy

contract: .venv/installed ## The layers: who may import whom
	@$(BIN)/lint-imports

format: .venv/installed ## Format the code
	@$(BIN)/ruff check --fix -q . ; $(BIN)/ruff format .

setup: packages .venv/installed toolchain images ## All that the other commands need

packages: .venv/installed
	@$(BIN)/tandem-toolchain packages

toolchain: .venv/installed ## The Pulumi engine, Kubernetes and CoreDNS, built from their pinned modules (cached)
	@$(BIN)/tandem-toolchain build

images: .venv/installed ## The environments of the images that run as local containers (cached)
	@$(BIN)/python -m local.kubernetes.images build

engine: .venv/installed ## The real SGLang for CPU (6.5 GB, cached), which the long tests ask
	@$(BIN)/python -m local.kubernetes.images build sglang-cpu

.venv/installed: pyproject.toml
	@[ -n "$(PYTHON)" ] || { echo "python3: not found, or older than 3.11 - Tandem is written for 3.11 and newer. Run: apt-get install python3 python3-venv" >&2; exit 3; }
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || { echo "$(PYTHON): its venv module is missing. Run: apt-get install python3-venv" >&2; exit 3; }
	@echo "Python packages into .venv (about a minute)"
	@$(PYTHON) -m venv .venv
	@$(BIN)/python -m pip install --disable-pip-version-check --quiet --progress-bar on -e '.[local,dev]'
	@touch $@

clean: down ## Also remove the virtual environment (the shared cache stays)
	@rm -rf .venv

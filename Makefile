.DEFAULT_GOAL := help
PYTHON ?= python3
.PHONY: help setup check format lint types contracts test screenshots bench

help:  ## this list
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | column -t -s "$$(printf '\t')"

setup:  ## install both packages and all that development needs
	$(PYTHON) -m pip install -e '.[dev]'

check: lint types contracts test  ## all that has to hold before a commit

format:  ## rewrite the code in the house style
	$(PYTHON) -m ruff format .
	$(PYTHON) -m ruff check --fix .

lint:  ## style and common mistakes
	$(PYTHON) -m ruff format --check .
	$(PYTHON) -m ruff check .

types:  ## mypy strict on both packages
	$(PYTHON) -m mypy

contracts:  ## who may import whom
	lint-imports

test:  ## the test suite
	$(PYTHON) -m pytest

screenshots:  ## record the example runs and redraw every picture in screenshots/
	$(PYTHON) -m screenshots.make

bench:  ## the quick set of benchmarks
	$(PYTHON) -m benchmarks

# ECM server. `make help` lists what can be done; each target says what it does behind its two hashes.
.DEFAULT_GOAL := help
.PHONY: running replay-verdicts help up import demo demo-drop connect disconnect test conformance check shots lock bootstrap
SHELL := /bin/sh
BIN := .venv/bin
MANAGE := $(BIN)/python manage.py
export ECM_PORT ECM_HOST ECM_DATA ECM_DEMO ECM_ADMIN_PASSWORD ECM_INGEST_KEY ECM_ADMIN_KEY DATABASE_URL REDIS_URL

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-12s %s\n", $$1, $$2}' Makefile

up: ## start everything on this machine; Ctrl-C stops it
	@started=$$(date +%s); tools/python tools/bootstrap.py && \
	ECM_STARTED=$$started exec $(BIN)/python -m ecm_site.embedded up

import: running ## bring in the sessions of this machine, numbers only: [PATHS="file folder"] [TEAM=slug]
	@$(MANAGE) import_sessions $(PATHS) $(if $(TEAM),--team $(TEAM))

demo: running ## load the invented team Demo to look around in
	@$(MANAGE) demo

demo-drop: running ## remove the team Demo
	@$(MANAGE) demo --drop

connect: running ## connect the Claude Code of this machine: shows the change and asks
	@$(MANAGE) connect

disconnect: bootstrap ## take that back
	@$(MANAGE) disconnect

replay-verdicts: running ## derive every stored verdict again, and say which come out otherwise
	@$(MANAGE) replay_verdicts

test: bootstrap ## run the tests: [ARGS="tests/kernel -k zones"]
	@tools/run-tests $(ARGS)

conformance: bootstrap ## every feed against the same demands, 100,000 mutations of each: [MUTATIONS=1000]
	@ECM_MUTATIONS=$${MUTATIONS:-100000} tools/run-tests tests/conformance tests/cases/test_traps.py -p no:cacheprovider
	@.venv/bin/python manage.py agreement tests/inputs/corpus-claude-code.tar.xz

check: bootstrap ## formatting, lint, types, import arrows, templates, migrations, deployment
	@tools/run-checks

shots: bootstrap ## screenshots of all pages of a running server into var/shots, and those that docs show into docs: [ARGS="--team demo"]
	@$(BIN)/python tools/shots.py $(ARGS)

lock: bootstrap ## resolve pyproject.toml anew into requirements/
	@tools/lock

bootstrap:
	@tools/python tools/bootstrap.py --quiet

running: bootstrap
	@$(BIN)/python -m ecm_site.embedded require-up

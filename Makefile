# Start with `make demo` and `make test`. They need Python 3.11+ and make, nothing else.
PYTHON ?= $(shell for p in python3.11 python3.12 python3.13 python3; do $$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)
BIN := .venv/bin
READY := .venv/.ready
# Tests mostly wait for I/O: three workers are a fifth faster than two on 2 cores.
WORKERS ?= 3

.PHONY: install demo test check bench soak fmt generate roles pictures learn lock audit clean
install: $(READY)

# pip installs the lock only (exact versions, hashes); the project itself is then installed without resolving anything.
$(READY): requirements.lock pyproject.toml
	@test -n "$(PYTHON)" || { echo "aksbot needs Python 3.11 or newer; none was found. Install one, or run: make PYTHON=/path/to/python3" >&2; exit 1; }
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-build-isolation --no-deps --editable .
	@touch $(READY)

demo: $(READY)
	$(BIN)/aksbot demo

test: $(READY)
	$(BIN)/python -m pytest -n $(WORKERS) -m "not soak"

check: $(READY)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/aksbot runbooks lint
	$(BIN)/python -m deploy.manifests

bench: $(READY)
	$(BIN)/python -m tests.bench

soak: $(READY)
	$(BIN)/python -m pytest -n $(WORKERS)

fmt: $(READY)
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

# Everything generated from the code, the runbooks and the scenarios: roles, catalogue, golden files. Then read the diff.
generate: roles
	$(BIN)/aksbot runbooks catalogue
	$(BIN)/python -m deploy.policy_page
	UPDATE_GOLDEN=1 $(BIN)/python -m pytest --quiet -n $(WORKERS) tests/runbooks/test_pages.py tests/slack/test_surfaces.py tests/bot/test_report.py

# The pictures of the documentation: ten surfaces, on desktop and phone, light and dark, all under build/pictures; the few that
# README and docs show go to docs/pictures. Needs Debian's chromium.
pictures: $(READY)
	$(BIN)/python -m pytest --quiet -n 0 tests/browser/test_surfaces.py
	$(BIN)/python -m tests.browser.album

# The roles, from what collectors and remedies declare.
roles: $(READY)
	$(BIN)/python -m deploy.roles

# Whether a pinned package has a known vulnerability. Exit 1: one has; exit 69: the lookup failed.
audit: $(READY)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes --upgrade --target build/audit -r audit.lock
	@PYTHONPATH=build/audit $(BIN)/python -m deploy.audit

# Trains triage on bot/triage/messages; the same messages give the same weights file. scikit-learn is installed for this alone.
# JUDGE=1 cross-validates first, on messages left out of the training: that trains five times more.
learn: $(READY)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes --upgrade --target build/learn -r learn.lock
	PYTHONPATH=build/learn $(BIN)/python -m bot.triage.learning.learn $(if $(JUDGE),--judge,)

# uv resolves once for every supported Python; the result names versions and hashes, never a host.
# The image needs less: the runtime dependencies, and those that build the wheel, in the same versions.
RESOLVE := build/lock/bin/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-annotate --no-header
lock:
	$(PYTHON) -m venv build/lock && build/lock/bin/pip install --quiet uv
	$(RESOLVE) --all-extras --output-file requirements.lock pyproject.toml $(if $(UPGRADE),--upgrade,)
	$(RESOLVE) --constraints requirements.lock --output-file deploy/run.lock pyproject.toml
	echo scikit-learn | $(RESOLVE) --constraints requirements.lock --output-file learn.lock -
	echo pip-audit | $(RESOLVE) --output-file audit.lock -
	echo hatchling | $(RESOLVE) --constraints requirements.lock --output-file deploy/build.lock -

clean:
	rm -rf .venv build

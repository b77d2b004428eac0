# Every target works from a bare checkout: it makes .venv first where that is needed.

BIN := .venv/bin
INSTALLED := .venv/.installed
DOCS := .venv/.installed-docs
SET_UP := pyproject.toml setup.py tools/set_up.sh tools/find_python.sh

.PHONY: help demo test slow plain lint floors fuzz heavy validate mutate bench docs links clean

help:  ## Show what can be made
	@sed -n 's/^\([a-z]*\):.*## /make \1	/p' Makefile

demo: $(INSTALLED)  ## One model, three back ends, one report (at most 10 minutes)
	$(BIN)/bnpzoo demo

JOBS := 2

PYTEST = $(BIN)/python -m pytest --numprocesses=$(JOBS) --dist=worksteal
WATCHED = -o faulthandler_timeout=600 -o faulthandler_exit_on_timeout=true

test: $(INSTALLED)  ## Run the tests, but for slow ones (on two cores a quarter of an hour, less once all is compiled)
	$(PYTEST) $(WATCHED) $(AGAIN)

slow: $(INSTALLED)  ## Run the slow tests; with AGAIN=--last-failed, as for others, those that have failed
	$(PYTEST) $(WATCHED) -m "slow and not heavy" $(AGAIN)

plain: $(INSTALLED)  ## Run tests of samplers as plain Python
	NUMBA_DISABLE_JIT=1 $(PYTEST) $(WATCHED) -m "sampler and not heavy" $(AGAIN)

lint: $(INSTALLED)  ## Check style, format and types
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/pyright

floors: $(INSTALLED)  ## Run some tests at the oldest versions of dependencies that pyproject.toml allows (needs a network)
	$(BIN)/python -m venv --clear out/floors
	out/floors/bin/pip install '.[dask,zarr]' $$($(BIN)/python tools/floors.py dask zarr) 'pytest>=9,<10' 'hypothesis>=6.130,<7'
	JAX_PLATFORMS=cpu out/floors/bin/python -m pytest -o filterwarnings= tests/cli tests/zoo/test_sampling.py \
	  tests/zoo/test_references.py tests/diagnostics/reports tests/diagnostics/laboratory/test_sbc.py

SEED := 1
MINUTES := 60

fuzz: $(INSTALLED)  ## Try malformed corpora, fits, checkpoints and options: make fuzz SEED=7 MINUTES=60
	sh tools/fuzz.sh $(SEED) $(MINUTES)

# One after the other, as what they compile stays in memory until the end of a run.
ROOMS := cli diagnostics estimators fuzz golden kernels models zoo test_*.py

heavy: $(INSTALLED)  ## Run the heavy tests, room by room: make heavy ROOMS="models zoo"
	@trap 'exit 130' INT TERM; failed=0; set -x; \
	for room in $(ROOMS); do \
	  $(PYTEST) -m heavy -o junit_family=xunit1 --junitxml=out/validation/heavy.$${room%_*}.xml tests/$$room \
	    || [ $$? -eq 5 ] || failed=1; \
	done; \
	exit $$failed

validate: $(INSTALLED)  ## Judge what has no current verdict, run the fast tests as plain Python and the heavy ones, write the page of evidence
	@trap 'exit 130' INT TERM; failed=0; set -x; \
	$(BIN)/bnpzoo validate --all --minutes $(MINUTES) || failed=1; \
	NUMBA_DISABLE_JIT=1 $(PYTEST) -m "not compiled and not sampler and not slow and not heavy" \
	  --junitxml=out/validation/plain.xml tests/*/ || failed=1; \
	$(MAKE) heavy || failed=1; \
	$(BIN)/python -m bnpzoo.diagnostics.reports.evidence || failed=1; \
	exit $$failed

MUTANTS := 40

mutate: $(INSTALLED)  ## Change every model at random, see what notices: make mutate SEED=7 MUTANTS=40
	$(BIN)/bnpzoo validate --all --blind $(MUTANTS) --seed $(SEED)

bench: $(INSTALLED)  ## Measure speed against other software
	$(BIN)/python -m benchmarks

docs: $(DOCS)  ## Build the documentation in docs/_build
	$(BIN)/sphinx-build -W --keep-going -b html docs docs/_build

links: $(DOCS)  ## Check the links of the documentation to other sites (needs a network)
	$(BIN)/sphinx-build -b linkcheck -D nb_execution_mode=off docs docs/_build/linkcheck

clean:  ## Remove the environment and everything built
	rm -rf .venv .pytest_cache build docs/_build docs/jupyter_execute out

$(INSTALLED): $(SET_UP)
	sh tools/set_up.sh stan,dev,peers
	touch $@

$(DOCS): $(SET_UP)
	sh tools/set_up.sh stan,docs
	touch $@

